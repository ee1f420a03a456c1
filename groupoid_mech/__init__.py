"""Discrete geometric mechanics on manifolds, Lie groups and Lie groupoids.

Importing the package switches JAX to float64 (``jax_enable_x64``): the laws it keeps hold to about 1e-12, which single
precision cannot show.
"""

import jax as _jax

from groupoid_mech.numerics.native_loops import ask_for_native_loops as _ask_for_native_loops

_ask_for_native_loops()
_jax.config.update("jax_enable_x64", True)

from groupoid_mech.algebroids.action import ActionAlgebroid  # noqa: E402
from groupoid_mech.algebroids.algebroid import LieAlgebroid  # noqa: E402
from groupoid_mech.algebroids.algebroid_bundle import AlgebroidBundle  # noqa: E402
from groupoid_mech.algebroids.dual_bundle import DualBundle, dual_bundle  # noqa: E402
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid  # noqa: E402
from groupoid_mech.algebroids.lie_algebra import LieAlgebra  # noqa: E402
from groupoid_mech.algebroids.tangent import TangentAlgebroid  # noqa: E402
from groupoid_mech.discretization.composed_family import compose_systems  # noqa: E402
from groupoid_mech.discretization.composition import Composition, WeightedComposition, compose, raise_order, symmetrize  # noqa: E402
from groupoid_mech.discretization.composition_weights import optimized, splitting_weights, suzuki, triple_jump  # noqa: E402
from groupoid_mech.discretization.cotangent_lift import (  # noqa: E402
    CotangentLift,
    cotangent_lift,
    difference_covector,
    lifted_covector,
    lifted_step,
    momenta_of_covector,
    tulczyjew_alpha,
    tulczyjew_alpha_inverse,
)
from groupoid_mech.discretization.discrete_gradient import (  # noqa: E402
    DiscreteGradient,
    GonzalezGradient,
    ItohAbeGradient,
    MeanGradient,
)
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap  # noqa: E402
from groupoid_mech.discretization.displacement import Displacement  # noqa: E402
from groupoid_mech.discretization.energy_integrator import EnergyIntegrator  # noqa: E402
from groupoid_mech.discretization.field_integrator import EndpointIntegrator, FieldIntegrator, SecondOrderField  # noqa: E402
from groupoid_mech.discretization.galerkin_family import galerkin_system  # noqa: E402
from groupoid_mech.discretization.geodesic_map import GeodesicMap  # noqa: E402
from groupoid_mech.discretization.hamiltonian_family import hamiltonian_system  # noqa: E402
from groupoid_mech.discretization.hamiltonian_integrator import (  # noqa: E402
    hamiltonian_integrator,
    splitting,
    stormer_verlet,
    symplectic_dirk,
)
from groupoid_mech.discretization.integrator import Integrator  # noqa: E402
from groupoid_mech.discretization.known_inverse import inverse_at  # noqa: E402
from groupoid_mech.discretization.lagrangian_family import lagrangian_system  # noqa: E402
from groupoid_mech.discretization.lagrangian_lift import LagrangianField, LagrangianLift, LegendreHamiltonian  # noqa: E402
from groupoid_mech.discretization.lifted_map import LiftedMap  # noqa: E402
from groupoid_mech.discretization.map_at_step import map_at_step  # noqa: E402
from groupoid_mech.discretization.newmark_map import NewmarkMap, newmark_map  # noqa: E402
from groupoid_mech.discretization.orbit import Orbit, load_orbit  # noqa: E402
from groupoid_mech.discretization.poincare_invariant import poincare_invariant  # noqa: E402
from groupoid_mech.discretization.retraction import ChartMap, ProjectionMap  # noqa: E402
from groupoid_mech.discretization.searched_inverse import inverse_is_searched  # noqa: E402
from groupoid_mech.discretization.second_order import difference_defect, difference_points  # noqa: E402
from groupoid_mech.discretization.splitting import Drift, Kick, Separable  # noqa: E402
from groupoid_mech.discretization.step_search import StepSearch  # noqa: E402
from groupoid_mech.discretization.system_integrator import SystemIntegrator  # noqa: E402
from groupoid_mech.discretization.tangent_lift import TangentLift, canonical_involution  # noqa: E402
from groupoid_mech.discretization.theta_map import ThetaMap, theta_map  # noqa: E402
from groupoid_mech.errors import (  # noqa: E402
    ArgumentError,
    BoundaryFailed,
    CutLocusError,
    DependentConstraintsError,
    GroupoidMechError,
    NotAMorphismError,
    NotAnActionError,
    NotASymmetryError,
    NotASystemMorphismError,
    NotComposableError,
    NotFiniteError,
    NotLiftableError,
    NotMorseError,
    NotSubmersiveError,
    NotTraceableError,
    NotTransverseError,
    OffConstraintsError,
    OffManifoldError,
    SingularLagrangianError,
    StepFailed,
)
from groupoid_mech.groupoids.action import ActionGroupoid  # noqa: E402
from groupoid_mech.groupoids.bisection import (  # noqa: E402
    Bisection,
    InverseBisection,
    ProductBisection,
    UnitBisection,
)
from groupoid_mech.groupoids.canonical_morphisms import (  # noqa: E402
    action_morphism,
    anchor_morphism,
    gauge_to_product,
    group_morphism,
    identity_morphism,
    pair_to_gauge,
    pair_to_group,
    product_to_gauge,
    projection,
    rotations_to_sphere,
)
from groupoid_mech.groupoids.checked import Checked  # noqa: E402
from groupoid_mech.groupoids.gauge import GaugeGroupoid  # noqa: E402
from groupoid_mech.groupoids.group import GroupGroupoid  # noqa: E402
from groupoid_mech.groupoids.groupoid import LieGroupoid  # noqa: E402
from groupoid_mech.groupoids.isomorphism import (  # noqa: E402
    Isomorphism,
    gauge_isomorphism,
    sphere_isomorphism,
)
from groupoid_mech.groupoids.known_arrow import fiber_local_at  # noqa: E402
from groupoid_mech.groupoids.local_bisection import (  # noqa: E402
    LocalBisection,
    tangent_multiply_by_bisections,
    transverse_directions,
)
from groupoid_mech.groupoids.loose_chart import loose_chart, searched_by_chart  # noqa: E402
from groupoid_mech.groupoids.morphism import Morphism  # noqa: E402
from groupoid_mech.groupoids.pair import PairGroupoid  # noqa: E402
from groupoid_mech.groupoids.product import ProductGroupoid  # noqa: E402
from groupoid_mech.groupoids.section_bisection import (  # noqa: E402
    SectionBisection,
    bisection_of_diffeomorphism,
    bisection_of_element,
)
from groupoid_mech.groupoids.sphere_gauge import SphereGaugeGroupoid  # noqa: E402
from groupoid_mech.groupoids.time_extended import TimeExtended  # noqa: E402
from groupoid_mech.groupoids.unit_tangent import unit_tangent  # noqa: E402
from groupoid_mech.groups.heisenberg import Heisenberg  # noqa: E402
from groupoid_mech.groups.lie_group import LieGroup  # noqa: E402
from groupoid_mech.groups.metric_frame import has_metric_frame  # noqa: E402
from groupoid_mech.groups.product import ProductGroup  # noqa: E402
from groupoid_mech.groups.se2 import SE2  # noqa: E402
from groupoid_mech.groups.se3 import SE3  # noqa: E402
from groupoid_mech.groups.so2 import SO2  # noqa: E402
from groupoid_mech.groups.so3 import SO3  # noqa: E402
from groupoid_mech.groups.translations import Translations  # noqa: E402
from groupoid_mech.groups.unit_quaternions import UnitQuaternions  # noqa: E402
from groupoid_mech.laws.verify import verify  # noqa: E402
from groupoid_mech.manifolds.calculus import (  # noqa: E402
    differential,
    exterior_derivative,
    interior_product,
    lie_bracket,
    lie_derivative,
    pull_back,
    push_forward,
)
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle  # noqa: E402
from groupoid_mech.manifolds.euclidean import Euclidean  # noqa: E402
from groupoid_mech.manifolds.known_coordinates import local_at  # noqa: E402
from groupoid_mech.manifolds.level_set import LevelSet  # noqa: E402
from groupoid_mech.manifolds.loose_retraction import loose_retraction, searched_numbers  # noqa: E402
from groupoid_mech.manifolds.manifold import Manifold  # noqa: E402
from groupoid_mech.manifolds.product import ProductManifold  # noqa: E402
from groupoid_mech.manifolds.retraction_covector import retraction_covector  # noqa: E402
from groupoid_mech.manifolds.single_point import SinglePoint  # noqa: E402
from groupoid_mech.manifolds.smooth_chart import smooth_components, smooth_derivatives  # noqa: E402
from groupoid_mech.manifolds.sphere import Sphere  # noqa: E402
from groupoid_mech.manifolds.tangent_bundle import TangentBundle  # noqa: E402
from groupoid_mech.manifolds.torus import Torus  # noqa: E402
from groupoid_mech.manifolds.vector_bundle import VectorBundle  # noqa: E402
from groupoid_mech.mechanics.action_sum import action_sum, path, product, vary  # noqa: E402
from groupoid_mech.mechanics.boundary import (  # noqa: E402
    BoundarySolution,
    continue_boundary,
    redirect,
    solve_boundary,
)
from groupoid_mech.mechanics.continuous import EulerLagrange, exact_step  # noqa: E402
from groupoid_mech.mechanics.discovery import DiscoveredSymmetries, discover_symmetries  # noqa: E402
from groupoid_mech.mechanics.discretize import discretize  # noqa: E402
from groupoid_mech.mechanics.explicit_arrow import explicit_arrow  # noqa: E402
from groupoid_mech.mechanics.increment import IncrementFunction  # noqa: E402
from groupoid_mech.mechanics.integrability import Integrability, integrability  # noqa: E402
from groupoid_mech.mechanics.lagrangian_submanifold import LagrangianSubmanifold  # noqa: E402
from groupoid_mech.mechanics.monomials import monomial_functions, monomial_sections  # noqa: E402
from groupoid_mech.mechanics.noether import NoetherSymmetry, symmetry_defect  # noqa: E402
from groupoid_mech.mechanics.pulled_back import pulled_back  # noqa: E402
from groupoid_mech.mechanics.regularity import Regularity, regularity  # noqa: E402
from groupoid_mech.mechanics.starts import from_momentum, from_velocity  # noqa: E402
from groupoid_mech.mechanics.step import Start, Step  # noqa: E402
from groupoid_mech.mechanics.step_family import StepFamily  # noqa: E402
from groupoid_mech.mechanics.system import DiscreteSystem  # noqa: E402
from groupoid_mech.mechanics.system_morphism import SystemMorphism  # noqa: E402
from groupoid_mech.mechanics.time_dependent import discrete_energies, discretize_time  # noqa: E402
from groupoid_mech.mechanics.trajectory import Trajectory, load  # noqa: E402
from groupoid_mech.numerics.with_value import with_value  # noqa: E402
from groupoid_mech.plotting.orbit_plots import plot_orbit  # noqa: E402
from groupoid_mech.plotting.trajectory_plots import (  # noqa: E402
    plot,
    plot_constraints,
    plot_energy,
    plot_invariants,
    plot_momenta,
    plot_path,
    plot_residuals,
)
from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson  # noqa: E402
from groupoid_mech.symplectic.coadjoint_groupoid import CoadjointGroupoid  # noqa: E402
from groupoid_mech.symplectic.composition import compose_relations  # noqa: E402
from groupoid_mech.symplectic.cotangent_algebroid import CotangentAlgebroid  # noqa: E402
from groupoid_mech.symplectic.cotangent_groupoid import CotangentGroupoid  # noqa: E402
from groupoid_mech.symplectic.cotangent_product import multiply_by_bisections  # noqa: E402
from groupoid_mech.symplectic.immersion import (  # noqa: E402
    Immersion,
    conormal_bundle,
    constrained_graph,
    differential_graph,
    generated_relation,
    map_graph,
    one_form_graph,
)
from groupoid_mech.symplectic.linear_poisson import LinearPoisson  # noqa: E402
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold  # noqa: E402
from groupoid_mech.symplectic.poisson_map import anti_poisson_defect, poisson_defect  # noqa: E402
from groupoid_mech.symplectic.relation import LinearRelation  # noqa: E402
from groupoid_mech.symplectic.symplectic_groupoid import SymplecticGroupoid  # noqa: E402
from groupoid_mech.symplectic.symplectic_pair import SymplecticPair  # noqa: E402
from groupoid_mech.symplectic.symplectic_space import SymplecticSpace  # noqa: E402

