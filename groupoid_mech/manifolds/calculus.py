r"""Exact calculus in moving frames: differentials, push-forwards, brackets, forms.

Convention: a vector field is a callable x ↦ coordinates in the frame at x; a k-form a callable x ↦ components with k axes.
:math:`d\omega(X, Y) = X[\omega(Y)] - Y[\omega(X)] - \omega([X, Y])`.

Everything follows from two things at the point itself: derivatives of components along the frame :math:`e_a`, and the
structure functions :math:`[e_a, e_b] = C^c_{ab} e_c` of the frame. Functions are differentiated in the ambient coordinates
of the point along tangent vectors, where any extension off the manifold gives the same result: no chart is differentiated
twice, which keeps compiled programs small.
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    explaining_traces,
    is_concrete,
    name_of,
    require_function,
    require_instances,
    same_structure,
    traced_shape,
)
from groupoid_mech._types import Array, Covector, Form, Function, Matrix, Point, Scalar, Vector, VectorField
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import unit_matrix


def differential(M: Manifold, f: Function, x: Point) -> Covector:
    r"""The differential :math:`df(x)_a = \partial_a\, f(\operatorname{retract}(x, \xi))|_{\xi = 0}`.

    Example:
        >>> from groupoid_mech import Sphere
        >>> differential(Sphere(2), lambda x: x[0], jnp.array([0.0, 0.0, 1.0]))
        Array([1., 0.], dtype=float64)
    """
    require_instances("differential", "M", (M,), Manifold)
    M.check_point(x, owner="differential")
    _require_shape("differential", f, M, ((),))
    with explaining_traces(f):
        return _differential(M, f, x)


def push_forward(M: Manifold, N: Manifold, f: Callable[[Point], Point], x: Point) -> Matrix:
    r"""The matrix of :math:`T_x f: T_x M \to T_{f(x)} N` in the frames at :math:`x` and :math:`f(x)`.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> push_forward(Euclidean(2), Euclidean(1), lambda x: x[:1] * x[1:], jnp.array([2.0, 3.0]))
        Array([[3., 2.]], dtype=float64)
    """
    require_instances("push_forward", "M", (M,), Manifold)
    require_instances("push_forward", "N", (N,), Manifold)
    return value_and_push_forward(M, N, f, x)[1]


def value_and_push_forward(M: Manifold, N: Manifold, f: Callable[[Point], Point], x: Point) -> tuple[Point, Matrix]:
    r"""The point :math:`f(x)` and the matrix of :math:`T_x f`, by one evaluation of f."""
    M.check_point(x, owner="push_forward")
    require_function(f)
    with explaining_traces(f):
        y, J = _push_forward(M, N, f, x)
    if is_concrete((M, N, f, x)):
        N.check_point(y, owner="push_forward", name=f"{name_of(f)}(x)")
    return y, J


def exterior_derivative(M: Manifold, omega: Form) -> "ExteriorDerivative":
    r"""The exterior derivative of a k-form, :math:`k = 0, 1, 2`, as a (k+1)-form.

    .. math:: (df)_a = e_a[f], \qquad (d\theta)_{ab} = e_a[\theta_b] - e_b[\theta_a] - \theta_c C^c_{ab}, \qquad
        (d\omega)_{abc} = e_a[\omega_{bc}] - C^d_{ab}\,\omega_{dc} + \text{cyclic} .
    """
    _require_form("exterior_derivative", M, omega, highest=2)
    return ExteriorDerivative(M, as_pytree(omega))


def lie_bracket(M: Manifold, X: VectorField, Y: VectorField) -> "LieBracket":
    r"""The vector field :math:`[X, Y]`, with :math:`[X, Y][f] = X[Y[f]] - Y[X[f]]`."""
    for field in (X, Y):
        _require_field("lie_bracket", M, field)
    return LieBracket(M, as_pytree(X), as_pytree(Y))


def lie_derivative(M: Manifold, X: VectorField, omega: Form) -> "LieDerivative":
    r"""The Lie derivative of a k-form (a function for k = 0) along a vector field; of a field, use `lie_bracket`.

    .. math:: (L_X\omega)_{a\dots} = X[\omega_{a\dots}] - \omega([X, e_a], \dots) - \dots, \qquad
        [X, e_a] = (X^b C^c_{ba} - e_a[X^c])\,e_c .
    """
    _require_field("lie_derivative", M, X)
    _require_form("lie_derivative", M, omega, highest=3)
    return LieDerivative(M, as_pytree(X), as_pytree(omega))


def interior_product(M: Manifold, X: VectorField, omega: Form) -> "InteriorProduct":
    r"""The form :math:`i_X\omega = \omega(X, \cdot, \dots)`."""
    _require_field("interior_product", M, X)
    _require_form("interior_product", M, omega, lowest=1, highest=3)
    return InteriorProduct(M, as_pytree(X), as_pytree(omega))


def pull_back(M: Manifold, N: Manifold, f: Callable[[Point], Point], omega: Form) -> "PullBack":
    r"""The form :math:`f^*\omega` on M, for :math:`f: M \to N` and a k-form :math:`\omega` on N."""
    require_instances("pull_back", "M", (M,), Manifold)
    _require_form("pull_back", N, omega, highest=3, name="N")
    _require_map("pull_back", M, N, f)
    return PullBack(M, N, as_pytree(f), as_pytree(omega))


@final
class ExteriorDerivative(eqx.Module):
    r"""The form :math:`d\omega`."""

    manifold: Manifold
    omega: Form

    def __call__(self, x: Point) -> Array:
        self.manifold.check_point(x, owner="exterior_derivative")
        with explaining_traces(self.omega):
            return _exterior_derivative(self.manifold, self.omega, x)


@final
class LieBracket(eqx.Module):
    """The vector field [X, Y]."""

    manifold: Manifold
    X: VectorField
    Y: VectorField

    def __call__(self, x: Point) -> Vector:
        self.manifold.check_point(x, owner="lie_bracket")
        return _lie_bracket(self.manifold, self.X, self.Y, x)


@final
class LieDerivative(eqx.Module):
    """The form L_X ω."""

    manifold: Manifold
    X: VectorField
    omega: Form

    def __call__(self, x: Point) -> Array:
        self.manifold.check_point(x, owner="lie_derivative")
        return _lie_derivative(self.manifold, self.X, self.omega, x)


@final
class InteriorProduct(eqx.Module):
    """The form i_X ω."""

    manifold: Manifold
    X: VectorField
    omega: Form

    def __call__(self, x: Point) -> Array:
        self.manifold.check_point(x, owner="interior_product")
        return jnp.tensordot(self.X(x), self.omega(x), axes=1)


@final
class PullBack(eqx.Module):
    """The form f*ω."""

    manifold: Manifold
    codomain: Manifold
    map: Callable[[Point], Point]
    omega: Form

    def __call__(self, x: Point) -> Array:
        self.manifold.check_point(x, owner="pull_back")
        return _pull_back(self.manifold, self.codomain, self.map, self.omega, x)


def directional_derivative(M: Manifold, f: Callable[[Point], Any], x: Point, v: Vector) -> Any:
    r"""The derivative :math:`v[f](x)` of a function with values in any vector space along frame coordinates v."""
    return jax.jvp(f, (x,), (M.to_ambient(x, v),))[1]


def frame_derivatives(M: Manifold, f: Callable[[Point], Array], x: Point) -> Array:
    r"""The derivatives :math:`e_a[f](x)` along the frame, with the index a as first axis."""
    return jax.vmap(lambda v: directional_derivative(M, f, x, v))(unit_matrix(M.dim))


def tangential(M: Manifold, x: Point, slope: Point) -> Covector:
    """The components in the frame of M at x of the covector with these ambient components, as reverse differentiation gives them."""

    def along(e: Vector) -> Scalar:
        return sum(jax.tree.leaves(jax.tree.map(lambda a, b: jnp.sum(a * b), slope, M.to_ambient(x, e))), jnp.zeros(()))

    return jax.vmap(along)(unit_matrix(M.dim))


def frame_bracket(M: Manifold, x: Point, u: Vector, v: Vector) -> Vector:
    r"""The components :math:`C^c_{ab}u^av^b` of the bracket at x of the two fields with constant components u and v in the frame."""

    def slope(along: Vector, constant: Vector) -> Point:
        return jax.jvp(lambda y: M.to_ambient(y, constant), (x,), (M.to_ambient(x, along),))[1]

    return M.from_ambient(x, jax.tree.map(jnp.subtract, slope(u, v), slope(v, u)))


def structure_functions(M: Manifold, x: Point) -> Array:
    r"""The structure functions of the frame, ``C[c, a, b]`` with :math:`[e_a, e_b] = C^c_{ab}\,e_c` at x."""
    basis = unit_matrix(M.dim)

    def slope(a: Vector) -> Any:
        return jax.vmap(lambda b: directional_derivative(M, lambda y: M.to_ambient(y, b), x, a))(basis)

    slopes = jax.vmap(slope)(basis)
    commutator = jax.tree.map(lambda s: s - jnp.swapaxes(s, 0, 1), slopes)
    return jnp.moveaxis(jax.vmap(jax.vmap(lambda v: M.from_ambient(x, v)))(commutator), -1, 0)


@eqx.filter_jit
def _differential(M: Manifold, f: Function, x: Point) -> Covector:
    return frame_derivatives(M, f, x)


@eqx.filter_jit
def _push_forward(M: Manifold, N: Manifold, f: Callable[[Point], Point], x: Point) -> tuple[Point, Matrix]:
    # The value comes along with the columns: one copy of f in the program.
    columns = jax.vmap(lambda v: jax.jvp(f, (x,), (M.to_ambient(x, v),)), out_axes=(None, 0))
    y, moved = columns(unit_matrix(M.dim))
    _require_value("push_forward", N, f, y)
    return y, jax.vmap(lambda w: N.from_ambient(y, w), out_axes=1)(moved)


@eqx.filter_jit
def _exterior_derivative(M: Manifold, omega: Form, x: Point) -> Array:
    slopes = frame_derivatives(M, omega, x)
    if slopes.ndim == 1:
        return slopes
    C, value = structure_functions(M, x), omega(x)
    if slopes.ndim == 2:
        return slopes - slopes.T - jnp.einsum("c,cab->ab", value, C)
    terms = slopes - jnp.einsum("dab,dc->abc", C, value)
    return terms + terms.transpose(2, 0, 1) + terms.transpose(1, 2, 0)


@eqx.filter_jit
def _lie_bracket(M: Manifold, X: VectorField, Y: VectorField, x: Point) -> Vector:
    def ambient(field: VectorField) -> Callable[[Point], Point]:
        return lambda y: M.to_ambient(y, field(y))

    X_value, Y_value = ambient(X)(x), ambient(Y)(x)
    along_X = jax.jvp(ambient(Y), (x,), (X_value,))[1]
    along_Y = jax.jvp(ambient(X), (x,), (Y_value,))[1]
    return M.from_ambient(x, jax.tree.map(jnp.subtract, along_X, along_Y))


@eqx.filter_jit
def _lie_derivative(M: Manifold, X: VectorField, omega: Form, x: Point) -> Array:
    value, along = jax.jvp(omega, (x,), (M.to_ambient(x, X(x)),))
    if value.ndim == 0:
        return along
    # [X, e_a] = X^b C^c_ba e_c − e_a[X^c] e_c, and (L_X ω)(e_a, …) = X[ω_a…] − ω([X, e_a], …) − …
    brackets = jnp.einsum("b,cba->ca", X(x), structure_functions(M, x)) - frame_derivatives(M, X, x).T
    for axis in range(value.ndim):
        along = along - jnp.moveaxis(jnp.tensordot(value, brackets, axes=((axis,), (0,))), -1, axis)
    return along


@eqx.filter_jit
def _pull_back(M: Manifold, N: Manifold, f: Callable[[Point], Point], omega: Form, x: Point) -> Array:
    y, J = _push_forward(M, N, f, x)
    return _transform(omega(y), J)


def _transform(components: Array, jacobian: Matrix) -> Array:
    """Covariant components under a change of basis: every axis contracted with the Jacobian's rows."""
    for axis in range(components.ndim):
        components = jnp.moveaxis(jnp.tensordot(components, jacobian, axes=((axis,), (0,))), -1, axis)
    return components


