"""Every law on every object it speaks about, 200 drawn examples each; and the broken control that each law rejects."""

import pytest
from laws import groupoid_controls, subjects, symplectic_controls
from laws.algebroid_controls import ALGEBROID_CONTROLS, ALGEBROIDS
from laws.bisection_controls import BISECTION_CONTROLS, BISECTION_SUBJECTS
from laws.discretization_controls import (
    DISCRETIZATION_CONTROLS,
    DISCRETIZATION_SUBJECTS,
    GEODESICS_OF_SO3,
    LIFTS,
)
from laws.example_controls import EXAMPLE_CONTROLS, EXAMPLES, SLOW_EXAMPLES
from laws.groupoid_controls import GROUPOIDS
from laws.integrator_controls import (
    DIFFERENCE_EQUATIONS,
    ENERGY_METHODS,
    GRADIENTS,
    HAMILTONIAN_METHODS,
    INTEGRATOR_CONTROLS,
    OTHER_METHODS,
)
from laws.lagrangian_controls import COTANGENT_BUNDLES, LAGRANGIAN_CONTROLS
from laws.mechanics_controls import MECHANICS_CONTROLS, REDUCTIONS, SLOW_REDUCTIONS, SYMMETRIES
from laws.mechanics_subjects import SLOW_SYSTEMS, SYSTEMS
from laws.morphism_controls import ISOMORPHISMS, MORPHISM_CONTROLS, MORPHISM_SUBJECTS
from laws.poisson_controls import POISSON_CONTROLS, POISSON_MANIFOLDS
from laws.subjects import CALCULUS_LAWS, CAYLEY_GROUPS, GROUPS, MANIFOLDS, TAU_LAWS, WITHOUT_CALCULUS
from laws.symplectic_controls import AS_LIE_GROUPOIDS, SLOW_AS_LIE_GROUPOIDS, SYMPLECTIC_GROUPOIDS
from laws.variational_controls import VARIATIONAL_CONTROLS

from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.integrator import Integrator
from groupoid_mech.discretization.system_integrator import SystemIntegrator
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.laws import LAWS, laws_for
from groupoid_mech.laws.bisection_laws import BISECTION_LAWS
from groupoid_mech.laws.discretization_laws import DISCRETIZATION_LAWS
from groupoid_mech.laws.groupoid_laws import GROUPOID_LAWS
from groupoid_mech.laws.integrator_laws import INTEGRATOR_LAWS
from groupoid_mech.laws.lagrangian_laws import LAGRANGIAN_LAWS
from groupoid_mech.laws.mechanics_laws import MECHANICS_LAWS
from groupoid_mech.laws.reduction_laws import REDUCTION_LAWS
from groupoid_mech.laws.registry import EXAMPLE_LAWS
from groupoid_mech.laws.symplectic_laws import SYMPLECTIC_LAWS
from groupoid_mech.laws.tulczyjew_laws import TULCZYJEW_LAWS
from groupoid_mech.laws.variational_laws import VARIATIONAL_LAWS
from groupoid_mech.laws.verify import check_law

CONTROLS = {
    **subjects.CONTROLS,
    **groupoid_controls.CONTROLS,
    **symplectic_controls.CONTROLS,
    **ALGEBROID_CONTROLS,
    **POISSON_CONTROLS,
    **BISECTION_CONTROLS,
    **MORPHISM_CONTROLS,
    **LAGRANGIAN_CONTROLS,
    **MECHANICS_CONTROLS,
    **VARIATIONAL_CONTROLS,
    **DISCRETIZATION_CONTROLS,
    **INTEGRATOR_CONTROLS,
    **EXAMPLE_CONTROLS,
}

