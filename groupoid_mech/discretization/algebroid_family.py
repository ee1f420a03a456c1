r"""Generating families that are functions on the algebroid, carried to arrows by a discretization map.

.. math:: L(g, s) = A(x, v, s), \qquad (x, v) = R^{-1}(g) .
"""

from abc import abstractmethod

import equinox as eqx

from groupoid_mech._types import Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.known_inverse import inverse_at
from groupoid_mech.mechanics.step_family import StepFamily


class AlgebroidFamily(StepFamily):
    r"""The family :math:`L(g, s) = A(R^{-1}(g), s)` of a function A on :math:`AG \times R^k` and a discretization map R.

    Subclasses give the function. `system_on_algebroid` makes a system of it that searches for no inverse.
    """

    map: eqx.AbstractVar[DiscretizationMap]

    @abstractmethod
    def value(self, x: Point, v: Vector, *auxiliary: Vector) -> Scalar:
        r"""The function :math:`A(x, v, s)` of a point, a velocity times dt, and the auxiliary variables, if there are any."""

    @abstractmethod
    def adjoint(self) -> "AlgebroidFamily":
        """The family of the same function and the adjoint map."""

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        return self.value(*inverse_at(self.map, g, a), *auxiliary)
