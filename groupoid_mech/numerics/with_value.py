"""A quantity that is known in two ways: one for its value, one for its derivatives."""

from typing import Any

import jax


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
    kept = jax.lax.stop_gradient
    return jax.tree.map(lambda v, f: kept(v) + (f - kept(f)), value, function)
