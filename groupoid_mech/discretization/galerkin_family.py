r"""Galerkin variational integrators of high order, on every groupoid.

.. math:: L(g; a_1, \dots, a_{s-1}) = dt\sum_i b_i\, \tilde l\bigl(a(c_i), \dot a(c_i)/dt\bigr), \qquad
    a(t) \text{ the polynomial of degree } s \text{ with } a(0) = 0,\; a(1) = c^{-1}(g),

with the Lagrangian :math:`\tilde l(a, \dot a) = l(\beta(k), \xi)`, :math:`k = c(q, a)`, :math:`\overleftarrow\xi(k) = \dot k`, lifted to the fibre
over :math:`q = \alpha(g)`, and Gauss' quadrature of s points: of order 2s.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, require_positive_integer
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import groupoid_of
from groupoid_mech.discretization.lagrangian_lift import velocity
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.known_arrow import fiber_local_at
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.mechanics.continuous import lifted_lagrangian
from groupoid_mech.mechanics.discretize import AlgebroidFunction, require_lagrangian
from groupoid_mech.mechanics.step_family import ReversedFamily, StepFamily
from groupoid_mech.mechanics.system import DiscreteSystem, parameters_as_arrays
from groupoid_mech.numerics.matrix import matvec


@final
class GalerkinFamily(StepFamily):
    r"""The action of the best polynomial of degree s through an arrow, by Gauss' quadrature of s points.

    The auxiliary variables are the values of the polynomial at the inner Chebyshev points, relative to the straight line.

    Args:
        groupoid: The groupoid; its fibre chart gives the coordinates.
        lagrangian: The function ``l(q, v)`` on AG.
        dt: The time step; negative to go back.
        stages: The degree s.
    """

    groupoid: LieGroupoid
    lagrangian: AlgebroidFunction
    dt: Scalar
    stages: int = eqx.field(static=True)

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        G, s = self.groupoid, self.stages
        q = G.source(g)
        end = fiber_local_at(G, g, a)
        inner = auxiliary[0].reshape(s - 1, G.rank) if s > 1 else jnp.zeros((0, G.rank))
        nodes, weights, values, slopes = _quadrature(s)

        def density(node: Scalar, value: Vector, slope: Vector) -> Scalar:
            # Bumps on the straight line: the inner coordinates are of second order in dt.
            place = node * end + matvec(inner.T, value)
            rate = (end + matvec(inner.T, slope)) / self.dt
            return lifted_lagrangian(self.lagrangian, G, q, place, rate)

        densities = jax.vmap(density)(jnp.asarray(nodes), jnp.asarray(values), jnp.asarray(slopes))
        return self.dt * jnp.sum(jnp.asarray(weights) * densities)

    def guess(self, q: Point, p: Covector) -> Vector:
        v = self.dt * velocity(self.lagrangian, q, p, jnp.zeros_like(p))
        return jnp.concatenate([v, jnp.zeros((self.stages - 1) * self.groupoid.rank)])

    def adjoint(self) -> StepFamily:
        return ReversedFamily(groupoid=self.groupoid, family=self, dt=self.dt)


def galerkin_system(
    lagrangian: AlgebroidFunction, space: Manifold | LieGroupoid, dt: ArrayLike, *, stages: int
) -> DiscreteSystem:
    r"""The Galerkin variational integrator of order 2s for a Lagrangian on AG.

    On a Euclidean space, for :math:`l = \tfrac12|v|^2 - V`, the method of Gauss and Legendre of s stages. The auxiliary variables of a
    trajectory are the inner points of the polynomials, relative to the straight line.

    Args:
        lagrangian: The function ``l(q, v)``, with ``v`` in the frame of the algebroid at ``q``.
        space: A Lie groupoid, or a manifold for its pair groupoid.
        dt: The time step.
        stages: The number s of stages, also the degree of the polynomials.
    """
    G = groupoid_of("galerkin_system", space)
    require_positive_integer("galerkin_system", "stages", stages)
    require_lagrangian("galerkin_system", lagrangian, G)
    function = parameters_as_arrays(as_pytree(lagrangian))
    family = GalerkinFamily(groupoid=G, lagrangian=function, dt=jnp.asarray(dt, float), stages=stages)
    return DiscreteSystem(G, family, auxiliary=(stages - 1) * G.rank)


def _quadrature(stages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Gauss' nodes and weights on [0, 1], and there the values and slopes of the polynomials that are 1 at one inner Chebyshev point, and
    0 at the others and at both ends.
    """
    places, weights = np.polynomial.legendre.leggauss(stages)
    nodes = (1 + places) / 2
    control = (1 - np.cos(np.pi * np.arange(stages + 1) / stages)) / 2
    values, slopes = [], []
    for k in range(1, stages):
        roots = np.delete(control, k)
        bump = np.polynomial.Polynomial.fromroots(roots) / np.prod(control[k] - roots)
        values.append(bump(nodes))
        slopes.append(bump.deriv()(nodes))
    shape = (stages, stages - 1)
    return nodes, weights / 2, np.array(values).T.reshape(shape), np.array(slopes).T.reshape(shape)
