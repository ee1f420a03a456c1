"""Checks of what users give: structure, shape, dtype and finiteness, with errors that teach.

Shapes are checked always (at trace time this costs nothing at run time); values only where they are known, outside of
``jit``. `guard` puts the checks around the methods that an implementer writes, so that formulas stay formulas.
"""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Scalar
from groupoid_mech.errors import ArgumentError, CutLocusError, NotFiniteError, NotTraceableError

LOCAL_INVERSES = frozenset({"local", "log", "cayley_inverse", "fiber_local"})


def is_concrete(tree: Any) -> bool:
    """Whether the values in the tree are known now: no leaf is traced, and nothing is being traced around it."""
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree)):
        return False
    return not isinstance(jnp.zeros(()), jax.core.Tracer)  # under jit even constants become tracers


def is_finite(tree: Any) -> bool:
    """Whether every number in a concrete tree is finite."""
    leaves = (leaf for leaf in jax.tree.leaves(tree) if eqx.is_inexact_array(leaf))
    return all(bool(np.all(np.isfinite(np.asarray(leaf)))) for leaf in leaves)


def require_positive_integer(owner: str, name: str, value: Any) -> None:
    """Refuse anything but an ``int`` ≥ 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"{owner} needs {name} to be an integer ≥ 1; got {value!r}.")


def require_choice(owner: str, name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the named choices."""
    if value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise ArgumentError(f"{owner} needs {name} to be {listed}; got {value!r}.")


def require_instances(owner: str, name: str, values: tuple[Any, ...], kind: type, advice: str = "") -> None:
    """Refuse an empty tuple, or one with a member that is not a ``kind``; the advice says how to make one."""
    article = "an" if kind.__name__[0] in "AEIO" else "a"
    if not values:
        raise ArgumentError(f"{owner} needs at least one {kind.__name__} as {name}; got none.")
    for position, value in enumerate(values):
        if not isinstance(value, kind):
            which = name if len(values) == 1 else f"{name}[{position}]"
            hint = "Give an instance, as in Sphere(2), not the class." if isinstance(value, type) else advice
            raise ArgumentError(
                f"{owner} needs {which} to be {article} {kind.__name__}; got {describe(value)}. {hint}".rstrip()
            )


def describe(value: Any) -> str:
    """A short account of a value: shape and dtype of arrays, structure of trees."""
    if isinstance(value, (jax.Array, np.ndarray)):
        return f"an array of shape {tuple(value.shape)} and dtype {value.dtype}"
    if isinstance(value, jax.ShapeDtypeStruct):
        return f"an array of shape {tuple(value.shape)} and dtype {value.dtype}"
    if isinstance(value, tuple):
        return "a tuple (" + ", ".join(describe(part) for part in value) + ")"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name, text = type(value).__name__, " ".join(repr(value).split())
    return (text if text.startswith(f"{name}(") else f"{name} {text}")[:120]


def same_structure(left: Any, right: Any) -> bool:
    """Whether two trees have the same structure, whatever their leaves."""
    structures: list[Any] = [jax.tree.structure(left), jax.tree.structure(right)]
    return bool(structures[0] == structures[1])


def require_like(owner: str, name: str, value: Any, expected: Any) -> None:
    """Refuse a tree whose structure, shapes or dtypes differ from the expected ones (None: not known yet)."""
    if expected is None:
        return
    leaves, expected_leaves = jax.tree.leaves(value), jax.tree.leaves(expected)
    fits = same_structure(value, expected) and all(
        isinstance(leaf, (jax.Array, np.ndarray)) and leaf.shape == want.shape
        for leaf, want in zip(leaves, expected_leaves, strict=True)
    )
    if not fits:
        raise ArgumentError(
            f"{owner} needs {name} to be {describe(expected)}; got {describe(value)}. "
            f"Write for one element and batch with jax.vmap; lists become arrays with jnp.array."
        )
    for leaf, want in zip(leaves, expected_leaves, strict=True):
        if leaf.dtype != want.dtype:
            raise ArgumentError(
                f"{owner} needs {name} in dtype {want.dtype}; got dtype {leaf.dtype}. "
                f"Convert with jnp.asarray(value, dtype=float)."
            )


def require_finite(owner: str, name: str, value: Any) -> None:
    """Refuse a concrete tree with NaN or infinity in it."""
    if is_concrete(value) and not is_finite(value):
        raise ArgumentError(f"{owner} needs {name} to be finite; got {value!r}.")


def require_vector(owner: str, name: str, value: Any, size: int) -> None:
    """Refuse anything but a flat float vector of the given size."""
    require_like(owner, name, value, jax.ShapeDtypeStruct((size,), np.dtype(float)))
    require_finite(owner, name, value)


def time_step(owner: str, value: Any) -> Scalar:
    """A finite number that is not 0, as an array; negative ones go back in time."""
    dt = number(owner, "dt", value)
    if is_concrete(dt) and float(dt) == 0:
        raise ArgumentError(f"{owner} needs a finite dt that is not 0; got {value}.")
    return dt


