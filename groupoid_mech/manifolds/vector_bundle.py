r"""Vector bundles with framed fibres: a point over the base with coordinates in the fibre's frame.

Convention: the charts and the frame of the bundle are those of the base beside those of the fibre, so that no chart is
differentiated to move a vector. A canonical (coordinate) frame of T*M instead costs a second derivative of every chart: 417 s
to compile the laws on T*S², against 21 s for this one.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Key, Point, Scalar, Vector
from groupoid_mech.manifolds.manifold import Manifold


class VectorBundle(Manifold):
    r"""A vector bundle :math:`E \to M`; a point is ``(x, e)`` with ``e`` the coordinates in the frame of the fibre at ``x``.

    .. math:: \operatorname{retract}((x, e), (\xi, \eta)) = (\operatorname{retract}_M(x, \xi), e + \eta) .
    """

    base: eqx.AbstractVar[Manifold]
    rank: eqx.AbstractVar[int]

    def retract(self, x: Point, xi: Vector) -> Point:
        return self.base.retract(x[0], xi[: self.base.dim]), x[1] + xi[self.base.dim :]

    def local(self, x: Point, y: Point) -> Vector:
        return jnp.concatenate([self.base.local(x[0], y[0]), y[1] - x[1]])

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        return self.base.to_ambient(x[0], xi[: self.base.dim]), xi[self.base.dim :]

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return jnp.concatenate([self.base.from_ambient(x[0], v[0]), v[1]])

    def project(self, y: Point) -> Point:
        return self.base.project(y[0]), y[1]

    def violation(self, y: Point) -> Scalar:
        return self.base.violation(y[0]) + 0 * jnp.sum(y[1])  # NaN and infinity are not vectors

    def random_point(self, key: Key) -> Point:
        key_point, key_vector = jax.random.split(key)
        return self.base.random_point(key_point), jax.random.normal(key_vector, (self.rank,))
