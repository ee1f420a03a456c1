r"""The abstract Lie groupoid: structure maps, one fibre chart, and what follows from them.

Convention: arrows compose left to right, ``multiply(g, h)`` needs ``target(g) = source(h)``; the fibres of the algebroid are
:math:`A_qG = \ker T_{\epsilon(q)}\alpha`, with the frame that ``fiber_chart`` gives. MMS §2.1.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import checked, guard, is_concrete, require_vector
from groupoid_mech._types import Matrix, Point, Scalar, Vector
from groupoid_mech.errors import NotComposableError
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold
from groupoid_mech.numerics.matrix import unit_matrix


class LieGroupoid(eqx.Module):
    r"""A Lie groupoid :math:`G \rightrightarrows Q`.

    .. math:: \alpha, \beta: G \to Q, \qquad (g, h) \mapsto g h \text{ where } \beta(g) = \alpha(h), \qquad
        \epsilon: Q \to G, \qquad g \mapsto g^{-1}, \qquad c(q, \cdot): R^{\mathrm{rank}} \to \alpha^{-1}(q),\;
        c(q, 0) = \epsilon(q) .

    Subclasses give the manifolds ``base`` and ``space``, the ``rank`` of the algebroid and the seven methods below;
    everything else is derived from them, once, for every groupoid. Methods are written for one arrow and batched with
    ``jax.vmap``. Called outside of ``jit`` they check that arrows lie on the groupoid and compose.
    """

    base: eqx.AbstractVar[Manifold]
    space: eqx.AbstractVar[Manifold]
    rank: eqx.AbstractVar[int]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(
            cls,
            {
                "source": ("arrow",),
                "target": ("arrow",),
                "inverse": ("arrow",),
                "unit": ("point",),
                "multiply": ("arrow", "arrow"),
                "fiber_chart": ("point", "algebroid_vector"),
                "fiber_local": ("point", "arrow"),
            },
            conditions={"multiply": "check_composable", "fiber_local": "check_source"},
        )

    @abstractmethod
    def source(self, g: Point) -> Point:
        r"""The source :math:`\alpha(g)`."""

    @abstractmethod
    def target(self, g: Point) -> Point:
        r"""The target :math:`\beta(g)`."""

    @abstractmethod
    def unit(self, q: Point) -> Point:
        r"""The identity arrow :math:`\epsilon(q)`."""

    @abstractmethod
    def inverse(self, g: Point) -> Point:
        r"""The inverse arrow :math:`g^{-1}`."""

    @abstractmethod
    def multiply(self, g: Point, h: Point) -> Point:
        r"""The product :math:`g h` of arrows with :math:`\beta(g) = \alpha(h)`."""

    @abstractmethod
    def fiber_chart(self, q: Point, a: Vector) -> Point:
        r"""The arrow :math:`c(q, a) \in \alpha^{-1}(q)`, with :math:`c(q, 0) = \epsilon(q)`; its derivative at 0 is the frame of :math:`A_qG`."""

    @abstractmethod
    def fiber_local(self, q: Point, g: Point) -> Vector:
        r"""The coordinates of an arrow with source ``q``: the inverse of ``fiber_chart(q, ·)`` near the unit."""

    @checked("point")
    def anchor(self, q: Point) -> Matrix:
        r"""The matrix of the anchor :math:`\rho(q) = D_a\,\beta(c(q, a))|_{a=0}: A_qG \to T_qQ`."""
        return _columns(
            lambda a: self.base.from_ambient(q, _push(lambda b: self.target(self.fiber_chart(q, b)), self._zero, a)),
            self.rank,
        )

    def left_translate(self, g: Point, h: Point) -> Point:
        r"""The left translation :math:`\ell_g(h) = g h`, from :math:`\alpha^{-1}(\beta(g))` to :math:`\alpha^{-1}(\alpha(g))`; MMS Def. 2.3."""
        return self.multiply(g, h)

    def right_translate(self, g: Point, h: Point) -> Point:
        r"""The right translation :math:`r_g(h) = h g`, from :math:`\beta^{-1}(\alpha(g))` to :math:`\beta^{-1}(\beta(g))`; MMS Def. 2.3."""
        return self.multiply(h, g)

    @checked("arrow", "algebroid_vector")
    def left_field(self, g: Point, a: Vector) -> Vector:
        r"""The left-invariant field :math:`\overleftarrow{a}(g) = \frac{d}{dt}\,g \cdot c(\beta(g), t a)`, tangent to the α-fibre; MMS (1)."""
        q = self.target(g)
        return self.space.from_ambient(g, _push(lambda b: self.multiply(g, self.fiber_chart(q, b)), self._zero, a))

    @checked("arrow", "algebroid_vector")
    def right_field(self, g: Point, a: Vector) -> Vector:
        r"""The right-invariant field :math:`\overrightarrow{a}(g) = -\frac{d}{dt}\,c(\alpha(g), t a)^{-1} g`, tangent to the β-fibre; MMS (2)."""
        q = self.source(g)
        moved = _push(lambda b: self.multiply(self.inverse(self.fiber_chart(q, b)), g), self._zero, a)
        return -self.space.from_ambient(g, moved)

    @checked("arrow")
    def left_frame(self, g: Point) -> Matrix:
        r"""The vectors :math:`\overleftarrow{e_a}(g)` as columns."""
        return _columns(lambda a: self.left_field(g, a), self.rank)

    @checked("arrow")
    def right_frame(self, g: Point) -> Matrix:
        r"""The vectors :math:`\overrightarrow{e_a}(g)` as columns."""
        return _columns(lambda a: self.right_field(g, a), self.rank)

    @checked("arrow")
    def tangent_source(self, g: Point) -> Matrix:
        r"""The matrix of :math:`T_g\alpha` in the frames of space and base."""
        return self._tangent("source", self.space, self.base, g)

    @checked("arrow")
    def tangent_target(self, g: Point) -> Matrix:
        r"""The matrix of :math:`T_g\beta` in the frames of space and base."""
        return self._tangent("target", self.space, self.base, g)

    @checked("point")
    def tangent_unit(self, q: Point) -> Matrix:
        r"""The matrix of :math:`T_q\epsilon` in the frames of base and space."""
        return self._tangent("unit", self.base, self.space, q)

    @checked("arrow")
    def tangent_inverse(self, g: Point) -> Matrix:
        r"""The matrix of the tangent of inversion at ``g``. At units it is :math:`-v + T(\epsilon\circ\beta)v` on the algebroid, MMS (3)."""
        return self._tangent("inverse", self.space, self.space, g)

    @checked("arrow", "arrow", "tangent_vector", "tangent_vector", condition="check_composable_vectors")
    def tangent_multiply(self, g: Point, h: Point, v: Vector, w: Vector) -> Vector:
        r"""The tangent :math:`T_{(g,h)}m\,(v, w)` of multiplication, for composable vectors: :math:`T\beta\,v = T\alpha\,w`."""
        vectors = self.space.to_ambient(g, v), self.space.to_ambient(h, w)
        product, moved = jax.jvp(self.multiply, (g, h), vectors)
        return self.space.from_ambient(product, moved)

    @checked("point", "tangent_vector")
    def algebroid_coordinates(self, q: Point, v: Vector) -> Vector:
        r"""The coordinates in :math:`A_qG` of an α-vertical vector ``v`` at the unit of ``q``."""
        unit = self.unit(q)
        return jax.jvp(lambda g: self.fiber_local(q, g), (unit,), (self.space.to_ambient(unit, v),))[1]

    @checked("point")
    def algebroid_projection(self, q: Point) -> Matrix:
        r"""The matrix of :math:`\pi_q: T_{\epsilon(q)}G \to A_qG,\; v \mapsto v - T(\epsilon\circ\alpha)v`, MMS Theorem A.2."""
        unit = self.unit(q)
        vertical = unit_matrix(self.space.dim) - self.tangent_unit(q) @ self.tangent_source(unit)
        return jax.vmap(lambda v: self.algebroid_coordinates(q, v), in_axes=1, out_axes=1)(vertical)

    def gap(self, g: Point, h: Point) -> Scalar:
        r"""The distance in the base between :math:`\beta(g)` and :math:`\alpha(h)`: 0 for composable arrows."""
        return point_distance(self.target(g), self.source(h))

    def check_arrow(self, g: Point, *, owner: str = "", name: str = "g") -> None:
        """Raise an error that says what is wrong if ``g`` is not an arrow of this groupoid."""
        Manifold.check_point(self.space, g, owner=owner or f"{type(self).__name__}.check_arrow", name=name)

    def check_point(self, q: Point, *, owner: str = "", name: str = "q") -> None:
        """Raise an error that says what is wrong if ``q`` is not a point of the base."""
        Manifold.check_point(self.base, q, owner=owner or f"{type(self).__name__}.check_point", name=name)

    def check_algebroid_vector(self, a: Vector, *, owner: str = "", name: str = "a") -> None:
        """Raise an error that says what is wrong if ``a`` is not a coordinate vector of the algebroid."""
        require_vector(owner or f"{type(self).__name__}.check_algebroid_vector", name, a, self.rank)

    def check_tangent_vector(self, v: Vector, *, owner: str = "", name: str = "v") -> None:
        """Raise an error that says what is wrong if ``v`` is not a coordinate vector of the space of arrows."""
        require_vector(owner or f"{type(self).__name__}.check_tangent_vector", name, v, self.space.dim)

    def check_composable_vectors(self, g: Point, h: Point, v: Vector, w: Vector) -> None:
        """Raise an error with the gap if two concrete arrows do not compose, or tangent vectors there with Tβ v ≠ Tα w."""
        self.check_composable(g, h)
        if is_concrete((self, g, h, v, w)):
            distance = float(jnp.max(jnp.abs(self.tangent_target(g) @ v - self.tangent_source(h) @ w), initial=0.0))
            if not distance <= ON_MANIFOLD:
                raise NotComposableError(
                    f"{type(self).__name__}.tangent_multiply(g, h, v, w) needs Tβ v == Tα w (gap {distance:.3g}): "
                    f"the ends of the two arrows must move together."
                )

    def check_composable(self, g: Point, h: Point) -> None:
        """Raise an error with the gap if the product of two concrete arrows does not exist."""
        if is_concrete((self, g, h)):
            forward, backward = (float(value) for value in _gaps(self, g, h))
            if not forward <= ON_MANIFOLD:
                hint = "did you mean multiply(h, g)?" if backward <= ON_MANIFOLD else "their ends do not meet."
                raise NotComposableError(
                    f"{type(self).__name__}.multiply(g, h) needs target(g) == source(h) (gap {forward:.3g}); "
                    f"arrows compose left to right: {hint}"
                )

    def check_source(self, q: Point, g: Point) -> None:
        """Raise an error with the gap if the concrete arrow ``g`` does not start at ``q``."""
        if is_concrete((self, q, g)):
            distance = float(_source_distance(self, q, g))
            if not distance <= ON_MANIFOLD:
                raise NotComposableError(
                    f"{type(self).__name__}.fiber_local(q, g) needs source(g) == q (gap {distance:.3g}). "
                    f"Give q = source(g)."
                )

    @property
    def _zero(self) -> Vector:
        return jnp.zeros(self.rank)

    def _tangent(self, name: str, domain: Manifold, codomain: Manifold, x: Point) -> Matrix:
        f = getattr(self, name)
        y = f(x)
        return _columns(lambda v: codomain.from_ambient(y, _push(f, x, domain.to_ambient(x, v))), domain.dim)


def _push(f: Any, x: Any, v: Any) -> Any:
    """The ambient derivative of f at x along v."""
    return jax.jvp(f, (x,), (v,))[1]


def _columns(linear: Any, size: int) -> Matrix:
    """The matrix of a linear map on R^size."""
    return jax.vmap(linear, out_axes=1)(unit_matrix(size))


# A program of its own: outside of others it would be one for every operation.
@jax.jit
def point_distance(x: Point, y: Point) -> Scalar:
    """The largest difference between the ambient coordinates of two points."""
    gaps = [jnp.max(jnp.abs(a - b), initial=0.0) for a, b in zip(jax.tree.leaves(x), jax.tree.leaves(y), strict=True)]
    return jnp.max(jnp.stack(gaps))


@eqx.filter_jit
def _gaps(G: LieGroupoid, g: Point, h: Point) -> tuple[Scalar, Scalar]:
    return G.gap(g, h), G.gap(h, g)


@eqx.filter_jit
def _source_distance(G: LieGroupoid, q: Point, g: Point) -> Scalar:
    return point_distance(G.source(g), q)
