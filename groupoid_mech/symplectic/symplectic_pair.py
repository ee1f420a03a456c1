r"""The pair groupoid of a symplectic manifold."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.scipy.linalg import block_diag

from groupoid_mech._arguments import as_pytree, describe, require_instances, traced_shape
from groupoid_mech._types import Matrix, Point, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.cotangent_bundle import CotangentBundle
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.symplectic.symplectic_groupoid import SymplecticGroupoid


@final
class SymplecticPair(SymplecticGroupoid):
    r"""The symplectic groupoid :math:`P^- \times P \rightrightarrows P` of a symplectic manifold :math:`(P, \omega)`.

    .. math:: \tilde\omega = -\mathrm{pr}_0^*\omega + \mathrm{pr}_1^*\omega .

    Its Lagrangian submanifolds that are graphs are the symplectic maps.

    Args:
        base: The manifold :math:`P`.
        form: The components :math:`x \mapsto \omega(x)`; of a cotangent bundle the canonical form if not given.

    Example:
        >>> from groupoid_mech import CotangentBundle, Euclidean
        >>> SymplecticPair(CotangentBundle(Euclidean(1))).rank
        2
    """

    base: Manifold
    form: Callable[[Point], Matrix]
    pair: PairGroupoid
    space: ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, base: Manifold, form: Callable[[Point], Matrix] | None = None):
        require_instances("SymplecticPair", "base", (base,), Manifold)
        if form is None:
            require_instances("SymplecticPair without a form", "base", (base,), CotangentBundle)
            form = base.symplectic_form  # type: ignore[attr-defined]
        shape = traced_shape(form, base.point_like())
        if getattr(shape, "shape", None) != (base.dim, base.dim):
            needed = f"components of shape {(base.dim, base.dim)}"
            raise ArgumentError(f"SymplecticPair needs form(x) to be {needed}; it returns {describe(shape)}.")
        self.base = base
        self.form = as_pytree(form)
        self.pair = PairGroupoid(base)
        self.space = self.pair.space
        self.rank = base.dim

    def source(self, g: Point) -> Point:
        return self.pair.source(g)

    def target(self, g: Point) -> Point:
        return self.pair.target(g)

    def unit(self, q: Point) -> Point:
        return self.pair.unit(q)

    def inverse(self, g: Point) -> Point:
        return self.pair.inverse(g)

    def multiply(self, g: Point, h: Point) -> Point:
        return self.pair.multiply(g, h)

    def fiber_chart(self, q: Point, a: Vector) -> Point:
        return self.pair.fiber_chart(q, a)

    def fiber_local(self, q: Point, g: Point) -> Vector:
        return self.pair.fiber_local(q, g)

    def symplectic_form(self, g: Point) -> Matrix:
        return block_diag(-self.form(g[0]), self.form(g[1]))

    def poisson_tensor(self, q: Point) -> Matrix:
        return jnp.linalg.inv(self.form(q)).T
