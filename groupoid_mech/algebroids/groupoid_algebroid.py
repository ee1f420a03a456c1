"""The Lie algebroid of a Lie groupoid, from its multiplication alone. MMS Def. 2.9."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Array, Matrix, Point, Vector
from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import unit_matrix


@final
class GroupoidAlgebroid(LieAlgebroid):
    r"""The Lie algebroid :math:`AG \to Q` of a Lie groupoid, :math:`A_qG = \ker T_{\epsilon(q)}\alpha`.

    .. math:: \rho(q) = D_a\,\beta(c(q, a))|_{a=0}, \qquad
        [\overleftarrow{e_a}, \overleftarrow{e_b}](\epsilon(q)) = C^c_{ab}(q)\, e_c(q) .

    The frame is that of the fibre chart; the brackets of the left-invariant fields are computed by differentiating the
    multiplication.

    Args:
        groupoid: The groupoid :math:`G`.

    Example:
        >>> from groupoid_mech import SO3, GroupGroupoid
        >>> A = GroupoidAlgebroid(GroupGroupoid(SO3()))
        >>> A.structure(jnp.zeros(0))[:, 0, 1] + 0.0
        Array([0., 0., 1.], dtype=float64)
    """

    groupoid: LieGroupoid
    base: Manifold
    rank: int = eqx.field(static=True)

    def __init__(self, groupoid: LieGroupoid):
        require_instances("GroupoidAlgebroid", "groupoid", (groupoid,), LieGroupoid)
        self.groupoid = groupoid
        self.base = groupoid.base
        self.rank = groupoid.rank

    def anchor(self, q: Point) -> Matrix:
        return self.groupoid.anchor(q)

    def structure(self, q: Point) -> Array:
        G = self.groupoid
        unit, basis = G.unit(q), unit_matrix(self.rank)

        # The fields stay in ambient form: back and forth between frames would be differentiated as well.
        def left_frame(g: Point) -> Point:
            end = G.target(g)

            def left_field(a: Vector) -> Point:
                return jax.jvp(lambda b: G.multiply(g, G.fiber_chart(end, b)), (jnp.zeros(self.rank),), (a,))[1]

            return jax.vmap(left_field)(basis)

        slopes = jax.vmap(lambda v: jax.jvp(left_frame, (unit,), (v,))[1])(left_frame(unit))
        commutator = jax.tree.map(lambda s: s - jnp.swapaxes(s, 0, 1), slopes)
        coordinates = jax.vmap(jax.vmap(lambda v: jax.jvp(lambda g: G.fiber_local(q, g), (unit,), (v,))[1]))
        return jnp.moveaxis(coordinates(commutator), -1, 0)