TABLES = [  # subjects, and the laws to check on them (None: all that speak about them)
    ({**MANIFOLDS, **GROUPS, **ALGEBROIDS, **POISSON_MANIFOLDS, **MORPHISM_SUBJECTS, **ISOMORPHISMS}, None),
    (GROUPOIDS, {law.name for law in GROUPOID_LAWS}),
    (BISECTION_SUBJECTS, {law.name for law in BISECTION_LAWS}),
    (CAYLEY_GROUPS, TAU_LAWS),
    (SYMPLECTIC_GROUPOIDS, {law.name for law in SYMPLECTIC_LAWS + LAGRANGIAN_LAWS}),
    (COTANGENT_BUNDLES, {law.name for law in LAGRANGIAN_LAWS}),
    (
        {name: SYMPLECTIC_GROUPOIDS[name] for name in AS_LIE_GROUPOIDS + SLOW_AS_LIE_GROUPOIDS},
        {law.name for law in GROUPOID_LAWS},
    ),
    ({**SYSTEMS, **SYMMETRIES, **REDUCTIONS}, None),
    (DISCRETIZATION_SUBJECTS, {law.name for law in DISCRETIZATION_LAWS}),
    ({**HAMILTONIAN_METHODS, **ENERGY_METHODS, **GRADIENTS}, None),
    (OTHER_METHODS, None),
    (DIFFERENCE_EQUATIONS, {"second_order_commutes", "theta_discretizes"}),
    # A lift of a lift says nothing new.
    ({**LIFTS, **GEODESICS_OF_SO3}, {law.name for law in DISCRETIZATION_LAWS} - {"lifted_covector_symplectic"}),
    ({**EXAMPLES, **SLOW_EXAMPLES}, {law.name for law in EXAMPLE_LAWS}),
]
# The default run checks a law on so many objects, those first that come first here; ``make test-extended`` on all others.
MOST = 1
MORE = {LieGroupoid: 2, DiscretizationMap: 2, Integrator: 7, SystemIntegrator: 7}
FIRST = (
    "S2",
    "SO3",
    "SO3 cayley",
    "SE2",
    "R3",
    "pair(S2)",
    "gauge",
    "plate-ball",
    "group SO3",
    "map S2 midpoint",
    "map SO3 cayley",
    "map S2:SO3",
    "map S2 projection",
    "map newmark",
    "cotangent lift S2",
    "cotangent of so3*",
    "S2 GonzalezGradient",
    "S2 ItohAbeGradient",
    "energy so3*",
    "system on pair(S2)",
    "system on S2:SO3",
    "system on pair(R3), contact",
)
# With the largest programs, or like others: in ``make test-extended`` only.
SLOW_SUBJECTS = {
    "(SO3xSO3):SO2=S2:SO3",
    "T*pair(S2)",
    "T*(S2xSO3)",
    "T*plate-ball",
    "T*SE3",
    "se3*",
    "pair(R2)xSO3",
    "time(pair(R2))",
    "gauge(R2,SO2)",
    "checked",
    "group SE3",
    "A(SE3)",
    "A(plate-ball)",
    "A(time-extended pair R2)",
    "gauge(S2,SO2)->pair(S2)xSO2",
    "pair(S2)xSO2->gauge(S2,SO2)",
    "pair(R2)xSO3->pair(R2)",
    "S2:SO3->SO3",
    "system on SE3",
    "pair(T*S2)",
    "(SO3xSO3):SO2->S2:SO3",
    "A*(S2 x| SO3)",
    "SO3xR2",
    "T*S2 linear",
    "T*time",
    "T*SO3",
    "map S2",
    "map S2 theta 0.5",
    "map S2 projected",
    "map S2xT1",
    "map SE2 cayley",
    "map group SE2",
    "map geodesic SO3",
    "tangent lift S2 midpoint",
    "galerkin so3*",
    "verlet S2",
    "verlet SO3",
    "split S2",
    "triple jump S2",
    "dirk so3*",
    "map gauge(S2,SO2)",
    "map ellipsoid",
    "cotangent lift S2 projected",
    "method gauge",
    "T*gauge",
    "A(pair S2)",
    "bent_circle",
    "tangent lift SO3",
    "endpoint S2",
    "sphere gauge",
    "SE3",
    "UnitQuaternions",
    "energy T*S2",
    "method S2:SO3",
    "anchor of S2:SO3",
    "S3->SO3",
    "A(S2 x| SO3)",
    "reduction pair(SO3)->SO3",
    "Heisenberg",
    "pair(SO3)->S2:SO3",
    "pair(S2, area)",
    "map group SO3",
    "SO3 ItohAbeGradient",
    "SO3 MeanGradient",
    "SO3 GonzalezGradient",
    "system on pair(R2), family",
    "A(gauge R2 SO2)",
    "ellipsoid",
    "S2xSO3",
    "system on gauge",
    "pair(R2)xSO3->SO3",
    "S2 x| so3",
}


def _names(laws):
    return {law.name for law in laws}


