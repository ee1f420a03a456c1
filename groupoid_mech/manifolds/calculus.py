r"""Exact calculus in moving frames: differentials, push-forwards, brackets, forms.

Convention: a vector field is a callable x ↦ coordinates in the frame at x; a k-form a callable x ↦ components with k axes.
:math:`d\omega(X, Y) = X[\omega(Y)] - Y[\omega(X)] - \omega([X, Y])`. DESIGN §2.

Every operator works in the coordinates centred at the point where it is evaluated: there the frame is the coordinate
basis, and around it a field or form is carried over by the derivative of the change of chart.
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import describe, explaining_traces, name_of, require_instances, traced_shape
from groupoid_mech._types import Array, Covector, Form, Function, Matrix, Point, Vector, VectorField
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.manifold import Manifold


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
    M.check_point(x, owner="push_forward")
    traced_shape(f, M.point_like())
    with explaining_traces(f):
        return _push_forward(M, N, f, x)


def exterior_derivative(M: Manifold, omega: Form) -> "ExteriorDerivative":
    r"""The exterior derivative of a k-form, :math:`k = 0, 1, 2`, as a (k+1)-form.

    .. math:: (df)_i = \partial_i f, \qquad (d\theta)_{ij} = \partial_i\theta_j - \partial_j\theta_i, \qquad
        (d\omega)_{ijk} = \partial_i\omega_{jk} + \partial_j\omega_{ki} + \partial_k\omega_{ij} .
    """
    _require_form("exterior_derivative", M, omega, highest=2)
    return ExteriorDerivative(M, omega)


def lie_bracket(M: Manifold, X: VectorField, Y: VectorField) -> "LieBracket":
    r"""The vector field :math:`[X, Y]`, with :math:`[X, Y][f] = X[Y[f]] - Y[X[f]]`."""
    for field in (X, Y):
        _require_field("lie_bracket", M, field)
    return LieBracket(M, X, Y)


def lie_derivative(M: Manifold, X: VectorField, omega: Form) -> "LieDerivative":
    r"""The Lie derivative of a k-form (a function for k = 0) along a vector field; of a field, use `lie_bracket`.

    .. math:: (L_X\omega)_{i\dots} = X^k\partial_k\omega_{i\dots} + \omega_{k\dots}\,\partial_i X^k + \dots
    """
    _require_field("lie_derivative", M, X)
    _require_form("lie_derivative", M, omega, highest=3)
    return LieDerivative(M, X, omega)


def interior_product(M: Manifold, X: VectorField, omega: Form) -> "InteriorProduct":
    r"""The form :math:`i_X\omega = \omega(X, \cdot, \dots)`."""
    _require_field("interior_product", M, X)
    _require_form("interior_product", M, omega, lowest=1, highest=3)
    return InteriorProduct(M, X, omega)


def pull_back(M: Manifold, N: Manifold, f: Callable[[Point], Point], omega: Form) -> "PullBack":
    r"""The form :math:`f^*\omega` on M, for :math:`f: M \to N` and a k-form :math:`\omega` on N."""
    require_instances("pull_back", "M", (M,), Manifold)
    _require_form("pull_back", N, omega, highest=3)
    traced_shape(f, M.point_like())
    return PullBack(M, N, f, omega)


@final
class ExteriorDerivative(eqx.Module):
    r"""The form :math:`d\omega`."""

    manifold: Manifold
    omega: Form

    def __call__(self, x: Point) -> Array:
        with explaining_traces(self.omega):
            return _exterior_derivative(self.manifold, self.omega, x)


@final
class LieBracket(eqx.Module):
    """The vector field [X, Y]."""

    manifold: Manifold
    X: VectorField
    Y: VectorField

    def __call__(self, x: Point) -> Vector:
        return _lie_bracket(self.manifold, self.X, self.Y, x)


@final
class LieDerivative(eqx.Module):
    """The form L_X ω."""

    manifold: Manifold
    X: VectorField
    omega: Form

    def __call__(self, x: Point) -> Array:
        return _lie_derivative(self.manifold, self.X, self.omega, x)


@final
class InteriorProduct(eqx.Module):
    """The form i_X ω."""

    manifold: Manifold
    X: VectorField
    omega: Form

    def __call__(self, x: Point) -> Array:
        return jnp.tensordot(self.X(x), self.omega(x), axes=1)


@final
class PullBack(eqx.Module):
    """The form f*ω."""

    manifold: Manifold
    codomain: Manifold
    map: Callable[[Point], Point]
    omega: Form

    def __call__(self, x: Point) -> Array:
        return _pull_back(self.manifold, self.codomain, self.map, self.omega, x)


@eqx.filter_jit
def _differential(M: Manifold, f: Function, x: Point) -> Covector:
    return jax.grad(lambda xi: f(M.retract(x, xi)))(jnp.zeros(M.dim))


@eqx.filter_jit
def _push_forward(M: Manifold, N: Manifold, f: Callable[[Point], Point], x: Point) -> Matrix:
    y = f(x)
    return jax.jacfwd(lambda xi: N.local(y, f(M.retract(x, xi))))(jnp.zeros(M.dim))


@eqx.filter_jit
def _exterior_derivative(M: Manifold, omega: Form, x: Point) -> Array:
    slopes = jnp.moveaxis(jax.jacfwd(form_in_chart(M, omega, x))(jnp.zeros(M.dim)), -1, 0)
    if slopes.ndim == 1:
        return slopes
    if slopes.ndim == 2:
        return slopes - slopes.T
    return slopes + slopes.transpose(2, 0, 1) + slopes.transpose(1, 2, 0)


@eqx.filter_jit
def _lie_bracket(M: Manifold, X: VectorField, Y: VectorField, x: Point) -> Vector:
    at, origin = (field_in_chart(M, X, x), field_in_chart(M, Y, x)), jnp.zeros(M.dim)
    X_value, Y_value = X(x), Y(x)
    return jax.jvp(at[1], (origin,), (X_value,))[1] - jax.jvp(at[0], (origin,), (Y_value,))[1]


@eqx.filter_jit
def _lie_derivative(M: Manifold, X: VectorField, omega: Form, x: Point) -> Array:
    origin = jnp.zeros(M.dim)
    value, along = jax.jvp(form_in_chart(M, omega, x), (origin,), (X(x),))
    slopes = jax.jacfwd(field_in_chart(M, X, x))(origin)
    for axis in range(value.ndim):
        along = along + jnp.moveaxis(jnp.tensordot(value, slopes, axes=((axis,), (0,))), -1, axis)
    return along


@eqx.filter_jit
def _pull_back(M: Manifold, N: Manifold, f: Callable[[Point], Point], omega: Form, x: Point) -> Array:
    return _transform(omega(f(x)), _push_forward(M, N, f, x))


def form_in_chart(M: Manifold, omega: Form, x: Point) -> Callable[[Vector], Array]:
    r"""The components of a form in the coordinates centred at x: :math:`\xi \mapsto \omega_{i\dots}(\xi)`."""

    def components(xi: Vector) -> Array:
        y = M.retract(x, xi)
        value = omega(y)
        if value.ndim == 0:
            return value
        return _transform(value, jax.jacfwd(lambda z: M.local(y, M.retract(x, z)))(xi))

    return components


def field_in_chart(M: Manifold, X: VectorField, x: Point) -> Callable[[Vector], Vector]:
    r"""The components of a vector field in the coordinates centred at x: :math:`\xi \mapsto X^i(\xi)`."""

    def components(xi: Vector) -> Vector:
        y = M.retract(x, xi)
        return jax.jvp(lambda z: M.local(x, M.retract(y, z)), (jnp.zeros(M.dim),), (X(y),))[1]

    return components


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


def _require_field(owner: str, M: Manifold, X: Any) -> None:
    require_instances(owner, "M", (M,), Manifold)
    _require_shape(owner, X, M, ((M.dim,),))


def _require_form(owner: str, M: Manifold, omega: Any, *, lowest: int = 0, highest: int) -> None:
    require_instances(owner, "M", (M,), Manifold)
    _require_shape(owner, omega, M, tuple((M.dim,) * degree for degree in range(lowest, highest + 1)))
