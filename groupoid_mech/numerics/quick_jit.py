"""Compilation for a single run: code that is quick to make beats code that is quick to run.

The laws of SO(3) compile three times as fast so. The options belong to XLA and may go; then this is an ordinary ``jit``.
"""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from groupoid_mech._arguments import is_concrete

_QUICK_TO_COMPILE: dict[str, Any] = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}


def quick_jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """``eqx.filter_jit`` with little optimization; inside of other compiled code, the function as it is."""

    @functools.cache
    def compiled() -> Callable[..., Any]:
        options: dict[str, Any] = {"compiler_options": _compiler_options()}
        return eqx.filter_jit(function, **options)

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return compiled()(*args) if is_concrete(args) else function(*args)

    return call


@functools.cache
def _compiler_options() -> dict[str, Any] | None:
    try:
        jax.jit(lambda x: x + 1, compiler_options=_QUICK_TO_COMPILE)(0.0)
    except (jax.errors.JaxRuntimeError, ValueError, TypeError):
        return None
    return _QUICK_TO_COMPILE
