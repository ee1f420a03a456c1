/* The workloads of small_matrices.py in C: what the machine can do.

   Every function takes the number of steps, the constants of the workload, and the state, which it overwrites. */
#include <math.h>

static inline void multiply(int n, double *restrict out, const double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += A[n * i + k] * B[n * k + j];
      out[n * i + j] = sum;
    }
}

/* G <- G R */
static inline void product(int n, long steps, const double *R, double *G) {
  double now[16], next[16];
  for (int i = 0; i < n * n; i++) now[i] = G[i];
  for (long step = 0; step < steps; step++) {
    multiply(n, next, now, R);
    for (int i = 0; i < n * n; i++) now[i] = next[i];
  }
  for (int i = 0; i < n * n; i++) G[i] = now[i];
}

/* x <- the solution of (Q + diag(x)/10) x' = b, by elimination with partial pivoting; data is (Q, b) */
static inline void solve(int n, long steps, const double *data, double *x) {
  double rows[12][13];
  for (long step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) rows[i][j] = data[n * i + j];
      rows[i][i] += 0.1 * x[i];
      rows[i][n] = data[n * n + i];
    }
    for (int k = 0; k < n; k++) {
      int best = k;
      for (int i = k + 1; i < n; i++)
        if (fabs(rows[i][k]) > fabs(rows[best][k])) best = i;
      if (best != k)
        for (int j = k; j <= n; j++) {
          double keep = rows[k][j];
          rows[k][j] = rows[best][j];
          rows[best][j] = keep;
        }
      double inverse = 1 / rows[k][k];
      for (int i = k + 1; i < n; i++) {
        double factor = rows[i][k] * inverse;
        for (int j = k + 1; j <= n; j++) rows[i][j] -= factor * rows[k][j];
      }
    }
    for (int i = n - 1; i >= 0; i--) {
      double sum = rows[i][n];
      for (int j = i + 1; j < n; j++) sum -= rows[i][j] * x[j];
      x[i] = sum / rows[i][i];
    }
  }
}

/* I + a W + b W^2 with W the cross matrix of w */
static inline void rotation(double *restrict A, const double *restrict w, double a, double b) {
  double x = w[0], y = w[1], z = w[2], t = x * x + y * y + z * z;
  A[0] = 1 + b * (x * x - t), A[1] = b * x * y - a * z, A[2] = b * x * z + a * y;
  A[3] = b * x * y + a * z, A[4] = 1 + b * (y * y - t), A[5] = b * y * z - a * x;
  A[6] = b * x * z - a * y, A[7] = b * y * z + a * x, A[8] = 1 + b * (z * z - t);
}

/* g <- g tau(xi) with xi = data * (last row of g), entry by entry */
static inline void group_steps(int cayley, long steps, const double *data, double *g) {
  double now[9], next[9], A[9], w[3];
  for (int i = 0; i < 9; i++) now[i] = g[i];
  for (long step = 0; step < steps; step++) {
    for (int i = 0; i < 3; i++) w[i] = data[i] * now[6 + i];
    double t = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    if (cayley) {
      double c = 1 / (1 + 0.25 * t);
      rotation(A, w, c, 0.5 * c);
    } else {
      double theta = sqrt(t), half = sin(0.5 * theta); /* no digit lost: 1 - cos = 2 sin^2(theta/2) */
      rotation(A, w, t > 0 ? sin(theta) / theta : 1, t > 0 ? 2 * half * half / t : 0.5);
    }
    multiply(3, next, now, A);
    for (int i = 0; i < 9; i++) now[i] = next[i];
  }
  for (int i = 0; i < 9; i++) g[i] = now[i];
}

#define SIZED(name, n) \
  void name##_##n(long steps, const double *data, double *state) { name(n, steps, data, state); }
SIZED(product, 3)
SIZED(product, 4)
SIZED(solve, 2)
SIZED(solve, 3)
SIZED(solve, 6)
SIZED(solve, 8)
SIZED(solve, 12)
void exp_steps(long steps, const double *data, double *g) { group_steps(0, steps, data, g); }
void cayley_steps(long steps, const double *data, double *g) { group_steps(1, steps, data, g); }
