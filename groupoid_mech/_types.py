"""Names for what passes through the library.

Points are pytrees in their natural embedded form; vectors and covectors are flat coordinates in the frame at a point.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax

Array: TypeAlias = jax.Array
Key: TypeAlias = jax.Array
Point: TypeAlias = Any
Scalar: TypeAlias = jax.Array
Vector: TypeAlias = jax.Array
Covector: TypeAlias = jax.Array
Matrix: TypeAlias = jax.Array

Function: TypeAlias = Callable[[Point], Scalar]
VectorField: TypeAlias = Callable[[Point], Vector]
Form: TypeAlias = Callable[[Point], Array]
