r"""Elements :math:`g = \tau(\xi)` of a Lie group of which ξ is known: values from ξ, derivatives by :math:`(d\tau_\xi)^{-1}`, no logarithm."""

from functools import partial

import jax

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.known_coordinates import carried_to, local_at, point_along, reflected_at
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import matvec
from groupoid_mech.numerics.with_value import with_value


def to_algebra_at(group: LieGroup, g: Point, xi: Vector) -> Vector:
    r"""The coordinates :math:`\tau^{-1}(g)`, known to be ``xi``: that value without round-off, with the derivatives of ``to_algebra``.

    Args:
        group: The Lie group.
        g: The element :math:`\tau(\xi)`.
        xi: The coordinates ξ; their own derivatives are not used.
    """
    # A rule of derivation has no place for what a group holds as arrays.
    return _known(group, g, xi) if not jax.tree.leaves(group) else with_value(xi, group.to_algebra(g))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _known(group: LieGroup, g: Point, xi: Vector) -> Vector:
    return xi


@_known.defjvp
def _known_jvp(group: LieGroup, primals: tuple[Point, Vector], tangents: tuple[Point, Vector]) -> tuple[Vector, Vector]:
    # What is known is a value only: all derivatives, those of this rule too, come from g.
    (g, xi), (moved, _) = primals, tangents
    xi = _known(group, g, jax.lax.stop_gradient(xi))
    return xi, matvec(group.dtau_inverse(xi), group.from_ambient(g, moved))


@local_at.register
def _(group: LieGroup, x: Point, y: Point, xi: Vector) -> Vector:
    return to_algebra_at(group, group.multiply(group.inverse(x), y), xi)


@reflected_at.register
def _(group: LieGroup, x: Point, y: Point, xi: Vector) -> Vector:
    return xi


# The frame of a group is the same everywhere, up to translation.
@carried_to.register
def _(group: LieGroup, x: Point, y: Point, mu: Covector) -> Covector:
    return mu


@point_along.register
def _(group: LieGroup, x: Point, y: Point, xi: Vector, theta: Scalar) -> tuple[Point, Vector]:
    if group.tau != "exp":
        return point_along.dispatch(Manifold)(group, x, y, xi, theta)
    # On a one-parameter group the velocity has the same coordinates everywhere.
    whole = local_at(group, x, y, xi)
    return group.retract(x, theta * whole), whole
