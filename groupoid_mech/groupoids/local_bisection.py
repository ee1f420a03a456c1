r"""A local bisection through any arrow, and the tangent of multiplication that it gives.

Convention: the bisection is :math:`b(\xi) = \operatorname{retract}(g, E\xi)` with directions :math:`E` transverse to both the
source and the target fibre; its sections are found by Newton's method. MMS A.1, Theorem A.1.
"""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import is_concrete, require_finite, require_instances, require_like
from groupoid_mech._types import Matrix, Point, Vector
from groupoid_mech.errors import NotTransverseError
from groupoid_mech.groupoids.bisection import Bisection
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import right_inverse
from groupoid_mech.numerics.newton import newton_root

SINGULAR = 1e-10


@final
class LocalBisection(Bisection):
    r"""A local bisection :math:`\{\operatorname{retract}(g, E\xi)\}` through the arrow :math:`g`.

    .. math:: B_\alpha(q) = \operatorname{retract}(g, E\xi), \; \alpha(\operatorname{retract}(g, E\xi)) = q, \qquad
        B_\beta(q) = \operatorname{retract}(g, E\eta), \; \beta(\operatorname{retract}(g, E\eta)) = q .

    It exists through every arrow, and its sections near :math:`\alpha(g)` and :math:`\beta(g)`.

    Args:
        groupoid: The groupoid :math:`G`.
        arrow: The arrow :math:`g`.
        directions: The columns of :math:`E`, one for each dimension of the base, in the frame of ``groupoid.space`` at
            :math:`g`; chosen by `transverse_directions` if not given.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> B = LocalBisection(PairGroupoid(Euclidean(1)), (jnp.zeros(1), jnp.ones(1)))
        >>> B.base_map(jnp.array([0.25])).round(12)
        Array([1.25], dtype=float64)
    """

    groupoid: LieGroupoid
    arrow: Point
    directions: Matrix

    def __init__(self, groupoid: LieGroupoid, arrow: Point, directions: Matrix | None = None):
        require_instances("LocalBisection", "groupoid", (groupoid,), LieGroupoid)
        groupoid.check_arrow(arrow, owner="LocalBisection", name="arrow")
        self.groupoid = groupoid
        self.arrow = arrow
        self.directions = _transverse_directions(groupoid, arrow) if directions is None else directions
        shape = jax.ShapeDtypeStruct((groupoid.space.dim, groupoid.base.dim), np.dtype(float))
        require_like("LocalBisection", "directions", self.directions, shape)
        require_finite("LocalBisection", "directions", self.directions)
        if is_concrete((groupoid, arrow, directions)):
            _require_transverse(self)

    def at_source(self, q: Point) -> Point:
        return _arrow_with_end(self, "source", q)

    def at_target(self, q: Point) -> Point:
        return _arrow_with_end(self, "target", q)


@eqx.filter_jit  # one trace serves all local bisections of a groupoid: most of the cost is tracing
def _arrow_with_end(B: LocalBisection, end: str, q: Point) -> Point:
    G = B.groupoid

    def arrow(xi: Vector) -> Point:
        return G.space.retract(B.arrow, B.directions @ xi)

    return arrow(root_on_base(G.base, lambda xi: getattr(G, end)(arrow(xi)), q))


def root_on_base(base: Manifold, f: Callable[[Vector], Point], q: Point) -> Vector:
    r"""The coordinates :math:`\xi` near 0 with :math:`f(\xi) = q`; NaN where Newton's method finds none."""
    if base.dim == 0:
        return jnp.zeros(0)
    return newton_root(lambda xi: base.local(q, f(xi)), jnp.zeros(base.dim))


def transverse_directions(G: LieGroupoid, g: Point) -> Matrix:
    r"""Directions :math:`E = \cos t\,A^+ + \sin t\,B^+` at ``g`` that both :math:`A = T_g\alpha` and :math:`B = T_g\beta` map one-to-one.

    :math:`\det(AE)` and :math:`\det(BE)` are homogeneous polynomials of degree :math:`d = \dim Q` in
    :math:`(\cos t, \sin t)`, neither of them zero: at most :math:`2d` values of t in a half turn fail. Of :math:`4d` values the one
    with the largest smallest singular value is taken.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> transverse_directions(PairGroupoid(Euclidean(1)), (jnp.zeros(1), jnp.ones(1))).round(3)
        Array([[0.707],
               [0.707]], dtype=float64)
    """
    require_instances("transverse_directions", "G", (G,), LieGroupoid)
    G.check_arrow(g, owner="transverse_directions")
    return _transverse_directions(G, g)


