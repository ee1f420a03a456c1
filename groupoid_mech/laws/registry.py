"""The list of all laws."""

from typing import Any

from groupoid_mech.laws.algebroid_laws import ALGEBROID_LAWS
from groupoid_mech.laws.bisection_laws import BISECTION_LAWS
from groupoid_mech.laws.discretization_laws import DISCRETIZATION_LAWS
from groupoid_mech.laws.field_example_laws import FIELD_EXAMPLE_LAWS
from groupoid_mech.laws.group_laws import GROUP_LAWS
from groupoid_mech.laws.groupoid_laws import GROUPOID_LAWS
from groupoid_mech.laws.integrator_laws import INTEGRATOR_LAWS
from groupoid_mech.laws.lagrangian_laws import LAGRANGIAN_LAWS
from groupoid_mech.laws.law import Law
from groupoid_mech.laws.lift_example_laws import LIFT_EXAMPLE_LAWS
from groupoid_mech.laws.manifold_laws import MANIFOLD_LAWS
from groupoid_mech.laws.map_example_laws import MAP_EXAMPLE_LAWS
from groupoid_mech.laws.mechanics_laws import MECHANICS_LAWS
from groupoid_mech.laws.morphism_laws import MORPHISM_LAWS
from groupoid_mech.laws.poisson_laws import POISSON_LAWS
from groupoid_mech.laws.reduction_laws import REDUCTION_LAWS
from groupoid_mech.laws.symplectic_example_laws import SYMPLECTIC_EXAMPLE_LAWS
from groupoid_mech.laws.symplectic_laws import SYMPLECTIC_LAWS
from groupoid_mech.laws.tulczyjew_laws import TULCZYJEW_LAWS
from groupoid_mech.laws.variational_laws import VARIATIONAL_LAWS

EXAMPLE_LAWS: tuple[Law, ...] = MAP_EXAMPLE_LAWS + LIFT_EXAMPLE_LAWS + FIELD_EXAMPLE_LAWS + SYMPLECTIC_EXAMPLE_LAWS

LAWS: tuple[Law, ...] = (
    MANIFOLD_LAWS
    + GROUP_LAWS
    + GROUPOID_LAWS
    + BISECTION_LAWS
    + MORPHISM_LAWS
    + ALGEBROID_LAWS
    + POISSON_LAWS
    + SYMPLECTIC_LAWS
    + LAGRANGIAN_LAWS
    + MECHANICS_LAWS
    + VARIATIONAL_LAWS
    + REDUCTION_LAWS
    + TULCZYJEW_LAWS
    + DISCRETIZATION_LAWS
    + INTEGRATOR_LAWS
    + EXAMPLE_LAWS
)


def laws_for(subject: Any) -> tuple[Law, ...]:
    """The laws that speak about an object."""
    return tuple(law for law in LAWS if isinstance(subject, law.subject) and law.applies(subject))
