r"""Generating families that are functions on the algebroid, carried to arrows by a discretization map.

.. math:: L(g, s) = A(x, v, P_x s), \qquad (x, v) = R^{-1}(g) ,

with auxiliary variables s that are vectors or covectors: as unknowns they are in the frame at the source of g, and :math:`P_x` carries them to x. The
frame at x may jump while x is sought, that at the source stays.
"""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp

from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.known_inverse import inverse_at
from groupoid_mech.discretization.map_at_step import map_at_step
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.known_arrow import carried_between
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
        G = self.map.groupoid
        x, v = inverse_at(map_at_step(self.map, self.dt), g, a)
        return self.value(x, v, *(carried_to_inner_point(G, g, x, s) for s in auxiliary))


def carried_to_inner_point(G: LieGroupoid, g: Point, x: Point, s: Vector) -> Vector:
    """The components at x of vectors, or covectors, one after the other, with those in the frame at the source of an arrow given."""
    parts = s.reshape(-1, G.rank)
    return jnp.concatenate([carried_between(G, G.source(g), x, part) for part in parts])
