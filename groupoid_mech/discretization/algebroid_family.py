r"""Generating families that are functions on the algebroid, carried to arrows by a discretization map.

.. math:: L(g, s) = A(x, v, s), \qquad (x, v) = R^{-1}(g) ,

with auxiliary variables s that are vectors or covectors at x.
"""

from abc import abstractmethod
from functools import singledispatch

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap
from groupoid_mech.discretization.known_inverse import inverse_at
from groupoid_mech.discretization.map_at_step import map_at_step
from groupoid_mech.discretization.projected_vectors import projected_coordinates
from groupoid_mech.discretization.retraction import ProjectionMap
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.known_arrow import carried_between
from groupoid_mech.mechanics.auxiliary_frame import auxiliary_at
from groupoid_mech.mechanics.step_family import StepFamily


class AlgebroidFamily(StepFamily):
    r"""The family :math:`L(g, s) = A(R^{-1}(g), s)` of a function A on :math:`AG \times R^k` and a discretization map R.

    Subclasses give the function. `system_on_algebroid` makes a system of it that searches for no inverse.
    """

    map: eqx.AbstractVar[DiscretizationMap]

    @abstractmethod
    def value(self, x: Point, v: Vector, *auxiliary: Vector) -> Scalar:
        r"""The function :math:`A(x, v, s)` of a point, a velocity times dt, and the auxiliary variables, if there are any: vectors or covectors
        in the frame at x, one after the other.
        """

    @abstractmethod
    def adjoint(self) -> "AlgebroidFamily":
        """The family of the same function and the adjoint map."""

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        return self.value(*self.inverse(g, a), *auxiliary)

    def inverse(self, g: Point, a: Vector) -> tuple[Point, Vector]:
        """The point and the velocity :math:`(x, v) = R^{-1}(g)` of the map for this step."""
        return inverse_at(map_at_step(self.map, self.dt), g, a)


@singledispatch
def guessed_arrow(R: DiscretizationMap, q: Point, v: Vector) -> Vector:
    r"""The fibre coordinates at q of an arrow like :math:`R(q, v)`, where the search for a step starts: to the first order, v.

    Where the inverse of R is searched it is v itself, and the family that takes the search over makes of it what it needs. Open for
    further maps: ``@guessed_arrow.register`` adds one that leads elsewhere than the fibre chart, and whose inverse has a smaller domain.

    Args:
        R: The discretization map.
        q: The point where the step begins.
        v: The velocity times dt.
    """
    return v


@guessed_arrow.register
def _(R: ProjectionMap, q: Point, v: Vector) -> Vector:
    return projected_coordinates(R.manifold, q, v)


@guessed_arrow.register
def _(R: AdjointMap, q: Point, v: Vector) -> Vector:
    return -guessed_arrow(R.map, q, -v)


@auxiliary_at.register
def _(family: AlgebroidFamily, g: Point, a: Vector, s: Vector) -> Vector:
    return carried_from_source(family.map.groupoid, g, family.inverse(g, a)[0], s)


def carried_from_source(G: LieGroupoid, g: Point, x: Point, s: Vector) -> Vector:
    """The components at a point x of vectors or covectors, one after the other, that are given in the frame at the source of an arrow."""
    q = G.source(g)
    if s.size == G.rank:
        return carried_between(G, q, x, s)
    return jnp.concatenate([carried_between(G, q, x, part) for part in s.reshape(-1, G.rank)])
