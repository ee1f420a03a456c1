"""The tangent bundle, in the charts that a chart of the base induces."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle


@final
class TangentBundle(VectorBundle):
    r"""The tangent bundle :math:`TM`; a point is ``(x, v)`` with ``v`` the coordinates in the frame at ``x``.

    The coordinates :math:`(\xi, \eta)` centred at :math:`(x, v)` are those of the chart
    :math:`\operatorname{retract}(x, \cdot)` and its velocities:

    .. math:: \operatorname{retract}((x, v), (\xi, \eta)) = (y, D_\xi[\operatorname{local}(y,
        \operatorname{retract}(x, \xi))]\,(v + \eta)), \qquad y = \operatorname{retract}(x, \xi) .

    Args:
        base: The manifold :math:`M`.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> TangentBundle(Euclidean(1)).retract((jnp.zeros(1), jnp.ones(1)), jnp.array([1.0, 2.0]))
        (Array([1.], dtype=float64), Array([3.], dtype=float64))
    """

    base: Manifold
    rank: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, base: Manifold):
        require_instances("TangentBundle", "base", (base,), Manifold)
        self.base = base
        self.rank = base.dim
        self.dim = 2 * base.dim

    def retract(self, x: Point, xi: Vector) -> Point:
        (q, v), (xi, eta) = x, jnp.split(xi, 2)
        y, velocity = jax.jvp(lambda z: self.base.retract(q, z), (xi,), (v + eta,))
        return y, self.base.from_ambient(y, velocity)

    def local(self, x: Point, y: Point) -> Vector:
        (q, v), (r, w) = x, y
        xi, velocity = jax.jvp(lambda z: self.base.local(q, z), (r,), (self.base.to_ambient(r, w),))
        return jnp.concatenate([xi, velocity - v])
