"""Laws of Poisson manifolds and of their cotangent algebroids. MMS §2.2."""

from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Covector, Form, Function, Point, Scalar
from groupoid_mech.algebroids.algebroid import Section
from groupoid_mech.algebroids.tangent import TangentAlgebroid
from groupoid_mech.laws.algebroid_laws import cyclic
from groupoid_mech.laws.groupoid_kinds import A_SECTION
from groupoid_mech.laws.kinds import A_FUNCTION, A_POINT, OnBase, Within
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import differential, frame_derivatives, lie_bracket, lie_derivative
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson
from groupoid_mech.symplectic.cotangent_algebroid import CotangentAlgebroid
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold


@final
@dataclass(frozen=True)
class OnManifold(Within):
    """An object of some kind on the manifold that carries a Poisson structure."""

    def inside(self, subject: PoissonManifold) -> Any:
        return subject.manifold


@final
@dataclass(frozen=True)
class OnAlgebroid(Within):
    """An object of some kind on the algebroid of a linear Poisson structure."""

    def inside(self, subject: LinearPoisson) -> Any:
        return subject.algebroid


@final
class Product(eqx.Module):
    """The function f g."""

    f: Function
    g: Function

    def __call__(self, x: Point) -> Scalar:
        return self.f(x) * self.g(x)


@final
class Linear(eqx.Module):
    """The function ℓ_X(q, p) = p_a X^a(q) of a section."""

    X: Section

    def __call__(self, x: Point) -> Scalar:
        return jnp.sum(x[1] * self.X(x[0]))


@final
class Lifted(eqx.Module):
    """The function f ∘ π on a bundle."""

    f: Function

    def __call__(self, x: Point) -> Scalar:
        return self.f(x[0])


@final
class Differential(eqx.Module):
    """The one-form df."""

    manifold: Manifold
    f: Function

    def __call__(self, x: Point) -> Covector:
        return frame_derivatives(self.manifold, self.f, x)


@final
class Pairing(eqx.Module):
    """The function Π(α, β)."""

    poisson: PoissonManifold
    alpha: Form
    beta: Form

    def __call__(self, x: Point) -> Scalar:
        return jnp.einsum("a,ab,b->", self.alpha(x), self.poisson.tensor(x), self.beta(x))


def _antisymmetric(P: PoissonManifold, x: Point, f: Function, g: Function) -> Scalar:
    tensor = P.tensor(x)
    return jnp.maximum(gap(tensor, -tensor.T), gap(P.bracket(f, g)(x), -P.bracket(g, f)(x)))


def _leibniz(P: PoissonManifold, x: Point, f: Function, g: Function, h: Function) -> Scalar:
    return gap(P.bracket(f, Product(g, h))(x), P.bracket(f, g)(x) * h(x) + g(x) * P.bracket(f, h)(x))


def _jacobi(P: PoissonManifold, x: Point, f: Function, g: Function, h: Function) -> Scalar:
    terms = cyclic(lambda u, v, w: P.bracket(P.bracket(u, v), w)(x), f, g, h)
    return gap(terms[0] + terms[1], -terms[2])


def _field_acts(P: PoissonManifold, x: Point, f: Function, H: Function) -> Scalar:
    return gap(differential(P.manifold, f, x) @ P.hamiltonian_field(H)(x), P.bracket(f, H)(x))


def _fields_bracket(P: PoissonManifold, x: Point, f: Function, g: Function) -> Scalar:
    fields = lie_bracket(P.manifold, P.hamiltonian_field(f), P.hamiltonian_field(g))
    return gap(fields(x), -P.hamiltonian_field(P.bracket(f, g))(x))


def _canonical_form(P: CanonicalPoisson, x: Point, H: Function) -> Scalar:
    return gap(P.hamiltonian_field(H)(x) @ P.manifold.symplectic_form(x), differential(P.manifold, H, x))


def _canonical_linear(P: CanonicalPoisson, x: Point) -> Scalar:
    return gap(P.tensor(x), LinearPoisson(TangentAlgebroid(P.manifold.base)).tensor(x))


def _linear_sections(P: LinearPoisson, x: Point, X: Section, Y: Section) -> Scalar:
    return gap(P.bracket(Linear(X), Linear(Y))(x), -Linear(P.algebroid.bracket(X, Y))(x))


