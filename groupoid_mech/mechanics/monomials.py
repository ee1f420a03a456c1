"""Monomials in the ambient coordinates of base points: a basis of functions and sections to search for symmetries in."""

import itertools
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.manifold import Manifold


@final
class Monomial(eqx.Module):
    r"""The function :math:`q \mapsto \prod_i (q^i)^{n_i}` of the ambient coordinates of a point."""

    powers: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, q: Point) -> Scalar:
        flat, _ = ravel_pytree(q)
        return jnp.prod(jnp.stack([flat[i] ** n for i, n in enumerate(self.powers) if n] or [jnp.ones(())]))


@final
class MonomialSection(eqx.Module):
    r"""The section :math:`q \mapsto \prod_i (q^i)^{n_i}\, e_a(q)` of an algebroid with the frame :math:`e_a`."""

    monomial: Monomial
    rank: int = eqx.field(static=True)
    number: int = eqx.field(static=True)

    def __call__(self, q: Point) -> Vector:
        return jnp.zeros(self.rank).at[self.number].set(self.monomial(q))


def monomial_functions(M: Manifold, degree: int) -> tuple[Monomial, ...]:
    """The monomials of at most this degree in the ambient coordinates of the points of a manifold, the constant first.

    Args:
        M: The manifold.
        degree: The largest degree, an integer ≥ 0.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> [f.powers for f in monomial_functions(Euclidean(2), degree=1)]
        [(0, 0), (1, 0), (0, 1)]
    """
    require_instances("monomial_functions", "M", (M,), Manifold)
    _require_degree("monomial_functions", degree)
    like = ravel_pytree(_zeros(M))[0]
    chosen = (c for d in range(degree + 1) for c in itertools.combinations_with_replacement(range(like.size), d))
    return tuple(Monomial(tuple(int(n) for n in np.bincount(c, minlength=like.size))) for c in map(list, chosen))


def monomial_sections(G: LieGroupoid, degree: int) -> tuple[MonomialSection, ...]:
    r"""The sections :math:`m(q)\,e_a(q)` of AG, with the monomials of at most this degree and the frame of the algebroid.

    They are smooth where the frame is: on vector spaces, groups, action groupoids; on the sphere, whose frame has a jump somewhere, take
    ``from_ambient`` of ambient fields instead.

    Args:
        G: The groupoid.
        degree: The largest degree, an integer ≥ 0.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> X = monomial_sections(PairGroupoid(Euclidean(2)), degree=1)
        >>> len(X), X[-1](jnp.array([3.0, 5.0]))
        (6, Array([0., 5.], dtype=float64))
    """
    require_instances("monomial_sections", "G", (G,), LieGroupoid)
    _require_degree("monomial_sections", degree)
    monomials = monomial_functions(G.base, degree)
    return tuple(MonomialSection(monomial, G.rank, a) for monomial in monomials for a in range(G.rank))


def _zeros(M: Manifold) -> Point:
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), M.point_like())


def _require_degree(owner: str, degree: int) -> None:
    if isinstance(degree, bool) or not isinstance(degree, int) or degree < 0:
        raise ArgumentError(f"{owner} needs degree to be an integer ≥ 0; got {degree!r}.")
