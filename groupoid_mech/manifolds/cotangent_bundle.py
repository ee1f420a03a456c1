"""The cotangent bundle, in canonical charts."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.vector_bundle import VectorBundle


@final
class CotangentBundle(VectorBundle):
    r"""The cotangent bundle :math:`T^*M`; a point is ``(x, p)`` with ``p`` the components in the frame at ``x``.

    The coordinates :math:`(\xi, \pi)` centred at :math:`(x, p)` are canonical: with
    :math:`y = \operatorname{retract}(x, \xi)`,

    .. math:: \operatorname{retract}((x, p), (\xi, \pi)) = (y, F^T (p + \pi)), \qquad
        F = D_\eta[\operatorname{local}(x, \operatorname{retract}(y, \eta))]_{\eta = 0} ,

    so that :math:`\omega = d\xi \wedge d\pi` at the point.

    Args:
        base: The manifold :math:`M`.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> CotangentBundle(Euclidean(1)).retract((jnp.zeros(1), jnp.ones(1)), jnp.array([1.0, 2.0]))
        (Array([1.], dtype=float64), Array([3.], dtype=float64))
    """

    base: Manifold
    rank: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, base: Manifold):
        require_instances("CotangentBundle", "base", (base,), Manifold)
        self.base = base
        self.rank = base.dim
        self.dim = 2 * base.dim

    def retract(self, x: Point, xi: Vector) -> Point:
        (q, p), (xi, pi) = x, jnp.split(xi, 2)
        y = self.base.retract(q, xi)
        _, to_covector = jax.vjp(lambda z: self.base.local(q, z), y)
        _, to_frame = jax.vjp(lambda z: self.base.to_ambient(y, z), jnp.zeros(self.base.dim))
        return y, to_frame(*to_covector(p + pi))[0]

    def local(self, x: Point, y: Point) -> Vector:
        (q, p), (r, covector) = x, y
        xi = self.base.local(q, r)
        _, to_covector = jax.vjp(lambda z: self.base.from_ambient(r, z), r)
        _, to_chart = jax.vjp(lambda z: self.base.retract(q, z), xi)
        return jnp.concatenate([xi, to_chart(*to_covector(covector))[0] - p])
