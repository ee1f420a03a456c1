"""A quantity that is known in two ways: one for its value, one for its derivatives."""

from typing import Any

import jax
import jax.numpy as jnp


def with_value(value: Any, function: Any) -> Any:
    r"""The given value, with the derivatives of ``function``: both are one quantity, computed in two ways.

    Args:
        value: The quantity, computed without cancellation; its derivatives are dropped.
        function: The quantity, computed so that derivatives are right.

    Example:
        >>> import jax.numpy as jnp
        >>> step = 1e-12
        >>> float(jax.grad(lambda x: with_value(step, (x + step) - x) + x)(1.0))
        1.0
        >>> float(with_value(step, (1.0 + step) - 1.0) / step)
        1.0
    """
    return jax.tree.map(_known, value, function)


# A rule instead of v + (f - f): the program has no f where no derivative is asked for, and the value does not wait for it.
@jax.custom_jvp
def _known(value: Any, function: Any) -> Any:
    return jnp.broadcast_to(jnp.asarray(value, jnp.result_type(value, function)), jnp.shape(function))


@_known.defjvp
def _known_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    value, function = primals
    # What is known is a value only: all derivatives, those of this rule too, come from the function.
    return _known(jax.lax.stop_gradient(value), function), tangents[1]
