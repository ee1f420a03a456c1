"""Laws of Noether symmetries and of morphisms of discrete systems: conserved quantities, reduction, reconstruction. MMS §4."""

from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Function, Point, Scalar, Vector
from groupoid_mech.laws.groupoid_kinds import A_FIBER_VECTOR, OnGroupoid
from groupoid_mech.laws.kinds import Within
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.laws.mechanics_kinds import A_PERTURBATION, A_POINT_OF_SIGMA, perturbed
from groupoid_mech.laws.mechanics_laws import Sigma, row, start_at, two_steps
from groupoid_mech.laws.morphism_laws import OnCodomain, OnDomain
from groupoid_mech.mechanics.lagrangian_submanifold import LagrangianSubmanifold
from groupoid_mech.mechanics.noether import NoetherSymmetry
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.mechanics.system_morphism import SystemMorphism, lift
from groupoid_mech.numerics.matrix import matvec, right_inverse


@final
@dataclass(frozen=True)
class OnSystem(Within):
    """An object of some kind on the system of a symmetry."""

    def inside(self, subject: NoetherSymmetry) -> Any:
        return subject.system


@final
class AlongMorphism(eqx.Module):
    r"""The function :math:`P\circ\Phi`."""

    morphism: Any
    function: Function

    def __call__(self, g: Point) -> Scalar:
        return self.function(self.morphism(g))


def perturbed_systems(Phi: SystemMorphism, P: Function) -> tuple[DiscreteSystem, DiscreteSystem]:
    r"""Both systems with a drawn function added: P to the reduced Lagrangian, :math:`P\circ\Phi` to the one upstairs."""
    return perturbed(Phi.domain, AlongMorphism(Phi.morphism, P)), perturbed(Phi.codomain, P)


def _symmetry(symmetry: NoetherSymmetry, at: Sigma) -> Scalar:
    return jnp.abs(symmetry.defect(*at)) / (1 + jnp.abs(symmetry.quantity(*at)))


def _noether_conserved(symmetry: NoetherSymmetry, at: Sigma) -> Scalar:
    _, (arrows, s) = two_steps(symmetry.system, start_at(symmetry.system, at))
    values = jax.vmap(symmetry.quantity)(arrows, s)
    return gap(values[0], values[1])


def _image_in_sigma(Phi: SystemMorphism, at: Sigma, P: Function) -> Scalar:
    (g, s), (here, there) = at, perturbed_systems(Phi, P)
    mu = Phi.morphism.pull_back_covector(g, LagrangianSubmanifold(there).covector(Phi.morphism(g), s))
    S = LagrangianSubmanifold(here)
    off = mu - S.covector(g, s) if here.auxiliary else S.violation(g, mu)
    return jnp.max(jnp.abs(off)) / (1 + jnp.max(jnp.abs(mu)))


def _momenta_related(Phi: SystemMorphism, at: Sigma, P: Function) -> Scalar:
    (g, s), (here, there) = at, perturbed_systems(Phi, P)
    G, image, t = here.groupoid, Phi.morphism(g), Phi.auxiliary_of_image(g, s)
    minus, plus = there.legendre_minus(image, t), there.legendre_plus(image, t)
    sources = gap(here.legendre_minus(g, s), Phi.morphism.pull_back_momentum(G.source(g), minus))
    targets = gap(here.legendre_plus(g, s), Phi.morphism.pull_back_momentum(G.target(g), plus))
    return jnp.maximum(sources, targets)


def _lifted_flow(Phi: SystemMorphism, at: Sigma, P: Function) -> Scalar:
    (g, s), (here, there) = at, perturbed_systems(Phi, P)
    G = here.groupoid
    _, (images, t) = two_steps(there, start_at(there, (Phi.morphism(g), Phi.auxiliary_of_image(g, s))))
    q = G.target(g)
    h, _, _ = lift(Phi.morphism, q, row(images, 1), -G.fiber_local(q, G.inverse(g)))
    mu = Phi.morphism.pull_back_covector(h, LagrangianSubmanifold(there).covector(row(images, 1), t[1]))
    S = LagrangianSubmanifold(here)
    equations = gap(here.legendre_plus(g, s), S.cotangent.source((h, mu))[1])
    if here.auxiliary:
        return equations
    return jnp.maximum(equations, jnp.max(jnp.abs(S.violation(h, mu))) / (1 + jnp.max(jnp.abs(mu))))


def _equations_related(Phi: SystemMorphism, at: Sigma, P: Function, a: Vector) -> Scalar:
    (g, s), (here, there) = at, perturbed_systems(Phi, P)
    G, q = here.groupoid, here.groupoid.target(g)
    h = G.fiber_chart(q, 0.2 * a)
    h = h if here.auxiliary else here.project(h)
    image, image_h = Phi.morphism(g), Phi.morphism(h)
    upstairs = here.legendre_plus(g, s) - here.legendre_minus(h, s)
    reduced = there.legendre_plus(image, Phi.auxiliary_of_image(g, s)) - there.legendre_minus(
        image_h, Phi.auxiliary_of_image(h, s)
    )
    A = Phi.morphism.algebroid_map(q)
    onto = gap(matvec(right_inverse(A).T, upstairs), reduced) if A.shape[0] <= A.shape[1] else jnp.zeros(())
    return jnp.maximum(gap(upstairs, matvec(A.T, reduced)), onto)


_AT, _P = OnDomain(A_POINT_OF_SIGMA), OnCodomain(A_PERTURBATION)

REDUCTION_LAWS: tuple[Law, ...] = (
    Law(
        "symmetry",
        "⟨F⁻, X(α)⟩ + f(α) = ⟨F⁺, X(β)⟩ + f(β) on Σ_L",
        "MMS Def. 4.8",
        NoetherSymmetry,
        (OnSystem(A_POINT_OF_SIGMA),),
        _symmetry,
    ),
    Law(
        "noether_conserved",
        "F_X(μ_k) = F_X(μ_{k+1})",
        "MMS Thm 4.9",
        NoetherSymmetry,
        (OnSystem(A_POINT_OF_SIGMA),),
        _noether_conserved,
    ),
    Law(
        "image_in_sigma",
        "μ′ ∈ Σ_L′, μ = Φ*μ′ ⇒ μ ∈ Σ_L",
        "MMS Thm 4.5 (i)",
        SystemMorphism,
        (_AT, _P),
        _image_in_sigma,
    ),
    Law(
        "legendre_momenta_related",
        "F⁻ = AΦ*F′⁻, F⁺ = AΦ*F′⁺ at Φ*-related covectors",
        "MMS Thm 4.5 (ii), (iii)",
        SystemMorphism,
        (_AT, _P),
        _momenta_related,
    ),
    Law(
        "lifted_flow",
        "lifts of a reduced trajectory are a trajectory upstairs",
        "MMS Cor. 4.6",
        SystemMorphism,
        (_AT, _P),
        _lifted_flow,
    ),
    Law(
        "equations_related",
        "F⁺(g) − F⁻(h) = AΦ*(F′⁺(Φg) − F′⁻(Φh)), and back where AΦ is onto",
        "MMS Remark 4.7",
        SystemMorphism,
        (_AT, _P, OnDomain(OnGroupoid(A_FIBER_VECTOR))),
        _equations_related,
    ),
)
