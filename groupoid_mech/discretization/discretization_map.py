r"""The abstract discretization map: from a point and a velocity to an arrow.

Convention: :math:`R: AG \supset U \to G`; on the pair groupoid of Q this is :math:`R_d: TQ \to Q \times Q`. BM Def. 2.2.
"""

from abc import abstractmethod
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import checked, describe, guard
from groupoid_mech._types import Matrix, Point, Scalar, Vector
from groupoid_mech.algebroids.algebroid_bundle import AlgebroidBundle
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import unit_matrix


class DiscretizationMap(eqx.Module):
    r"""A discretization map :math:`R: AG \supset U \to G` of a Lie groupoid :math:`G \rightrightarrows Q`.

    .. math:: R(x, 0) = \epsilon(x), \qquad \pi_x \circ T_0R(x, \cdot) = \mathrm{id}_{A_xG},

    with the projection :math:`\pi_x: T_{\epsilon(x)}G \to A_xG` along the units. On the pair groupoid of a manifold Q, where an arrow is
    a pair of points, this is BM Def. 2.2: :math:`R_d(x, 0) = (x, x)` and :math:`T_0R^2_x - T_0R^1_x = \mathrm{id}`. Near the zero section it
    is a diffeomorphism (BM Prop. 2.3).

    Subclasses give the ``groupoid``, the ``arrow`` of a point and a velocity, and the ``inverse``. Velocities are in the frame of the
    algebroid: for a pair groupoid, that of the manifold.
    """

    groupoid: eqx.AbstractVar[LieGroupoid]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(cls, {"arrow": ("point", "algebroid_vector"), "inverse": ("arrow",)})

    @abstractmethod
    def arrow(self, x: Point, v: Vector) -> Point:
        r"""The arrow :math:`R(x, v)`; for a pair groupoid the pair :math:`(R^1(x, v), R^2(x, v))`."""

    @abstractmethod
    def inverse(self, g: Point) -> tuple[Point, Vector]:
        r"""The point and the velocity :math:`(x, v) = R^{-1}(g)` of an arrow near the units; NaN under ``jit`` where there is none."""

    @abstractmethod
    def adjoint(self) -> "DiscretizationMap":
        r"""The adjoint map :math:`R^*(x, v) = R(x, -v)^{-1}`; BM Prop. 2.5."""

    def __call__(self, x: Point, v: Vector) -> Point:
        return self.arrow(x, v)

    @checked("point")
    def rigidity(self, x: Point) -> Matrix:
        r"""The matrix of :math:`\pi_x \circ T_0R(x, \cdot)`, the unit matrix for a discretization map; BM Def. 2.2."""
        G = self.groupoid
        unit, zero = G.unit(x), jnp.zeros(G.rank)

        def column(v: Vector) -> Vector:
            return G.space.from_ambient(unit, jax.jvp(lambda u: self.arrow(x, u), (zero,), (v,))[1])

        return G.algebroid_projection(x) @ jax.vmap(column, out_axes=1)(unit_matrix(G.rank))

    @checked("point", "algebroid_vector")
    def tangent(self, x: Point, v: Vector) -> Matrix:
        r"""The matrix of :math:`T_{(x, v)}R: T_{(x,v)}AG \to T_gG` in the frames of the bundle and of the arrows: square."""
        bundle, space = self.bundle, self.groupoid.space

        def column(w: Vector) -> Vector:
            g, moved = jax.jvp(self.arrow, (x, v), bundle.to_ambient((x, v), w))
            return space.from_ambient(g, moved)

        return jax.vmap(column, out_axes=1)(unit_matrix(bundle.dim))

    @checked("point", "algebroid_vector")
    def asymmetry(self, x: Point, v: Vector) -> Scalar:
        r"""The distance of :math:`R^*(x, v)` from :math:`R(x, v)`: 0 for a symmetric map; BM Def. 2.6."""
        return point_distance(self.arrow(x, v), self.groupoid.inverse(self.arrow(x, -v)))

    @property
    def bundle(self) -> AlgebroidBundle:
        r"""The algebroid AG as a manifold, on which the map is defined."""
        return AlgebroidBundle(GroupoidAlgebroid(self.groupoid))

    def check_point(self, x: Point, *, owner: str = "", name: str = "x") -> None:
        """Raise an error that says what is wrong if ``x`` is not a point of the base."""
        self.groupoid.check_point(x, owner=owner or f"{type(self).__name__}.check_point", name=name)

    def check_algebroid_vector(self, v: Vector, *, owner: str = "", name: str = "v") -> None:
        """Raise an error that says what is wrong if ``v`` is not a coordinate vector of the algebroid."""
        self.groupoid.check_algebroid_vector(
            v, owner=owner or f"{type(self).__name__}.check_algebroid_vector", name=name
        )

    def check_arrow(self, g: Point, *, owner: str = "", name: str = "g") -> None:
        """Raise an error that says what is wrong if ``g`` is not an arrow of the groupoid."""
        self.groupoid.check_arrow(g, owner=owner or f"{type(self).__name__}.check_arrow", name=name)


@final
class AdjointMap(DiscretizationMap):
    r"""The adjoint :math:`R^*(x, v) = R(x, -v)^{-1}` of a discretization map; BM Prop. 2.5.

    Args:
        map: The discretization map R.
    """

    map: DiscretizationMap
    groupoid: LieGroupoid

    def __init__(self, map: DiscretizationMap):
        self.map = map
        self.groupoid = map.groupoid

    def arrow(self, x: Point, v: Vector) -> Point:
        return self.groupoid.inverse(self.map.arrow(x, -v))

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        x, v = self.map.inverse(self.groupoid.inverse(g))
        return x, -v

    def adjoint(self) -> DiscretizationMap:
        return self.map


def groupoid_of(owner: str, space: Any) -> LieGroupoid:
    """The groupoid that a user means: a groupoid itself, or the pair groupoid of a manifold."""
    if isinstance(space, LieGroupoid):
        return space
    if isinstance(space, Manifold):
        return PairGroupoid(space)
    raise ArgumentError(f"{owner} needs a manifold or a Lie groupoid; got {describe(space)}.")


def manifold_of(owner: str, map: Any, purpose: str, elsewhere: str) -> Manifold:
    """The manifold Q of a map on the pair groupoid of Q; what else is given is refused."""
    if not isinstance(map, DiscretizationMap):
        raise ArgumentError(
            f"{owner} needs a discretization map {purpose}; got {describe(map)}. Give one, as in theta_map(Sphere(2), 0.5)."
        )
    if not isinstance(map.groupoid, PairGroupoid):
        raise ArgumentError(
            f"{owner} needs a discretization map of a manifold, on its PairGroupoid; that of {type(map).__name__} is on a "
            f"{type(map.groupoid).__name__}. Make the map from a manifold; on other groupoids, use {elsewhere}."
        )
    return map.groupoid.base
