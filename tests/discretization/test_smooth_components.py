"""Vectors and covectors of bundles in components that do not turn with a frame: closed forms against those by tangent maps and tensors."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.discretization.known_inverse import smooth_inverse_at
from groupoid_mech.discretization.map_covector import _by_tangent, map_covector
from groupoid_mech.groups.metric_frame import has_metric_frame
from groupoid_mech.manifolds.calculus import directional_derivative, frame_derivatives
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.retraction_covector import retraction_covector
from groupoid_mech.manifolds.smooth_chart import smooth_components, smooth_derivatives, smooth_retract
from groupoid_mech.symplectic.smooth_poisson import _by_tensor, smooth_hamiltonian_vector

ROUNDED = 1e-14
S2 = gm.Sphere(2)
OVAL = gm.LevelSet(lambda x: x[0] ** 2 + 2 * x[1] ** 2 + 0.1 * x[0] ** 3 + x[2] ** 2 - 1, 3)
METRIC = [
    gm.Euclidean(2),
    S2,
    gm.Sphere(3),
    gm.Torus(2),
    OVAL,
    gm.SO2(),
    gm.SO3(),
    gm.UnitQuaternions(),
    gm.SE2(),
    gm.SE3(),
    gm.Translations(2),
    gm.ProductManifold(S2, gm.SO3()),
    gm.ProductGroup(gm.SO3(), gm.Translations(1)),
]
OTHER = [gm.Heisenberg(), gm.ProductManifold(S2, gm.Heisenberg())]


def name(M):
    return repr(M) if len(repr(M)) < 40 else type(M).__name__


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) for a, b in pairs)


def draw(M, seed, *sizes):
    """A point of M and vectors."""
    keys = jax.random.split(jax.random.key(seed), len(sizes) + 1)
    return M.random_point(keys[0]), *(
        0.4 * jax.random.normal(key, (n,)) for key, n in zip(keys[1:], sizes, strict=True)
    )


# --------------------------------------------------------------------------------- frames


@pytest.mark.few(4)
@pytest.mark.parametrize("M", [*METRIC, *OTHER], ids=name)
def test_metric_frames_are_those_that_turn(M):
    @jax.jit
    def turning():
        (x,) = draw(M, 1)
        turn = jax.vmap(
            lambda e, f: M.from_ambient(x, directional_derivative(M, lambda y: M.to_ambient(y, f), x, e)), (None, 0), 1
        )
        return jax.vmap(turn, (0, None))(jnp.eye(M.dim), jnp.eye(M.dim))

    stretched = np.asarray(turning())
    asymmetry = np.max(np.abs(stretched + np.swapaxes(stretched, 1, 2)))
    assert has_metric_frame(M) == (asymmetry <= ROUNDED)
    assert has_metric_frame(M) or asymmetry > 0.1


# ----------------------------------------------------------------------------- retractions


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "M", [S2, gm.Sphere(3), gm.Torus(2), gm.ProductManifold(S2, gm.SO3(), gm.Euclidean(1))], ids=name
)
def test_covectors_by_a_retraction(M):
    """The closed form, the general one, and the derivative itself; at a short and at a long way."""

    @jax.jit
    def parts(size):
        x, xi, mu, moved = draw(M, 2, M.dim, M.dim, 2 * M.dim)
        xi = size * xi
        y = M.retract(x, xi)
        general = retraction_covector.dispatch(Manifold)(M, x, xi, y, mu)
        q, u = smooth_retract(gm.TangentBundle(M), (x, xi), jnp.zeros(2 * M.dim))

        def end(t):
            z, eta = smooth_retract(gm.TangentBundle(M), (q, u), t * moved)
            return M.retract(z, eta)

        along = mu @ M.from_ambient(y, jax.jvp(end, (0.0,), (1.0,))[1])
        return retraction_covector(M, x, xi, y, mu), general, along, jnp.split(moved, 2)

    for size in (1e-8, 1.0, 4.0):
        found, general, along, moved = parts(size)
        assert distance(found, general) <= ROUNDED
        assert abs(found[0] @ moved[0] + found[1] @ moved[1] - along) <= ROUNDED
        swapped = abs(found[1] @ moved[0] + found[0] @ moved[1] - along)
        assert swapped > 1e-3 or isinstance(M, gm.Torus) or size < 1, "the control"


MAPS = {
    "middle": gm.theta_map(S2, 0.5),
    "a third": gm.theta_map(S2, 0.3),
    "chart": gm.ChartMap(S2),
    "end": gm.ChartMap(S2).adjoint(),
    "projection": gm.theta_map(gm.ProjectionMap(S2), 0.5),
    "rotations": gm.theta_map(gm.SO3(), 0.5),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("R", MAPS.values(), ids=MAPS)
def test_covectors_by_a_map(R):
    M = R.groupoid.base

    @jax.jit
    def parts():
        x, v, mu = draw(M, 3, M.dim, 2 * M.dim)
        g = R.arrow(x, v)
        return map_covector(R, x, v, g, mu), _by_tangent(R, x, v, mu), _by_tangent(R, x, -v, mu)

    found, expected, other = parts()
    assert distance(found, expected) <= ROUNDED
    assert distance(found, other) > 1e-3


# ---------------------------------------------------------------------- cotangent bundles


def energy(x):
    q, p = x
    first = jnp.ravel(jax.tree.leaves(q)[0])
    return jnp.sum(jnp.arange(1.0, p.size + 1) * p * p) * (1 + 0.3 * first[0]) + first[-1] ** 2 + p[0] * first[1]


@pytest.mark.few(3)
@pytest.mark.parametrize("Q", [S2, gm.Heisenberg(), gm.SO3(), OVAL, gm.ProductManifold(S2, gm.Torus(1))], ids=name)
def test_hamiltonian_vectors(Q):
    r"""Π dH in smooth components: from derivatives along the smooth chart, by the entries 1 and −1, by the tensor, and in the frame."""
    M = gm.CotangentBundle(Q)
    poisson = gm.CanonicalPoisson(M)

    @jax.jit
    def fields():
        (x,) = draw(M, 4)
        slope = smooth_derivatives(M, energy, x)
        chart = jax.jacfwd(lambda w: energy(smooth_retract(M, x, w)))(jnp.zeros(M.dim))
        in_frame = smooth_components(M, x, poisson.tensor(x) @ frame_derivatives(M, energy, x))
        return slope, chart, smooth_hamiltonian_vector(poisson, x, slope), _by_tensor(poisson, x, slope), in_frame

    slope, chart, found, by_tensor, in_frame = (np.asarray(value) for value in fields())
    assert distance(slope, chart) <= ROUNDED
    assert distance(found, by_tensor) <= ROUNDED
    assert distance(found, in_frame) <= ROUNDED
    plain = np.concatenate([slope[Q.dim :], -slope[: Q.dim]])
    assert (distance(found, plain) <= ROUNDED) == has_metric_frame(Q)


LIFTS = {
    "S2": gm.CotangentLift(gm.theta_map(S2, 0.5)),
    "S2, a third": gm.CotangentLift(gm.theta_map(S2, 0.3)),
    "S2, projected": gm.CotangentLift(gm.ProjectionMap(S2)),
    "SO3": gm.CotangentLift(gm.theta_map(gm.SO3(), 0.5)),
    "S2 x R1": gm.CotangentLift(gm.theta_map(gm.ProductManifold(S2, gm.Euclidean(1)), 0.5)),
    "Heisenberg": gm.CotangentLift(gm.theta_map(gm.Heisenberg(), 0.5)),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("R", LIFTS.values(), ids=LIFTS)
def test_inverses_of_lifts(R):
    """The same value and derivative as the inverse in the frame: the velocity with its covariant derivative of p."""
    M, n = R.groupoid.base, R.manifold.dim

    @eqx.filter_jit
    def jets():
        x, a, d = draw(M, 5, M.dim, M.dim)

        def value_and_slope(inverse):
            def at(t):
                end = M.retract(x, a + t * d)
                return inverse((x, end), jnp.concatenate([a[:n] + t * d[:n], end[1] - x[1]]))

            return jax.jvp(at, (0.0,), (1.0,))

        def by_frame(g, _):
            y, v = R.inverse(g)
            return y, smooth_components(M, y, v)

        return [
            value_and_slope(inverse)
            for inverse in (lambda g, a: smooth_inverse_at(R, g, a), by_frame, lambda g, _: R.inverse(g))
        ]

    found, expected, in_frame = jets()
    assert distance(found, expected) <= 4 * ROUNDED
    assert distance(found, in_frame) > 1e-3, "the frame turns"
