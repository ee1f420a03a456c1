r"""Long loops of few variables, differentiated forward: Jacobians by columns along the loop, also where a derivative is asked for in reverse.

Reverse mode keeps what every turn of a loop computes, and goes through it a second time; derivatives of that are longer still. For a
function of few variables all columns together are one loop that keeps nothing.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from groupoid_mech._types import Array, Vector
from groupoid_mech.numerics.matrix import unit_matrix

_Jet = Callable[[Vector, list[Any]], tuple[Array, ...]]


def differentiated_forward(function: Callable[[Vector], Vector], z: Vector) -> Vector:
    r"""The value f(z), of which every derivative is computed forward: those of order k are :math:`D^kf(z)`, contracted with the tangents.

    What the function closes over may be differentiated too.

    Args:
        function: The function f of few variables.
        z: Where it is evaluated.

    Example:
        >>> jax.grad(lambda z: differentiated_forward(jnp.sin, z)[0])(jnp.zeros(2))
        Array([1., 0.], dtype=float64)
    """
    # What the function closes over becomes an argument: only of arguments there are derivatives.
    converted, constants = jax.closure_convert(function, z)
    return _differentiable(lambda z, constants: (converted(z, *constants),))(z, constants)[0]


def _differentiable(jet: _Jet) -> _Jet:
    r"""The jet :math:`(f, Df, \dots, D^kf)`, whose derivative is that of one order more: it is computed once for all tangents."""

    @jax.custom_jvp
    def value(z: Vector, constants: list[Any]) -> tuple[Array, ...]:
        return jet(z, constants)

    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        (z, constants), (change, moving) = primals, tangents
        longer = _differentiable(lambda z, constants: _longer(jet, z, constants))(z, constants)
        by_point = tuple(jnp.tensordot(slope, _instantiated(change), 1) for slope in longer[1:])
        if all(_is_zero(tangent) for tangent in moving):
            return longer[:-1], by_point
        moved = jax.jvp(lambda constants: jet(z, constants), (constants,), ([_instantiated(t) for t in moving],))[1]
        return longer[:-1], jax.tree.map(jnp.add, by_point, moved)

    value.defjvp(rule, symbolic_zeros=True)
    return value


def _longer(jet: _Jet, z: Vector, constants: list[Any]) -> tuple[Array, ...]:
    columns = jax.vmap(lambda e: jax.jvp(lambda z: jet(z, constants), (z,), (e,)), out_axes=(None, -1))
    known, slopes = columns(unit_matrix(z.size))
    return (*known, slopes[-1])


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, jax.custom_derivatives.SymbolicZero)


def _instantiated(tangent: Any) -> Array:
    return jnp.zeros(tangent.shape, tangent.dtype) if _is_zero(tangent) else tangent