def number(owner: str, name: str, value: Any) -> Scalar:
    """A finite real number as an array; text, truth values and arrays of several numbers are refused."""
    try:
        given = value if hasattr(value, "dtype") else np.asarray(value)
    except (TypeError, ValueError):
        given = np.asarray(None)
    if not any(jnp.issubdtype(given.dtype, kind) for kind in (jnp.floating, jnp.integer)):
        raise ArgumentError(f"{owner} needs {name} to be a number; got {describe(value)}.")
    if given.shape != ():
        raise ArgumentError(
            f"{owner} needs {name} to be one number; got {describe(value)}. Batch over several with jax.vmap."
        )
    result = jnp.asarray(value, float)
    if is_concrete(result) and not np.isfinite(float(result)):
        raise ArgumentError(f"{owner} needs a finite {name}; got {value}.")
    return result


def as_pytree(function: Any) -> Any:
    """The function as a pytree: a module as it is, a plain function as part of the structure, so that jit accepts it."""
    if callable(function) and not jax.tree_util.all_leaves([function]):
        return function
    return jax.tree_util.Partial(function) if callable(function) else function


def name_of(function: Any) -> str:
    """The name a user knows a function by."""
    function = getattr(function, "func", function)
    return getattr(function, "__name__", None) or type(function).__name__


def _line_in(function: Any, error: BaseException) -> str:
    """The last line of the user's own file in a traceback, as ``file:line: text``."""
    function = getattr(function, "func", function)
    code_owner = function if inspect.isfunction(function) else type(function)
    try:
        path = inspect.getsourcefile(code_owner)
    except TypeError:
        return ""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f" (line {frames[-1].lineno}: {frames[-1].line})" if frames else ""


@contextmanager
def explaining_traces(function: Any) -> Iterator[None]:
    """Turn JAX's tracing errors into one sentence about the function that caused them."""
    try:
        yield
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
        message = (
            f"{name_of(function)} cannot be traced by JAX{_line_in(function, error)}: it turns an array that has "
            f"no value yet into a number. Use jax.numpy instead of numpy or math, and jnp.where or jax.lax.cond "
            f"instead of a Python `if` on values."
        )
    else:
        return
    raise NotTraceableError(message)


def require_function(function: Any) -> None:
    """Refuse what cannot be called."""
    if not callable(function):
        raise ArgumentError(f"a function was needed; got {describe(function)}.")


def traced_shape(function: Any, *arguments: Any) -> Any:
    """The shapes that a user's function returns, found by tracing it once; a bad function is explained."""
    require_function(function)
    with explaining_traces(function):
        return eqx.filter_eval_shape(function, *arguments)


def guard(
    cls: type, kinds: Mapping[str, tuple[str, ...]], conditions: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Wrap the named methods that a class itself defines, so that they check their arguments.

    ``kinds`` names for each method what its arguments are: a ``point`` is checked by ``self.check_point``, and so on.
    Calls outside of ``jit`` also check values and are compiled as one function. ``conditions`` names for a method the check
    that all its arguments must pass together.
    """
    for name, argument_kinds in kinds.items():
        method = cls.__dict__.get(name)
        if inspect.isfunction(method) and not getattr(method, "__isabstractmethod__", False):
            setattr(cls, name, _guarded(method, argument_kinds, conditions.get(name)))


def checked(*kinds: str, condition: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a derived method as `guard` does those of implementers: checked, and compiled when called outside of ``jit``."""
    return lambda method: _guarded(method, kinds, condition)


def _guarded(method: Callable[..., Any], kinds: tuple[str, ...], condition: str | None) -> Callable[..., Any]:
    names = list(inspect.signature(method).parameters)[1:]
    compiled = eqx.filter_jit(method)

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        values = inspect.signature(method).bind(self, *args, **kwargs).args[1:] if kwargs else args
        if len(values) != len(names):
            raise TypeError(f"{type(self).__name__}.{method.__name__} takes ({', '.join(names)}); got {len(values)}")
        for name, kind, value in zip(names, kinds, values, strict=True):
            # The function of the class: a bound method of an Equinox module is a new module at every access.
            check = getattr(type(self), f"check_{kind}")
            check(self, value, owner=f"{type(self).__name__}.{method.__name__}", name=name)
        if not is_concrete(values) or not is_concrete(self):
            return method(self, *values)
        if condition is not None:
            getattr(self, condition)(*values)
        result = compiled(self, *values)
        if not is_finite(result):
            raise _without_value(self, method.__name__, names, values)
        return result

    return checked


def _without_value(self: Any, method: str, names: list[str], values: tuple[Any, ...]) -> Exception:
    given = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True)).replace("\n", "")
    owner = f"{type(self).__name__}.{method}({', '.join(names)})"
    if method in LOCAL_INVERSES:
        return CutLocusError(
            f"{owner} has no value here: the point is on the cut locus or outside the chart's domain ({given}). "
            f"Take a nearer point, or split the arc by a point in between."
        )
    return NotFiniteError(
        f"{owner} has no finite value: the argument is outside of its domain ({given}). Take a shorter vector or a nearer point."
    )
