r"""The abstract Lie algebroid: an anchor, structure functions, and the bracket of sections that follows.

Convention: a section is a callable q ↦ coordinates in the frame :math:`e_a(q)` of the fibre; ``structure(q)[c, a, b]`` is
:math:`C^c_{ab}` in :math:`[\![e_a, e_b]\!] = C^c_{ab}\,e_c`, the order of ``calculus.structure_functions``. MMS Def. 2.7.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    guard,
    name_of,
    require_like,
    require_vector,
    same_structure,
    traced_shape,
)
from groupoid_mech._types import Array, Matrix, Point, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.calculus import directional_derivative
from groupoid_mech.manifolds.manifold import Manifold

Section: TypeAlias = Callable[[Point], Vector]


class LieAlgebroid(eqx.Module):
    r"""A Lie algebroid :math:`A \to Q` with anchor :math:`\rho: A \to TQ`, in a frame :math:`e_1, \dots, e_r` of its fibres.

    .. math:: [\![X, Y]\!]^c = \rho(X)[Y^c] - \rho(Y)[X^c] + C^c_{ab} X^a Y^b, \qquad
        [\![X, f Y]\!] = f [\![X, Y]\!] + \rho(X)[f]\, Y .

    Subclasses give the manifold ``base``, the ``rank`` and the two methods below. The frame may jump somewhere, as that of
    a sphere does: only its values near a point are differentiated.
    """

    base: eqx.AbstractVar[Manifold]
    rank: eqx.AbstractVar[int]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(cls, {"anchor": ("point",), "structure": ("point",)})

    @abstractmethod
    def anchor(self, q: Point) -> Matrix:
        r"""The matrix :math:`\rho^i_a(q)` of the anchor :math:`A_q \to T_qQ`, of shape ``(base.dim, rank)``."""

    @abstractmethod
    def structure(self, q: Point) -> Array:
        r"""The structure functions ``C[c, a, b]`` at ``q``, with :math:`[\![e_a, e_b]\!] = C^c_{ab}\,e_c`."""

    def bracket(self, X: Section, Y: Section) -> "SectionBracket":
        r"""The section :math:`[\![X, Y]\!]`."""
        owner = f"{type(self).__name__}.bracket"
        self.check_section(X, owner=owner, name="X")
        self.check_section(Y, owner=owner, name="Y")
        return SectionBracket(self, as_pytree(X), as_pytree(Y))

    def anchor_field(self, X: Section) -> "AnchorField":
        r"""The vector field :math:`\rho(X)` on the base."""
        self.check_section(X, owner=f"{type(self).__name__}.anchor_field", name="X")
        return AnchorField(self, as_pytree(X))

    def check_point(self, q: Point, *, owner: str = "", name: str = "q") -> None:
        """Raise an error that says what is wrong if ``q`` is not a point of the base."""
        self.base.check_point(q, owner=owner or f"{type(self).__name__}.check_point", name=name)

    def check_fiber_vector(self, a: Vector, *, owner: str = "", name: str = "a") -> None:
        """Raise an error that says what is wrong if ``a`` is not a coordinate vector of a fibre."""
        require_vector(owner or f"{type(self).__name__}.check_fiber_vector", name, a, self.rank)

    def check_section(self, X: Section, *, owner: str = "", name: str = "X") -> None:
        """Raise an error that says what is wrong if ``X`` is not a section: of another rank, or not traceable by JAX."""
        owner = owner or f"{type(self).__name__}.check_section"
        if isinstance(X, SectionBracket) and same_structure(X.algebroid, self):
            return  # tracing nested brackets again at each level would double the work every time
        if not callable(X):
            raise ArgumentError(
                f"{owner} needs the section {name} to be a function of the base point; got {describe(X)}. "
                f"A constant section is lambda q: jnp.array([...])."
            )
        shape = traced_shape(X, self.base.point_like())
        fits = isinstance(shape, jax.ShapeDtypeStruct) and shape.shape == (self.rank,)
        if not fits or shape.dtype != np.dtype(float):
            raise ArgumentError(
                f"{owner} needs {name}(q) to be a float vector of length {self.rank}, the rank of the algebroid; "
                f"{name_of(X)} returns {describe(shape)}."
            )


@final
class SectionBracket(eqx.Module):
    r"""The section :math:`[\![X, Y]\!]`."""

    algebroid: LieAlgebroid
    X: Section
    Y: Section

    def __call__(self, q: Point) -> Vector:
        self.algebroid.check_point(q, owner=f"{type(self.algebroid).__name__}.bracket")
        return _bracket(self.algebroid, self.X, self.Y, q)


@final
class AnchorField(eqx.Module):
    r"""The vector field :math:`\rho(X)`."""

    algebroid: LieAlgebroid
    X: Section

    def __call__(self, q: Point) -> Vector:
        self.algebroid.check_point(q, owner=f"{type(self.algebroid).__name__}.anchor_field")
        return _anchor_field(self.algebroid, self.X, q)


@eqx.filter_jit
def _bracket(A: LieAlgebroid, X: Section, Y: Section, q: Point) -> Vector:
    rho, C = _anchor(A, q), _structure(A, q)
    x, y = X(q), Y(q)
    along_X = directional_derivative(A.base, Y, q, rho @ x)
    along_Y = directional_derivative(A.base, X, q, rho @ y)
    return along_X - along_Y + jnp.einsum("cab,a,b->c", C, x, y)


@eqx.filter_jit
def _anchor_field(A: LieAlgebroid, X: Section, q: Point) -> Vector:
    return _anchor(A, q) @ X(q)


def _anchor(A: LieAlgebroid, q: Point) -> Matrix:
    return _shaped(A, "anchor", q, (A.base.dim, A.rank))


def _structure(A: LieAlgebroid, q: Point) -> Array:
    return _shaped(A, "structure", q, (A.rank, A.rank, A.rank))


def _shaped(A: LieAlgebroid, method: str, q: Point, shape: tuple[int, ...]) -> Array:
    """What an implementer's method returns, refused with its name if the shape is wrong."""
    value = getattr(A, method)(q)
    require_like(type(A).__name__, f"{method}(q)", value, jax.ShapeDtypeStruct(shape, np.dtype(float)))
    return value
