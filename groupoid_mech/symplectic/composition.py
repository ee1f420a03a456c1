r"""The composition of two immersed relations, near a pair of parameters at which their middle points agree.

Convention: relations compose left to right, ``compose_relations(first, second, u, v)`` goes first along ``first``; the parameters
of the composition are coordinates in the kernel of the difference of the two middle tangents. BM §6.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import is_concrete, require_instances, same_structure
from groupoid_mech._types import Matrix, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, NotComposableError, NotTransverseError
from groupoid_mech.manifolds.calculus import push_forward
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.single_point import SinglePoint
from groupoid_mech.numerics.matrix import complement, matvec
from groupoid_mech.numerics.newton import newton_root
from groupoid_mech.symplectic.immersion import Immersion
from groupoid_mech.symplectic.symplectic_space import TOLERANCE

_OWNER = "compose_relations"


def compose_relations(first: Immersion, second: Immersion, u: Point, v: Point) -> Immersion:
    r"""The composition :math:`\Sigma_1;\Sigma_2 = \{(x, z) : (x, y) \in \Sigma_1,\, (y, z) \in \Sigma_2 \text{ for some } y\}`.

    .. math:: w \mapsto (x(u'), z(v')), \qquad (u', v') = \operatorname{retract}((u, v), K w + A^T c(w)), \qquad y_1(u') = y_2(v'),

    with the difference :math:`A = (-T_uy_1, T_vy_2)` of the middle tangents, an orthonormal basis :math:`K` of its kernel, and
    :math:`c(w)` found by Newton's method. It is the part near :math:`w = 0` of the composition of
    :math:`\Sigma_1 \subset P_1 \times P_2` and :math:`\Sigma_2 \subset P_2 \times P_3`, a submanifold of :math:`P_1 \times P_3` of dimension
    :math:`\dim\Sigma_1 + \dim\Sigma_2 - \dim P_2`. The pair must be transverse: A of rank :math:`\dim P_2`, else
    ``NotTransverseError`` is raised (NaN under ``jit``). The composition of Lagrangian relations is then Lagrangian.

    Args:
        first: The relation :math:`\Sigma_1`.
        second: The relation :math:`\Sigma_2`.
        u: A parameter of the first relation.
        v: A parameter of the second one, with the same middle point: :math:`y_1(u) = y_2(v)`.

    Example:
        >>> from groupoid_mech import Euclidean, map_graph
        >>> line = Euclidean(1)
        >>> square, double = map_graph(line, line, lambda x: x**2), map_graph(line, line, lambda x: 2 * x)
        >>> both = compose_relations(square, double, jnp.array([3.0]), jnp.array([9.0]))
        >>> both(jnp.zeros(1))
        (Array([3.], dtype=float64), Array([18.], dtype=float64))
    """
    require_instances(_OWNER, "first", (first,), Immersion)
    require_instances(_OWNER, "second", (second,), Immersion)
    (start, middle), (middle_again, end) = first.two_factors(_OWNER), second.two_factors(_OWNER)
    if not same_structure(middle, middle_again):
        raise ArgumentError(
            f"{_OWNER} needs a second relation that starts where the first ends, on {middle}; it starts on {middle_again}."
        )
    first.parameters.check_point(u, owner=_OWNER, name="u")
    second.parameters.check_point(v, owner=_OWNER, name="v")
    free = first.parameters.dim + second.parameters.dim - middle.dim
    if is_concrete((first, second, u, v)):
        _require_matching(first, second, u, v, middle)
    elif free < 0:
        raise NotTransverseError(_not_transverse(free + middle.dim, middle))
    A = _middle_difference(first, second, u, v)
    parameters: Manifold = Euclidean(free) if free else SinglePoint()
    return Immersion(parameters, ProductManifold(start, end), MatchedPairs(first, second, (u, v), complement(A.T), A.T))


@final
class MatchedPairs(eqx.Module):
    r"""The map :math:`w \mapsto (x(u'), z(v'))` of `compose_relations`, with the pairs :math:`(u', v')` that it goes through."""

    first: Immersion
    second: Immersion
    centre: tuple[Point, Point]
    kernel: Matrix
    normals: Matrix

    def __call__(self, w: Vector) -> Point:
        u, v = self.pair(w)
        return self.first(u)[0], self.second(v)[1]

    def pair(self, w: Vector) -> tuple[Point, Point]:
        r"""The parameters :math:`(u', v')` of the two relations: their middle points agree."""
        return _matched_pair(self, w)

    def coordinates(self, u: Point, v: Point) -> Vector:
        r"""The coordinates :math:`w = K^T \operatorname{local}((u, v), (u', v'))` of a pair near the given one: the inverse of ``pair``."""
        return matvec(self.kernel.T, self._parameters().local(self.centre, (u, v)))

    def _parameters(self) -> ProductManifold:
        return ProductManifold(self.first.parameters, self.second.parameters)

    def _middle(self) -> Manifold:
        return self.second.two_factors(_OWNER)[0]


@eqx.filter_jit
def _matched_pair(pairs: MatchedPairs, w: Vector) -> tuple[Point, Point]:
    S, M = pairs._parameters(), pairs._middle()
    centre = pairs.first(pairs.centre[0])[1]

    def pair(c: Vector) -> tuple[Point, Point]:
        return S.retract(pairs.centre, matvec(pairs.kernel, w) + matvec(pairs.normals, c))

    def gap(c: Vector) -> Vector:
        # Both in coordinates at one point, so that no frame is differentiated.
        u, v = pair(c)
        ends = jax.tree.map(lambda *ends: jnp.stack(ends), pairs.first(u)[1], pairs.second(v)[0])
        xi = jax.vmap(lambda y: M.local(centre, y))(ends)
        return xi[1] - xi[0]

    return pair(newton_root(gap, jnp.zeros(M.dim)) if M.dim else jnp.zeros(0))


@eqx.filter_jit
def _middle_difference(first: Immersion, second: Immersion, u: Point, v: Point) -> Matrix:
    (_, middle), (middle_again, _) = first.two_factors(_OWNER), second.two_factors(_OWNER)
    to_middle = push_forward(first.parameters, middle, lambda s: first(s)[1], u)
    from_middle = push_forward(second.parameters, middle_again, lambda s: second(s)[0], v)
    return jnp.concatenate([-to_middle, from_middle], axis=1)


@eqx.filter_jit
def _middle_gap(first: Immersion, second: Immersion, u: Point, v: Point) -> Scalar:
    leaves = zip(jax.tree.leaves(first(u)[1]), jax.tree.leaves(second(v)[0]), strict=True)
    return jnp.max(jnp.stack([jnp.max(jnp.abs(a - b), initial=0.0) for a, b in leaves]))


def _require_matching(first: Immersion, second: Immersion, u: Point, v: Point, middle: Manifold) -> None:
    gap = float(_middle_gap(first, second, u, v))
    if not gap <= ON_MANIFOLD:
        raise NotComposableError(
            f"{_OWNER} needs parameters with the same middle point, first(u)[1] == second(v)[0] (gap {gap:.3g}). "
            f"Solve for one of them, or take the point that both relations have in common."
        )
    values = np.linalg.svd(np.asarray(_middle_difference(first, second, u, v)), compute_uv=False)
    rank = int(np.sum(values > TOLERANCE * np.max(values, initial=1.0)))
    if rank < middle.dim:
        raise NotTransverseError(_not_transverse(rank, middle))


def _not_transverse(rank: int, middle: Manifold) -> str:
    return (
        f"{_OWNER} needs relations that meet transversally: the two middle tangents must span the {middle.dim} dimensions "
        f"of the middle manifold; they span {rank}. Take another pair of parameters, or compose with what both relations "
        f"reach of the middle. The tangent relations compose all the same: first.relation(u).then(second.relation(v))."
    )