@eqx.filter_jit
def _transverse_directions(G: LieGroupoid, g: Point) -> Matrix:
    d = G.base.dim
    if d == 0:
        return jnp.zeros((G.space.dim, 0))
    A, B = G.tangent_source(g), G.tangent_target(g)
    lifts = jnp.stack([right_inverse(A), right_inverse(B)])
    angles = jnp.arange(4 * d) * (jnp.pi / (4 * d))
    mixtures = jnp.stack([jnp.cos(angles), jnp.sin(angles)], axis=1)
    images = jnp.einsum("ti,kmn,inj->tkmj", mixtures, jnp.stack([A, B]), lifts)
    # Only the choice depends on the singular values, so they are not differentiated.
    sizes = jnp.linalg.svd(jax.lax.stop_gradient(images), compute_uv=False)
    best = mixtures[jnp.argmax(jnp.min(sizes, axis=(1, 2)))]
    return jnp.tensordot(best, lifts, axes=1)


def tangent_multiply_by_bisections(
    G: LieGroupoid,
    g: Point,
    h: Point,
    v: Vector,
    w: Vector,
    *,
    bisections: tuple[Bisection, Bisection] | None = None,
) -> Vector:
    r"""The tangent of multiplication by bisections :math:`B_1 \ni g`, :math:`B_2 \ni h`; MMS Theorem A.1.

    .. math:: T_{(g,h)}m\,(v, w) = T_g r_{B_2}(v) + T_h \ell_{B_1}(w) - T_q(\ell_{B_1}\circ r_{B_2}\circ\epsilon)(v_q), \qquad
        v_q = T_g\beta(v) = T_h\alpha(w) .

    It equals ``G.tangent_multiply(g, h, v, w)``, whatever the bisections.

    Args:
        G: The groupoid.
        g: The first arrow.
        h: The second arrow, with :math:`\beta(g) = \alpha(h)`.
        v: A tangent vector at ``g``, in the frame of ``G.space``.
        w: A tangent vector at ``h``, with :math:`T\beta\,v = T\alpha\,w`.
        bisections: :math:`B_1` and :math:`B_2`; two `LocalBisection` if not given.

    Example:
        >>> from groupoid_mech import GroupGroupoid, Translations
        >>> G = GroupGroupoid(Translations(1))
        >>> tangent_multiply_by_bisections(G, jnp.zeros(1), jnp.ones(1), jnp.array([2.0]), jnp.array([3.0]))
        Array([5.], dtype=float64)
    """
    require_instances("tangent_multiply_by_bisections", "G", (G,), LieGroupoid)
    for name, arrow, vector in (("v", g, v), ("w", h, w)):
        G.check_arrow(arrow, owner="tangent_multiply_by_bisections", name="g" if name == "v" else "h")
        G.space.check_vector(vector, owner="tangent_multiply_by_bisections", name=name)
    G.check_composable(g, h)
    if bisections is None:
        bisections = LocalBisection(G, g), LocalBisection(G, h)
    require_instances("tangent_multiply_by_bisections", "bisections", bisections, Bisection)
    return _tangent_multiply(G, bisections, (g, h), (v, w))


@eqx.filter_jit
def _tangent_multiply(
    G: LieGroupoid, bisections: tuple[Bisection, Bisection], arrows: tuple[Point, Point], vectors: tuple[Vector, Vector]
) -> Vector:
    (B1, B2), (g, h), (v, w) = bisections, arrows, vectors
    q = G.target(g)
    v_q = G.base.to_ambient(q, G.tangent_target(g) @ v)
    along_g = jax.jvp(B2.right, (g,), (G.space.to_ambient(g, v),))[1]
    along_h = jax.jvp(B1.left, (h,), (G.space.to_ambient(h, w),))[1]
    along_q = jax.jvp(lambda x: B1.left(B2.right(G.unit(x))), (q,), (v_q,))[1]
    moved = jax.tree.map(lambda a, b, c: a + b - c, along_g, along_h, along_q)
    return G.space.from_ambient(G.multiply(g, h), moved)


def _require_transverse(B: LocalBisection) -> None:
    sizes = [np.asarray(value) for value in _singular_values(B)]
    if not all(np.all(size > SINGULAR * np.max(size, initial=1.0)) for size in sizes):
        raise NotTransverseError(
            f"LocalBisection needs directions that the tangents of source and target both map one-to-one; the singular "
            f"values of Tα E are {sizes[0]}, those of Tβ E {sizes[1]}. Leave directions out to have them chosen, or add to "
            f"them what moves the end that stays."
        )


@eqx.filter_jit
def _singular_values(B: LocalBisection) -> tuple[Vector, Vector]:
    G = B.groupoid
    if G.base.dim == 0:
        return jnp.zeros(0), jnp.zeros(0)
    tangents = G.tangent_source(B.arrow) @ B.directions, G.tangent_target(B.arrow) @ B.directions
    return jnp.linalg.svd(tangents[0], compute_uv=False), jnp.linalg.svd(tangents[1], compute_uv=False)
