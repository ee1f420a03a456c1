"""Direct products of Lie groups."""

from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import block_diag

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Key, Matrix, Point, Scalar, Vector
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.product import split
from groupoid_mech.manifolds.restored import restored


@final
class ProductGroup(LieGroup):
    r"""The direct product :math:`H_1 \times \dots \times H_k`; an element is the tuple of its components.

    Every operation acts component by component; matrices are block-diagonal. ``tau`` chooses the retraction of the
    product, whatever those of the factors.

    Args:
        factors: The groups :math:`H_1, \dots, H_k`, given one after the other.
        tau: The retraction, ``"exp"`` or ``"cayley"``.

    Example:
        >>> from groupoid_mech import SO2, Translations
        >>> ProductGroup(SO2(), Translations(2)).dim
        3
    """

    factors: tuple[LieGroup, ...]
    tau: str = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __init__(self, *factors: LieGroup, tau: str = "exp"):
        require_instances("ProductGroup", "factors", factors, LieGroup)
        self.factors = factors
        self.tau = tau
        self.dim = sum(self._sizes)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(H.dim for H in self.factors)

    def identity(self) -> Point:
        return tuple(H.identity() for H in self.factors)

    def multiply(self, g: Point, h: Point) -> Point:
        return tuple(H.multiply(*pair) for H, *pair in zip(self.factors, g, h, strict=True))

    def inverse(self, g: Point) -> Point:
        return self._on_elements("inverse", g)

    def exp(self, xi: Vector) -> Point:
        return self._on_vectors("exp", xi)

    def log(self, g: Point) -> Vector:
        return jnp.concatenate(self._on_elements("log", g))

    def cayley(self, xi: Vector) -> Point:
        return self._on_vectors("cayley", xi)

    def cayley_inverse(self, g: Point) -> Vector:
        return jnp.concatenate(self._on_elements("cayley_inverse", g))

    def adjoint(self, g: Point) -> Matrix:
        return block_diag(*self._on_elements("adjoint", g))

    def ad(self, xi: Vector) -> Matrix:
        return block_diag(*self._on_vectors("ad", xi))

    def dexp(self, xi: Vector) -> Matrix:
        return block_diag(*self._on_vectors("dexp", xi))

    def dexp_inverse(self, xi: Vector) -> Matrix:
        return block_diag(*self._on_vectors("dexp_inverse", xi))

    def dcayley(self, xi: Vector) -> Matrix:
        return block_diag(*self._on_vectors("dcayley", xi))

    def dcayley_inverse(self, xi: Vector) -> Matrix:
        return block_diag(*self._on_vectors("dcayley_inverse", xi))

    def hat(self, xi: Vector) -> Matrix:
        return block_diag(*self._on_vectors("hat", xi))

    def matrix(self, g: Point) -> Matrix:
        return block_diag(*self._on_elements("matrix", g))

    def to_ambient(self, x: Point, xi: Vector) -> Point:
        parts = split(self._sizes, xi)
        return tuple(H.to_ambient(*pair) for H, *pair in zip(self.factors, x, parts, strict=True))

    def from_ambient(self, x: Point, v: Point) -> Vector:
        return jnp.concatenate([H.from_ambient(*pair) for H, *pair in zip(self.factors, x, v, strict=True)])

    def project(self, y: Point) -> Point:
        return self._on_elements("project", y)

    def violation(self, y: Point) -> Scalar:
        return jnp.max(jnp.stack(self._on_elements("violation", y)))

    def random_point(self, key: Key) -> Point:
        keys = jax.random.split(key, len(self.factors))
        return tuple(H.random_point(part) for H, part in zip(self.factors, keys, strict=True))

    def _on_elements(self, method: str, g: Point) -> tuple[Any, ...]:
        return tuple(getattr(H, method)(part) for H, part in zip(self.factors, g, strict=True))

    def _on_vectors(self, method: str, xi: Vector) -> tuple[Any, ...]:
        parts = split(self._sizes, xi)
        return tuple(getattr(H, method)(part) for H, part in zip(self.factors, parts, strict=True))


@restored.register
def _(group: ProductGroup, g: Point) -> Point:
    return tuple(restored(H, part) for H, part in zip(group.factors, g, strict=True))
