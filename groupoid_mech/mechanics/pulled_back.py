r"""The system upstairs of a system and a morphism of groupoids: Lagrangian and constraints composed with it. MMS Example 4.3."""

from typing import Any, final

import equinox as eqx

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.morphism import Morphism
from groupoid_mech.groupoids.sameness import require_same_groupoid
from groupoid_mech.mechanics.increment import ArrowFunction, IncrementFunction, evaluate
from groupoid_mech.mechanics.system import DiscreteSystem


def pulled_back(system: DiscreteSystem, morphism: Morphism) -> DiscreteSystem:
    r"""The system :math:`(G, \varphi'\circ\Phi, L'\circ\Phi)` upstairs of one on :math:`G'`, for :math:`\Phi: G \to G'`; MMS Example 4.3.

    Args:
        system: The system on :math:`G'`.
        morphism: The morphism of groupoids.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import GroupGroupoid, Translations, pair_to_group
        >>> Phi = pair_to_group(Translations(1))
        >>> free = DiscreteSystem(GroupGroupoid(Translations(1)), lambda g: jnp.sum(g**2) / 2)
        >>> pulled_back(free, Phi).legendre_plus((jnp.ones(1), jnp.array([3.0])))
        Array([2.], dtype=float64)
    """
    require_instances("pulled_back", "system", (system,), DiscreteSystem)
    require_instances("pulled_back", "morphism", (morphism,), Morphism)
    require_same_groupoid("pulled_back", "morphism.codomain", morphism.codomain, "system.groupoid", system.groupoid)

    def along(function: ArrowFunction) -> ArrowFunction:
        if isinstance(function, IncrementFunction):
            return PulledBackIncrement(morphism, function)
        return PulledBackFunction(morphism, function)

    constraints = None if system.constraints is None else along(system.constraints)
    return DiscreteSystem(morphism.domain, along(system.lagrangian), constraints, system.auxiliary)


@final
class PulledBackFunction(eqx.Module):
    r"""The function :math:`f\circ\Phi` of arrows."""

    morphism: Morphism
    function: Any

    def __call__(self, g: Point, *auxiliary: Vector) -> Any:
        return self.function(self.morphism(g), *auxiliary)


@final
class PulledBackIncrement(IncrementFunction):
    r"""The function :math:`f\circ\Phi` of a function that is told the coordinates of its arrow."""

    morphism: Morphism
    function: IncrementFunction

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Any:
        H, image = self.morphism.codomain, self.morphism(g)
        return evaluate(self.function, image, H.fiber_local(H.source(image), image), auxiliary)