__version__ = "0.1.0"

from groupoid_mech import systems  # noqa: E402

__all__ = [
    "SE2",
    "SE3",
    "SO2",
    "SO3",
    "ActionAlgebroid",
    "ActionGroupoid",
    "AdjointMap",
    "AlgebroidBundle",
    "ArgumentError",
    "Bisection",
    "BoundaryFailed",
    "BoundarySolution",
    "CanonicalPoisson",
    "ChartMap",
    "Checked",
    "CoadjointGroupoid",
    "Composition",
    "CotangentAlgebroid",
    "CotangentBundle",
    "CotangentGroupoid",
    "CotangentLift",
    "CutLocusError",
    "DependentConstraintsError",
    "DiscoveredSymmetries",
    "DiscreteGradient",
    "DiscreteSystem",
    "DiscretizationMap",
    "Displacement",
    "Drift",
    "DualBundle",
    "EndpointIntegrator",
    "EnergyIntegrator",
    "Euclidean",
    "EulerLagrange",
    "FieldIntegrator",
    "GaugeGroupoid",
    "GeodesicMap",
    "GonzalezGradient",
    "GroupGroupoid",
    "GroupoidAlgebroid",
    "GroupoidMechError",
    "Heisenberg",
    "Immersion",
    "IncrementFunction",
    "Integrability",
    "Integrator",
    "InverseBisection",
    "Isomorphism",
    "ItohAbeGradient",
    "Kick",
    "LagrangianField",
    "LagrangianLift",
    "LagrangianSubmanifold",
    "LegendreHamiltonian",
    "LevelSet",
    "LieAlgebra",
    "LieAlgebroid",
    "LieGroup",
    "LieGroupoid",
    "LiftedMap",
    "LinearPoisson",
    "LinearRelation",
    "LocalBisection",
    "Manifold",
    "MeanGradient",
    "Morphism",
    "NewmarkMap",
    "NoetherSymmetry",
    "NotAMorphismError",
    "NotASymmetryError",
    "NotASystemMorphismError",
    "NotAnActionError",
    "NotComposableError",
    "NotFiniteError",
    "NotLiftableError",
    "NotMorseError",
    "NotSubmersiveError",
    "NotTraceableError",
    "NotTransverseError",
    "OffConstraintsError",
    "OffManifoldError",
    "Orbit",
    "PairGroupoid",
    "PoissonManifold",
    "ProductBisection",
    "ProductGroup",
    "ProductGroupoid",
    "ProductManifold",
    "ProjectionMap",
    "Regularity",
    "SecondOrderField",
    "SectionBisection",
    "Separable",
    "SinglePoint",
    "SingularLagrangianError",
    "Sphere",
    "SphereGaugeGroupoid",
    "Start",
    "Step",
    "StepFailed",
    "StepFamily",
    "StepSearch",
    "SymplecticGroupoid",
    "SymplecticPair",
    "SymplecticSpace",
    "SystemIntegrator",
    "SystemMorphism",
    "TangentAlgebroid",
    "TangentBundle",
    "TangentLift",
    "ThetaMap",
    "TimeExtended",
    "Torus",
    "Trajectory",
    "Translations",
    "UnitBisection",
    "UnitQuaternions",
    "VectorBundle",
    "WeightedComposition",
    "action_morphism",
    "action_sum",
    "anchor_morphism",
    "anti_poisson_defect",
    "bisection_of_diffeomorphism",
    "bisection_of_element",
    "canonical_involution",
    "compose",
    "compose_relations",
    "compose_systems",
    "conormal_bundle",
    "constrained_graph",
    "continue_boundary",
    "cotangent_lift",
    "difference_covector",
    "difference_defect",
    "difference_points",
    "differential",
    "differential_graph",
    "discover_symmetries",
    "discrete_energies",
    "discretize",
    "discretize_time",
    "dual_bundle",
    "exact_step",
    "explicit_arrow",
    "exterior_derivative",
    "fiber_local_at",
    "from_momentum",
    "from_velocity",
    "galerkin_system",
    "gauge_isomorphism",
    "gauge_to_product",
    "generated_relation",
    "group_morphism",
    "hamiltonian_integrator",
    "hamiltonian_system",
    "has_metric_frame",
    "identity_morphism",
    "integrability",
    "interior_product",
    "inverse_at",
    "inverse_is_searched",
    "lagrangian_system",
    "lie_bracket",
    "lie_derivative",
    "lifted_covector",
    "lifted_step",
    "load",
    "load_orbit",
    "local_at",
    "loose_chart",
    "loose_retraction",
    "map_at_step",
    "map_graph",
    "momenta_of_covector",
    "monomial_functions",
    "monomial_sections",
    "multiply_by_bisections",
    "newmark_map",
    "one_form_graph",
    "optimized",
    "pair_to_gauge",
    "pair_to_group",
    "path",
    "plot",
    "plot_constraints",
    "plot_energy",
    "plot_invariants",
    "plot_momenta",
    "plot_orbit",
    "plot_path",
    "plot_residuals",
    "poincare_invariant",
    "poisson_defect",
    "product",
    "product_to_gauge",
    "projection",
    "pull_back",
    "pulled_back",
    "push_forward",
    "raise_order",
    "redirect",
    "regularity",
    "retraction_covector",
    "rotations_to_sphere",
    "searched_by_chart",
    "searched_numbers",
    "smooth_components",
    "smooth_derivatives",
    "solve_boundary",
    "sphere_isomorphism",
    "splitting",
    "splitting_weights",
    "stormer_verlet",
    "suzuki",
    "symmetrize",
    "symmetry_defect",
    "symplectic_dirk",
    "systems",
    "tangent_multiply_by_bisections",
    "theta_map",
    "transverse_directions",
    "triple_jump",
    "tulczyjew_alpha",
    "tulczyjew_alpha_inverse",
    "unit_tangent",
    "vary",
    "verify",
    "with_value",
]