# Or with some of their laws only.
SLOW_LAWS = [
    (SLOW_EXAMPLES, _names(EXAMPLE_LAWS)),
    ({"S3", "S2xT1", "ellipsoid", "bent_circle", "T*S2", "SE3"}, CALCULUS_LAWS),
    ({"T*S2", "T*SO3 bundle"}, {"composition_lagrangian", "composition_transposes"}),
    ({"pair(S2)"}, _names(BISECTION_LAWS)),
    (SLOW_AS_LIE_GROUPOIDS, _names(GROUPOID_LAWS)),
    (SLOW_SYSTEMS, _names(MECHANICS_LAWS + VARIATIONAL_LAWS) - {"hamiltonian_map_poisson"}),
    (SLOW_REDUCTIONS, _names(REDUCTION_LAWS)),
    ({"method S2:SO3"}, _names(INTEGRATOR_LAWS) - {"method_poisson"}),
    ({"S2:SO3", "gauge"}, _names(BISECTION_LAWS)),
    ({"method S2"}, {"adjoint_inverts", "composed_systems", "method_of_adjoint", "method_symmetric"}),
    (
        {"method SO3 cayley"},
        {"adjoint_inverts", "composed_systems", "routes_agree", "method_of_adjoint", "method_symmetric"},
    ),
    ({"method SO3"}, _names(INTEGRATOR_LAWS) - {"routes_agree"}),
    ({"method so3*"}, {"adjoint_inverts"}),
    ({"method R2"}, {"composed_systems"}),
    ({"energy T*R2", "energy T*S2", "energy so3*", "energy Itoh-Abe"}, {"adjoint_inverts"}),
    ({"cotangent lift SO3"}, _names(DISCRETIZATION_LAWS)),
    ({"lagrangian lift R2"}, _names(DISCRETIZATION_LAWS) - {"discretization_rigidity"}),
    (
        {"cotangent lift R2"},
        {"discretization_rigidity", "cotangent_lift_symplectic", "lifts_dual", "lift_covers"},
    ),
    ({"lagrangian lift S2"}, _names(DISCRETIZATION_LAWS) - {"lagrangian_lift_symplectic"}),
    ({"map S2 theta 0.3"}, _names(DISCRETIZATION_LAWS) - {"discretization_rigidity", "discretization_inverse"}),
    (
        {
            "map S2:SO3",
            "map SO3 cayley",
            "map newmark",
            "map S2 adjoint",
            "map S2 projection",
            "map T2",
            "map group Heisenberg",
        },
        {"lifted_covector_symplectic"},
    ),
    ({"map geodesic"}, _names(DISCRETIZATION_LAWS) - {"discretization_inverse", "complete_lift"}),
    (
        {"tangent lift S2", "cotangent lift S2"},
        _names(DISCRETIZATION_LAWS)
        - {"discretization_rigidity", "cotangent_lift_symplectic", "lifts_dual", "lift_covers"},
    ),
    ({*MANIFOLDS, *GROUPS} - {"S2", "SO3"}, _names(TULCZYJEW_LAWS)),
    ({"SO3"}, _names(TULCZYJEW_LAWS) - {"alpha_symplectic"}),
]

CURVED = "S2", "SO3", "so3*", "geodesic"

CASES = [
    (name, subject, law)
    for subjects, names in TABLES
    for name, subject in subjects.items()
    for law in laws_for(subject)
    if (names is None or law.name in names) and not (name in WITHOUT_CALCULUS and law.name in CALCULUS_LAWS)
]


def _is_heavy(name, law):
    return name in SLOW_SUBJECTS or any(name in names and law.name in laws for names, laws in SLOW_LAWS)


def _default_subjects(law):
    """The names of the objects that the default run checks a law on."""
    names = list(dict.fromkeys(name for name, _, spoken in CASES if spoken is law and not _is_heavy(name, law)))
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return set(names[: MORE.get(law.subject, MOST)])


DEFAULT = {law.name: _default_subjects(law) for law in LAWS}


def _is_extended(name, law):
    return name not in DEFAULT[law.name]


def _marks(name, law):
    marks = [pytest.mark.xdist_group(f"laws of {name}")]
    if _is_extended(name, law):
        marks.append(pytest.mark.extended)
    return marks


@pytest.mark.parametrize(
    ("subject", "law"),
    [pytest.param(subject, law, id=f"{name}-{law.name}", marks=_marks(name, law)) for name, subject, law in CASES],
)
def test_law_holds(subject, law):
    finding = check_law(law, subject, examples=200)
    if not finding.holds:
        from groupoid_mech.strategies import smallest_failure

        smallest = smallest_failure(law, subject)
        pytest.fail(
            f"{law.name} ({law.statement}) fails on {subject}: worst defect {finding.worst_defect:.2e}; smallest failing "
            f"data {law.data(subject, smallest)} with defect {law.defects(subject, smallest)[0]:.2e}"
        )


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=law.name, marks=pytest.mark.xdist_group(f"controls of {law.subject.__name__}"))
        for law in LAWS
    ],
)
def test_law_rejects_its_control(law):
    control = CONTROLS[law.name]
    assert isinstance(control, law.subject)
    finding = check_law(law, control, examples=20)
    assert finding.worst_defect > 1e-4, f"{law.name} does not notice that {type(control).__name__} is broken"


def test_every_law_has_a_control_and_no_control_is_left_over():
    assert set(CONTROLS) == {law.name for law in LAWS}


def test_laws_of_maps_and_methods_are_checked_on_curved_spaces_in_the_default_run():
    checked = {
        law.name for name, _, law in CASES if not _is_extended(name, law) and any(part in name for part in CURVED)
    }
    # Cor. 5.8 speaks of vector spaces.
    assert _names(TULCZYJEW_LAWS + DISCRETIZATION_LAWS + INTEGRATOR_LAWS) - checked == {"lift_of_natural"}


@pytest.mark.parametrize("name", ["method_poisson", "family_is_lift", "routes_agree"])
def test_methods_are_checked_on_every_kind_of_phase_space_in_the_default_run(name):
    spaces = {subject for subject, _, law in CASES if law.name == name and not _is_extended(subject, law)}
    assert all(any(space in subject for subject in spaces) for space in ("R2", "S2", "SO3", "so3*"))


def test_law_names_are_unique():
    assert len({law.name for law in LAWS}) == len(LAWS)
