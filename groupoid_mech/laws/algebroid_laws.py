"""Laws of Lie algebroids: brackets of sections, the anchor, and the invariant fields of a groupoid. MMS §2.1."""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._types import Function, Point, Scalar, Vector
from groupoid_mech.algebroids.algebroid import LieAlgebroid, Section
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.laws.groupoid_kinds import A_POINT_OF_THE_BASE, A_SECTION, AN_ARROW, OnGroupoid
from groupoid_mech.laws.kinds import A_FUNCTION, OnBase
from groupoid_mech.laws.law import Law, gap
from groupoid_mech.manifolds.calculus import differential, lie_bracket


@final
class Scaled(eqx.Module):
    """The section f X."""

    f: Function
    X: Section

    def __call__(self, q: Point) -> Vector:
        return self.f(q) * self.X(q)


@final
class LeftField(eqx.Module):
    """The left-invariant vector field of a section."""

    groupoid: LieGroupoid
    X: Section

    def __call__(self, g: Point) -> Vector:
        return self.groupoid.left_field(g, self.X(self.groupoid.target(g)))


@final
class RightField(eqx.Module):
    """The right-invariant vector field of a section."""

    groupoid: LieGroupoid
    X: Section

    def __call__(self, g: Point) -> Vector:
        return self.groupoid.right_field(g, self.X(self.groupoid.source(g)))


def cyclic(f: Callable[..., Any], x: Any, y: Any, z: Any) -> Any:
    """The values f(x, y, z), f(y, z, x), f(z, x, y) for objects of one kind, stacked: compiled once for all three."""
    turns = [jax.tree.map(lambda *leaves: jnp.stack(leaves), *turn) for turn in ((x, y, z), (y, z, x), (z, x, y))]
    return eqx.filter_vmap(f)(*turns)


def _bracket_antisymmetric(A: LieAlgebroid, q: Point, X: Section, Y: Section) -> Scalar:
    return gap(A.bracket(X, Y)(q), -A.bracket(Y, X)(q))


def _bracket_leibniz(A: LieAlgebroid, q: Point, X: Section, Y: Section, f: Function) -> Scalar:
    along = differential(A.base, f, q) @ A.anchor_field(X)(q)
    return gap(A.bracket(X, Scaled(f, Y))(q), f(q) * A.bracket(X, Y)(q) + along * Y(q))


def _bracket_jacobi(A: LieAlgebroid, q: Point, X: Section, Y: Section, Z: Section) -> Scalar:
    terms = cyclic(lambda U, V, W: A.bracket(U, A.bracket(V, W))(q), X, Y, Z)
    return gap(terms[0] + terms[1], -terms[2])


def _anchor_homomorphism(A: LieAlgebroid, q: Point, X: Section, Y: Section) -> Scalar:
    fields = lie_bracket(A.base, A.anchor_field(X), A.anchor_field(Y))
    return gap(A.anchor(q) @ A.bracket(X, Y)(q), fields(q))


def _left_fields(A: GroupoidAlgebroid, chain: tuple[Point, ...], X: Section, Y: Section) -> Scalar:
    (g,) = chain
    G = A.groupoid
    fields = lie_bracket(G.space, LeftField(G, X), LeftField(G, Y))
    return gap(LeftField(G, A.bracket(X, Y))(g), fields(g))


def _right_fields(A: GroupoidAlgebroid, chain: tuple[Point, ...], X: Section, Y: Section) -> Scalar:
    (g,) = chain
    G = A.groupoid
    fields = lie_bracket(G.space, RightField(G, X), RightField(G, Y))
    return gap(RightField(G, A.bracket(X, Y))(g), -fields(g))


_Q, _X, _F, _G = A_POINT_OF_THE_BASE, A_SECTION, OnBase(A_FUNCTION), OnGroupoid(AN_ARROW)
_TOLERANCE = 1e-11

ALGEBROID_LAWS: tuple[Law, ...] = (
    Law(
        "algebroid_antisymmetric",
        "[[X, Y]] = −[[Y, X]]",
        "MMS Def. 2.7",
        LieAlgebroid,
        (_Q, _X, _X),
        _bracket_antisymmetric,
    ),
    Law(
        "algebroid_leibniz",
        "[[X, f Y]] = f [[X, Y]] + ρ(X)[f] Y",
        "MMS Def. 2.7",
        LieAlgebroid,
        (_Q, _X, _X, _F),
        _bracket_leibniz,
        _TOLERANCE,
    ),
    Law(
        "algebroid_jacobi",
        "[[X, [[Y, Z]]]] + [[Y, [[Z, X]]]] + [[Z, [[X, Y]]]] = 0",
        "MMS Def. 2.7",
        LieAlgebroid,
        (_Q, _X, _X, _X),
        _bracket_jacobi,
        _TOLERANCE,
    ),
    Law(
        "anchor_homomorphism",
        "ρ([[X, Y]]) = [ρ(X), ρ(Y)]",
        "MMS Rem. 2.8",
        LieAlgebroid,
        (_Q, _X, _X),
        _anchor_homomorphism,
        _TOLERANCE,
    ),
    Law(
        "left_fields_bracket",
        "←[[X, Y]] = [←X, ←Y]",
        "MMS Def. 2.9",
        GroupoidAlgebroid,
        (_G, _X, _X),
        _left_fields,
        _TOLERANCE,
    ),
    Law(
        "right_fields_bracket",
        "→[[X, Y]] = −[→X, →Y]",
        "MMS Rem. 2.10",
        GroupoidAlgebroid,
        (_G, _X, _X),
        _right_fields,
        _TOLERANCE,
    ),
)
