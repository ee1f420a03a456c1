"""The round sphere in its embedding, retracted by the exponential map."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import require_positive_integer
from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.angle import ROUND_OFF, angle_ratio
from groupoid_mech.numerics.matrix import dot, matvec, unit_matrix
from groupoid_mech.numerics.stumpff import stumpff


@final
class Sphere(Manifold):
    r"""The unit sphere :math:`S^n \subset R^{n+1}`.

    .. math:: \operatorname{retract}(x, \xi) = \cos|\xi|\, x + \frac{\sin|\xi|}{|\xi|} E(x)\xi, \qquad
        \operatorname{local}(x, y) = \frac{\theta}{\sin\theta}\, E(x)^T y, \quad \theta = \angle(x, y) .

    The frame :math:`E(x)` is orthonormal and, with :math:`x` last, positively oriented; it is smooth but for a jump
    across the equator :math:`x_{n+1} = 0`. ``local`` reaches every point but the antipode, where it raises
    ``CutLocusError`` (NaN under ``jit``).

    Args:
        dim: The dimension :math:`n`.

    Example:
        >>> north = jnp.array([0.0, 0.0, 1.0])
        >>> Sphere(2).retract(north, jnp.array([jnp.pi / 2, 0.0])).round(12)
        Array([1., 0., 0.], dtype=float64)
    """

    dim: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        require_positive_integer("Sphere", "dim", self.dim)

    def retract(self, x: Point, xi: Vector) -> Point:
        return _retract(x, xi)

    def local(self, x: Point, y: Point) -> Vector:
        return _local(x, y)

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return matvec(self.frame(x), xi)

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return matvec(self.frame(x).T, v)

    def project(self, y: Point) -> Point:
        return y / jnp.sqrt(dot(y, y))

    def violation(self, y: Point) -> Scalar:
        return jnp.abs(jnp.sqrt(dot(y, y)) - 1)

    def random_point(self, key: Key) -> Point:
        return self.project(jax.random.normal(key, (self.dim + 1,)))

    def displacement(self, x: Point, xi: Vector) -> Point:
        r"""The difference :math:`\operatorname{retract}(x, \xi) - x` in the ambient space, with all its digits however short."""
        t = dot(xi, xi)
        return stumpff(1, t) * matvec(self.frame(x), xi) - t * stumpff(2, t) * x

    def frame(self, x: Point) -> Matrix:
        r"""The frame :math:`E(x)`: an orthonormal basis of :math:`T_x S^n` as columns.

        .. math:: E(x) = \begin{pmatrix} 1 - \frac{a a^T}{1 + |z|} \\ -\sigma a^T \end{pmatrix} \operatorname{diag}(\sigma, 1, \dots, 1),
            \qquad x = (a, z), \quad \sigma = \pm 1 \text{ the sign of } z ,

        the Householder reflection that takes x to a multiple of the last axis: `complement` for a unit vector.
        """
        return _frame(x)


# Programs of their own: their derivatives are traced once for all uses.
@jax.jit
def _retract(x: Point, xi: Vector) -> Point:
    t = dot(xi, xi)
    return stumpff(0, t) * x + stumpff(1, t) * matvec(_frame(x), xi)


@jax.jit
def _local(x: Point, y: Point) -> Vector:
    v = matvec(_frame(x).T, y)
    cosine, sine_squared = dot(x, y), dot(v, v)
    antipodal = (cosine < 0) & (sine_squared < ROUND_OFF**2)
    return jnp.where(antipodal, jnp.nan, angle_ratio(jnp.where(antipodal, 1.0, sine_squared), cosine) * v)


@jax.jit
def _frame(x: Point) -> Matrix:
    n = x.shape[0] - 1
    a, z = x[:n], x[n]
    sign = jnp.where(z >= 0, 1.0, -1.0)
    upper = unit_matrix(n) - (a * (1 / (1 + jnp.abs(z))))[:, None] * a[None, :]
    turned = np.arange(n) == 0
    return jnp.concatenate([upper, -sign * a[None, :]]) * (turned * sign + ~turned)
