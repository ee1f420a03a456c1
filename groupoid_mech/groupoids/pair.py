"""The pair groupoid, the home of variational integrators."""

from typing import final

import equinox as eqx

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold


@final
class PairGroupoid(LieGroupoid):
    r"""The pair groupoid :math:`Q \times Q \rightrightarrows Q`.

    An arrow is one time step, from ``q0`` to ``q1``.

    .. math:: \alpha(q_0, q_1) = q_0, \qquad \beta(q_0, q_1) = q_1, \qquad (q_0, q_1)(q_1, q_2) = (q_0, q_2), \qquad
        c(q, a) = (q, \operatorname{retract}(q, a)) .

    Its algebroid is the tangent bundle.

    Args:
        base: The manifold :math:`Q`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean
        >>> G = PairGroupoid(Euclidean(1))
        >>> G.target(G.multiply((jnp.zeros(1), jnp.ones(1)), (jnp.ones(1), 3 * jnp.ones(1))))
        Array([3.], dtype=float64)
    """

    base: Manifold
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, base: Manifold):
        require_instances("PairGroupoid", "base", (base,), Manifold)
        self.base = base
        self.space = ProductManifold(base, base)
        self.rank = base.dim

    def source(self, g: Point) -> Point:
        return g[0]

    def target(self, g: Point) -> Point:
        return g[1]

    def unit(self, q: Point) -> Point:
        return q, q

    def inverse(self, g: Point) -> Point:
        return g[1], g[0]

    def multiply(self, g: Point, h: Point) -> Point:
        return g[0], h[1]

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return q, self.base.retract(q, a)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return self.base.local(q, g[1])