def _linear_anchor(P: LinearPoisson, x: Point, f: Function, g: Function, X: Section) -> Scalar:
    along = differential(P.algebroid.base, f, x[0]) @ P.algebroid.anchor_field(X)(x[0])
    horizontal = P.bracket(Lifted(f), Lifted(g))(x)
    return jnp.maximum(gap(P.bracket(Lifted(f), Linear(X))(x), along), jnp.abs(horizontal))


def _differentials(A: CotangentAlgebroid, x: Point, f: Function, g: Function) -> Scalar:
    brackets = A.bracket(Differential(A.base, f), Differential(A.base, g))
    return gap(brackets(x), differential(A.base, A.poisson.bracket(f, g), x))


def _koszul(A: CotangentAlgebroid, x: Point, alpha: Form, beta: Form) -> Scalar:
    pairing = differential(A.base, Pairing(A.poisson, alpha, beta), x)
    forward = lie_derivative(A.base, A.anchor_field(alpha), beta)(x)
    backward = lie_derivative(A.base, A.anchor_field(beta), alpha)(x)
    return gap(A.bracket(alpha, beta)(x), forward - backward - pairing)


def _sharp(A: CotangentAlgebroid, x: Point, f: Function) -> Scalar:
    return gap(A.anchor_field(Differential(A.base, f))(x), -A.poisson.hamiltonian_field(f)(x))


_P, _F = OnManifold(A_POINT), OnManifold(A_FUNCTION)
_X, _F0 = OnAlgebroid(A_SECTION), OnAlgebroid(OnBase(A_FUNCTION))
_Q, _F_BASE = OnBase(A_POINT), OnBase(A_FUNCTION)
_SOURCE, _TOLERANCE = "MMS §2.2", 1e-11

POISSON_LAWS: tuple[Law, ...] = (
    Law("poisson_antisymmetric", "{f, g} = −{g, f}", _SOURCE, PoissonManifold, (_P, _F, _F), _antisymmetric),
    Law("poisson_leibniz", "{f, g h} = {f, g} h + g {f, h}", _SOURCE, PoissonManifold, (_P, _F, _F, _F), _leibniz),
    Law(
        "poisson_jacobi",
        "{{f, g}, h} + {{g, h}, f} + {{h, f}, g} = 0",
        _SOURCE,
        PoissonManifold,
        (_P, _F, _F, _F),
        _jacobi,
        _TOLERANCE,
    ),
    Law("hamiltonian_field_acts", "X_H[f] = {f, H}", _SOURCE, PoissonManifold, (_P, _F, _F), _field_acts),
    Law(
        "hamiltonian_fields_bracket",
        "[X_f, X_g] = −X_{f, g}",
        _SOURCE,
        PoissonManifold,
        (_P, _F, _F),
        _fields_bracket,
        _TOLERANCE,
    ),
    Law("canonical_poisson_form", "i_X ω = dH for X = X_H", _SOURCE, CanonicalPoisson, (_P, _F), _canonical_form),
    Law("canonical_poisson_is_linear", "T*Q is the dual of TQ", _SOURCE, CanonicalPoisson, (_P,), _canonical_linear),
    Law(
        "linear_poisson_sections",
        "{ℓ_X, ℓ_Y} = −ℓ_[[X, Y]]",
        _SOURCE,
        LinearPoisson,
        (_P, _X, _X),
        _linear_sections,
        _TOLERANCE,
    ),
    Law(
        "linear_poisson_anchor",
        "{f∘π, ℓ_X} = ρ(X)[f]∘π, {f∘π, g∘π} = 0",
        _SOURCE,
        LinearPoisson,
        (_P, _F0, _F0, _X),
        _linear_anchor,
    ),
    Law(
        "bracket_of_differentials",
        "[df, dg] = d{f, g}",
        _SOURCE,
        CotangentAlgebroid,
        (_Q, _F_BASE, _F_BASE),
        _differentials,
        _TOLERANCE,
    ),
    Law(
        "koszul_bracket",
        "[α, β] = L_♯α β − L_♯β α − d(Π(α, β))",
        _SOURCE,
        CotangentAlgebroid,
        (_Q, A_SECTION, A_SECTION),
        _koszul,
        _TOLERANCE,
    ),
    Law("sharp_of_differential", "♯df = −X_f", _SOURCE, CotangentAlgebroid, (_Q, _F_BASE), _sharp),
)
