"""Laws of manifolds: charts, projections, and the calculus of fields and forms."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from groupoid_mech._types import Form, Function, Point, Scalar, Vector, VectorField
from groupoid_mech.laws.kinds import (
    A_BASE_ONE_FORM,
    A_BASE_POINT,
    A_FIELD,
    A_FUNCTION,
    A_ONE_FORM,
    A_POINT,
    A_SELF_MAP,
    A_SHORT_VECTOR,
    A_TWO_FORM,
    A_VECTOR,
    Displacement,
    Kind,
)
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import (
    differential,
    exterior_derivative,
    interior_product,
    lie_bracket,
    lie_derivative,
    pull_back,
    push_forward,
)
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.manifold import Manifold, from_ambient_by_autodiff, to_ambient_by_autodiff


def _retract_zero(M: Manifold, x: Point) -> Scalar:
    return gap(M.retract(x, jnp.zeros(M.dim)), x)


def _local_retract(M: Manifold, x: Point, xi: Vector) -> Scalar:
    return gap(M.local(x, M.retract(x, xi)), xi)


def _retract_stays(M: Manifold, x: Point, xi: Vector) -> Scalar:
    return jnp.maximum(M.violation(x), M.violation(M.retract(x, xi)))


def _project_fixes(M: Manifold, x: Point) -> Scalar:
    return gap(M.local(x, M.project(x)), jnp.zeros(M.dim))


def _project_orthogonal(M: Manifold, x: Point) -> Scalar:
    flat, unravel = ravel_pytree(x)
    P = jax.jacfwd(lambda y: ravel_pytree(M.project(unravel(y)))[0])(flat)
    E = jax.jacfwd(lambda xi: ravel_pytree(M.retract(x, xi))[0])(jnp.zeros(M.dim))
    return gap(P, E @ jnp.linalg.solve(E.T @ E, E.T))


def _frame_of_retract(M: Manifold, x: Point, xi: Vector) -> Scalar:
    return gap(M.to_ambient(x, xi), to_ambient_by_autodiff(M, x, xi))


def _coordinates_of_local(M: Manifold, x: Point, xi: Vector) -> Scalar:
    v = to_ambient_by_autodiff(M, x, xi)
    return gap(M.from_ambient(x, v), from_ambient_by_autodiff(M, x, v))


def _d_squared_function(M: Manifold, x: Point, f: Function) -> Scalar:
    zero = exterior_derivative(M, exterior_derivative(M, f))(x)
    return gap(zero, jnp.zeros_like(zero))


def _d_squared_one_form(M: Manifold, x: Point, theta: Form) -> Scalar:
    zero = exterior_derivative(M, exterior_derivative(M, theta))(x)
    return gap(zero, jnp.zeros_like(zero))


def _d_by_fields(M: Manifold, x: Point, theta: Form, X: VectorField, Y: VectorField) -> Scalar:
    def on(field: VectorField, other: VectorField) -> Scalar:
        return differential(M, lambda y: theta(y) @ other(y), x) @ field(x)

    return gap(X(x) @ exterior_derivative(M, theta)(x) @ Y(x), on(X, Y) - on(Y, X) - theta(x) @ lie_bracket(M, X, Y)(x))


def _cartan(M: Manifold, x: Point, omega: Form, X: VectorField) -> Scalar:
    inside = exterior_derivative(M, interior_product(M, X, omega))(x)
    outside = interior_product(M, X, exterior_derivative(M, omega))(x)
    return gap(lie_derivative(M, X, omega)(x), inside + outside)


def _lie_derivative_of_function(M: Manifold, x: Point, f: Function, X: VectorField) -> Scalar:
    return gap(lie_derivative(M, X, f)(x), differential(M, f, x) @ X(x))


def _lie_derivative_leibniz(M: Manifold, x: Point, theta: Form, X: VectorField, Y: VectorField) -> Scalar:
    along = differential(M, lambda y: theta(y) @ Y(y), x) @ X(x)
    return gap(along, lie_derivative(M, X, theta)(x) @ Y(x) + theta(x) @ lie_bracket(M, X, Y)(x))


def _bracket_of_derivations(M: Manifold, x: Point, f: Function, X: VectorField, Y: VectorField) -> Scalar:
    Xf, Yf = lie_derivative(M, X, f), lie_derivative(M, Y, f)
    return gap(
        differential(M, f, x) @ lie_bracket(M, X, Y)(x), differential(M, Yf, x) @ X(x) - differential(M, Xf, x) @ Y(x)
    )


def _bracket_jacobi(M: Manifold, x: Point, X: VectorField, Y: VectorField, Z: VectorField) -> Scalar:
    terms = [lie_bracket(M, A, lie_bracket(M, B, C))(x) for A, B, C in ((X, Y, Z), (Y, Z, X), (Z, X, Y))]
    return gap(terms[0] + terms[1], -terms[2])


def _pull_back_d(M: Manifold, x: Point, theta: Form, f: Displacement) -> Scalar:
    return gap(
        exterior_derivative(M, pull_back(M, M, f, theta))(x), pull_back(M, M, f, exterior_derivative(M, theta))(x)
    )


def _push_forward_chain(M: Manifold, x: Point, f: Displacement, h: Displacement) -> Scalar:
    composed = push_forward(M, M, lambda y: h(f(y)), x)
    return gap(composed, push_forward(M, M, h, f(x)) @ push_forward(M, M, f, x))


def _symplectic_form(M: CotangentBundle, x: Point) -> Scalar:
    return gap(M.symplectic_form(x), -exterior_derivative(M, M.liouville_form)(x))


def _liouville_tautological(M: CotangentBundle, x: Point, theta: Form) -> Scalar:
    return gap(pull_back(M.base, M, lambda q: (q, theta(q)), M.liouville_form)(x), theta(x))


def _law(name: str, statement: str, draws: tuple[Kind, ...], defect: Callable[..., Scalar]) -> Law:
    return Law(name, statement, "calculus in frames", Manifold, draws, defect)


MANIFOLD_LAWS: tuple[Law, ...] = (
    _law("retract_zero", "retract(x, 0) = x", (A_POINT,), _retract_zero),
    _law("local_retract", "local(x, retract(x, ξ)) = ξ", (A_POINT, A_SHORT_VECTOR), _local_retract),
    _law("retract_stays", "violation(retract(x, ξ)) = 0", (A_POINT, A_SHORT_VECTOR), _retract_stays),
    _law("project_fixes", "project(x) = x on M", (A_POINT,), _project_fixes),
    _law("project_orthogonal", "D project(x) is the orthogonal projection onto T_xM", (A_POINT,), _project_orthogonal),
    _law("frame_of_retract", "to_ambient(x, ξ) = D retract(x, 0) ξ", (A_POINT, A_VECTOR), _frame_of_retract),
    _law("coordinates_of_local", "from_ambient(x, v) = D local(x, x) v", (A_POINT, A_VECTOR), _coordinates_of_local),
    _law("d_squared_function", "d d f = 0", (A_POINT, A_FUNCTION), _d_squared_function),
    _law("d_squared_one_form", "d d θ = 0", (A_POINT, A_ONE_FORM), _d_squared_one_form),
    _law(
        "d_by_fields", "dθ(X, Y) = X[θ(Y)] − Y[θ(X)] − θ([X, Y])", (A_POINT, A_ONE_FORM, A_FIELD, A_FIELD), _d_by_fields
    ),
    _law("cartan_one_form", "L_X θ = d i_X θ + i_X dθ", (A_POINT, A_ONE_FORM, A_FIELD), _cartan),
    _law("cartan_two_form", "L_X ω = d i_X ω + i_X dω", (A_POINT, A_TWO_FORM, A_FIELD), _cartan),
    _law("lie_derivative_of_function", "L_X f = df(X)", (A_POINT, A_FUNCTION, A_FIELD), _lie_derivative_of_function),
    _law(
        "lie_derivative_leibniz",
        "X[θ(Y)] = (L_X θ)(Y) + θ([X, Y])",
        (A_POINT, A_ONE_FORM, A_FIELD, A_FIELD),
        _lie_derivative_leibniz,
    ),
    _law(
        "bracket_of_derivations",
        "[X, Y][f] = X[Y[f]] − Y[X[f]]",
        (A_POINT, A_FUNCTION, A_FIELD, A_FIELD),
        _bracket_of_derivations,
    ),
    _law(
        "bracket_jacobi",
        "[X, [Y, Z]] + [Y, [Z, X]] + [Z, [X, Y]] = 0",
        (A_POINT, A_FIELD, A_FIELD, A_FIELD),
        _bracket_jacobi,
    ),
    _law("pull_back_d", "d f*θ = f* dθ", (A_POINT, A_ONE_FORM, A_SELF_MAP), _pull_back_d),
    _law("push_forward_chain", "T(h ∘ f) = Th Tf", (A_POINT, A_SELF_MAP, A_SELF_MAP), _push_forward_chain),
    Law("symplectic_form", "ω = −dθ", "canonical forms", CotangentBundle, (A_POINT,), _symplectic_form),
    Law(
        "liouville_tautological",
        "σ*θ = σ for every one-form σ",
        "canonical forms",
        CotangentBundle,
        (A_BASE_POINT, A_BASE_ONE_FORM),
        _liouville_tautological,
    ),
)
