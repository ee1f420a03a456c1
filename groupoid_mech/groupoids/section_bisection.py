r"""Bisections given by one section, and those that have a name of their own: diffeomorphisms and group elements.

Convention: the section given is the α-section :math:`B_\alpha`; the β-section is found by Newton's method on the base. MMS A.1.
"""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    is_concrete,
    name_of,
    require_instances,
    same_structure,
    traced_shape,
)
from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, NotTransverseError
from groupoid_mech.groupoids.bisection import Bisection
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.groupoids.local_bisection import SINGULAR, root_on_base
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.drawn_points import a_few_points
from groupoid_mech.manifolds.manifold import ON_MANIFOLD


@final
class SectionBisection(Bisection):
    r"""The bisection :math:`B = \sigma(Q)` of an α-section :math:`\sigma: Q \to G` with :math:`\beta\circ\sigma` a diffeomorphism.

    .. math:: B_\alpha = \sigma, \qquad B_\beta = \sigma \circ (\beta\circ\sigma)^{-1} .

    The inverse of :math:`\beta\circ\sigma` is found by Newton's method, from the point itself or from ``inverse``, and differentiated by
    the implicit function theorem. On drawn points the construction checks that σ is a section and β∘σ a local
    diffeomorphism; that β∘σ is one-to-one is the user's to know.

    Args:
        groupoid: The groupoid :math:`G`.
        section: The map :math:`\sigma`.
        inverse: The inverse of :math:`\beta\circ\sigma`, or a rough one: where Newton's method starts. Give it for base
            maps that move points far.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> B = SectionBisection(PairGroupoid(Euclidean(1)), lambda q: (q, q + 0.25 * jnp.sin(q)))
        >>> B.base_map(B.inverse_base_map(jnp.ones(1))).round(12)
        Array([1.], dtype=float64)
    """

    groupoid: LieGroupoid
    section: Callable[[Point], Point]
    inverse: Callable[[Point], Point] | None

    def __init__(
        self,
        groupoid: LieGroupoid,
        section: Callable[[Point], Point],
        inverse: Callable[[Point], Point] | None = None,
    ):
        require_instances("SectionBisection", "groupoid", (groupoid,), LieGroupoid)
        self.groupoid = groupoid
        self.section = as_pytree(section)
        self.inverse = None if inverse is None else as_pytree(inverse)
        _require_values(section, groupoid, groupoid.space.point_like(), "an arrow")
        if inverse is not None:
            _require_values(inverse, groupoid, groupoid.base.point_like(), "a base point")
        if is_concrete((groupoid, section)):
            _require_section(self)

    def at_source(self, q: Point) -> Point:
        return self.section(q)

    def at_target(self, q: Point) -> Point:
        start = q if self.inverse is None else self.inverse(q)
        base = self.groupoid.base

        def arrow(xi: Vector) -> Point:
            return self.section(base.retract(start, xi))

        return arrow(root_on_base(base, lambda xi: self.groupoid.target(arrow(xi)), q))


def bisection_of_diffeomorphism(
    G: PairGroupoid, f: Callable[[Point], Point], inverse: Callable[[Point], Point] | None = None
) -> SectionBisection:
    r"""The bisection :math:`q \mapsto (q, f(q))` of a pair groupoid: its bisections are the diffeomorphisms of the base.

    .. math:: \ell_B(q_0, q_1) = (f^{-1}(q_0), q_1), \qquad r_B(q_0, q_1) = (q_0, f(q_1)) .

    Args:
        G: The pair groupoid of Q.
        f: The diffeomorphism of Q.
        inverse: Its inverse, if known, or a rough one.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> B = bisection_of_diffeomorphism(PairGroupoid(Euclidean(1)), lambda q: 2 * q)
        >>> B.right((jnp.zeros(1), jnp.ones(1)))
        (Array([0.], dtype=float64), Array([2.], dtype=float64))
    """
    require_instances("bisection_of_diffeomorphism", "G", (G,), PairGroupoid)
    _require_values(f, G, G.base.point_like(), "a base point")
    return SectionBisection(G, _Graph(as_pytree(f)), inverse)


def bisection_of_element(G: GroupGroupoid, h: Point) -> SectionBisection:
    r"""The bisection :math:`\{h\}` of a Lie group: its bisections are its elements, acting by left and right translation.

    Args:
        G: The groupoid of a Lie group.
        h: The group element.

    Example:
        >>> from groupoid_mech import GroupGroupoid, Translations
        >>> bisection_of_element(GroupGroupoid(Translations(1)), jnp.ones(1)).left(jnp.array([2.0]))
        Array([3.], dtype=float64)
    """
    require_instances("bisection_of_element", "G", (G,), GroupGroupoid)
    G.check_arrow(h, owner="bisection_of_element", name="h")
    return SectionBisection(G, _Constant(h))


@final
class _Graph(eqx.Module):
    """The map q ↦ (q, f(q))."""

    map: Callable[[Point], Point]

    def __call__(self, q: Point) -> Point:
        return q, self.map(q)


@final
class _Constant(eqx.Module):
    """The map with one value."""

    value: Point

    def __call__(self, q: Point) -> Point:
        return self.value


def _require_values(f: Callable[[Point], Point], G: LieGroupoid, expected: Point, what: str) -> None:
    shape = traced_shape(f, G.base.point_like())
    fits = same_structure(shape, expected) and all(
        got.shape == want.shape for got, want in zip(jax.tree.leaves(shape), jax.tree.leaves(expected), strict=True)
    )
    if not fits:
        raise ArgumentError(
            f"SectionBisection needs {name_of(f)}(q) to be {what} of {type(G).__name__}, {describe(expected)}; "
            f"it returns {describe(shape)}."
        )


def _require_section(B: SectionBisection) -> None:
    points = a_few_points(B.groupoid.base)
    off, gap, slopes = (np.asarray(value) for value in _section_defects(B, points))
    owner = f"SectionBisection needs {name_of(B.section)}"
    if not np.max(off) <= ON_MANIFOLD:
        raise ArgumentError(f"{owner}(q) on the groupoid; on a drawn point it is off by {np.max(off):.3g}.")
    if not np.max(gap) <= ON_MANIFOLD:
        raise ArgumentError(
            f"{owner} to be a section of the source map, source({name_of(B.section)}(q)) == q; on a drawn point the gap is "
            f"{np.max(gap):.3g}. A section of the target map gives InverseBisection of q ↦ its inverse arrow."
        )
    worst = slopes[np.argmin(np.min(slopes, axis=1, initial=np.inf))]
    if not np.all(worst > SINGULAR):
        raise NotTransverseError(
            f"{owner} transverse to the target fibres: the tangent of q ↦ target({name_of(B.section)}(q)) has singular values "
            f"{worst} at a drawn point. Its base map must be a diffeomorphism; for an arrow's neighbourhood use LocalBisection."
        )


@eqx.filter_jit
def _section_defects(B: SectionBisection, points: Point) -> tuple[Scalar, Scalar, Vector]:
    base, space = B.groupoid.base, B.groupoid.space

    def defects(q: Point) -> tuple[Scalar, Scalar, Vector]:
        end = B.base_map(q)

        def slope(v: Vector) -> Vector:
            return base.from_ambient(end, jax.jvp(B.base_map, (q,), (base.to_ambient(q, v),))[1])

        g = B.section(q)
        slopes = jnp.zeros(0) if base.dim == 0 else jnp.linalg.svd(jax.vmap(slope)(jnp.eye(base.dim)), compute_uv=False)
        return space.violation(g), point_distance(B.groupoid.source(g), q), slopes

    return jax.vmap(defects)(points)