def _require_shape(owner: str, f: Any, M: Manifold, allowed: tuple[tuple[int, ...], ...]) -> None:
    shape = traced_shape(f, M.point_like())
    if not isinstance(shape, jax.ShapeDtypeStruct) or shape.shape not in allowed:
        listed = " or ".join(str(entry) for entry in allowed)
        raise ArgumentError(f"{owner} needs {name_of(f)}(x) of shape {listed}; it returns {describe(shape)}.")
    if not jnp.issubdtype(shape.dtype, jnp.floating):
        raise ArgumentError(f"{owner} needs {name_of(f)}(x) to be real; it returns {describe(shape)}.")


def _require_map(owner: str, M: Manifold, N: Manifold, f: Any) -> None:
    _require_value(owner, N, f, traced_shape(f, M.point_like()))


def _require_value(owner: str, N: Manifold, f: Any, shape: Any) -> None:
    same = same_structure(shape, N.point_like()) and all(
        got.shape == want.shape
        for got, want in zip(jax.tree.leaves(shape), jax.tree.leaves(N.point_like()), strict=True)
    )
    if not same:
        raise ArgumentError(
            f"{owner} needs {name_of(f)}(x) to be a point of {N}, {describe(N.point_like())}; it returns {describe(shape)}."
        )


def _require_field(owner: str, M: Manifold, X: Any) -> None:
    require_instances(owner, "M", (M,), Manifold)
    _require_shape(owner, X, M, ((M.dim,),))


def _require_form(owner: str, M: Manifold, omega: Any, *, lowest: int = 0, highest: int, name: str = "M") -> None:
    require_instances(owner, name, (M,), Manifold)
    _require_shape(owner, omega, M, tuple((M.dim,) * degree for degree in range(lowest, highest + 1)))
