r"""Galerkin variational integrators of high order, on every groupoid.

.. math:: L(g; a_1, \dots, a_{s-1}) = dt\sum_i b_i\, \tilde l\bigl(a(c_i), \dot a(c_i)/dt\bigr), \qquad
    a(t) \text{ the polynomial of degree } s \text{ with } a(0) = -v/2,\; a(1) = v/2,

in the coordinates at the middle of the step, :math:`(x, v) = R^{-1}(g)` for θ = ½, with the Lagrangian
:math:`\tilde l(a, \dot a) = l(\beta(k), \xi)`, :math:`k = c(x, a)`, :math:`\overleftarrow\xi(k) = \dot k`, lifted to the fibre over x, and Gauss'
quadrature of s points: of order 2s and symmetric.
"""

import contextlib
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, is_concrete, require_positive_integer, time_step
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.discretization.algebroid_family import AlgebroidFamily
from groupoid_mech.discretization.algebroid_system import system_on_algebroid
from groupoid_mech.discretization.discretization_map import DiscretizationMap, groupoid_of
from groupoid_mech.discretization.lagrangian_lift import velocity_of_momentum
from groupoid_mech.discretization.theta_map import theta_map
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.mechanics.continuous import lifted_lagrangian
from groupoid_mech.mechanics.discretize import AlgebroidFunction, require_lagrangian
from groupoid_mech.mechanics.system import DiscreteSystem, parameters_as_arrays
from groupoid_mech.numerics.matrix import matvec


@final
class GalerkinFamily(AlgebroidFamily):
    r"""The action of the best polynomial of degree s through an arrow, by Gauss' quadrature of s points.

    The auxiliary variables are the values of the polynomial at the inner Chebyshev points, relative to the straight line.

    Args:
        map: The discretization map with θ = ½ of the groupoid's own chart: it gives the middle of the arrow, and the ends from there.
        lagrangian: The function ``l(q, v)`` on AG.
        dt: The time step; negative to go back.
        stages: The degree s.
    """

    map: DiscretizationMap
    lagrangian: AlgebroidFunction
    dt: Scalar
    stages: int = eqx.field(static=True)

    def value(self, x: Point, v: Vector, *auxiliary: Vector) -> Scalar:
        G, s = self.map.groupoid, self.stages
        inner = auxiliary[0].reshape(s - 1, G.rank) if s > 1 else jnp.zeros((0, G.rank))
        nodes, weights, values, slopes = _quadrature(s)

        def density(node: Scalar, value: Vector, slope: Vector) -> Scalar:
            # Bumps on the straight line: the inner coordinates are of second order in dt.
            place = (node - 0.5) * v + matvec(inner.T, value)
            rate = (v + matvec(inner.T, slope)) / self.dt
            return lifted_lagrangian(self.lagrangian, G, x, place, rate)

        densities = jax.vmap(density)(jnp.asarray(nodes), jnp.asarray(values), jnp.asarray(slopes))
        return self.dt * jnp.sum(jnp.asarray(weights) * densities)

    def guess(self, q: Point, p: Covector) -> Vector:
        v = self.dt * velocity_of_momentum(self.lagrangian, q, p)
        return jnp.concatenate([v, jnp.zeros((self.stages - 1) * self.map.groupoid.rank)])

    def adjoint(self) -> AlgebroidFamily:
        # The same middle, the nodes in reverse order: the inner points of the reversed polynomial are numbered from the other end.
        return self


def galerkin_system(
    lagrangian: AlgebroidFunction, space: Manifold | LieGroupoid, dt: ArrayLike, *, stages: int
) -> DiscreteSystem:
    r"""The Galerkin variational integrator of order 2s for a Lagrangian on AG, symmetric.

    On a Euclidean space, for :math:`l = \tfrac12|v|^2 - V`, the method of Gauss and Legendre of s stages; for s = 1 that of
    `lagrangian_system` and θ = ½. The auxiliary variables of a trajectory are the inner points of the polynomials, relative to the straight
    line; before them, where the chart does not run along geodesics or one-parameter groups, those of the middle (`WithInnerPoint`).

    Args:
        lagrangian: The function ``l(q, v)``, with ``v`` in the frame of the algebroid at ``q``.
        space: A Lie groupoid, or a manifold for its pair groupoid.
        dt: The time step, not 0.
        stages: The number s of stages, also the degree of the polynomials.
    """
    G = groupoid_of("galerkin_system", space)
    require_positive_integer("galerkin_system", "stages", stages)
    require_lagrangian("galerkin_system", lagrangian, G)
    function = parameters_as_arrays(as_pytree(lagrangian))
    step = time_step("galerkin_system", dt)
    # Inside of jit too, where it would not be found out whether the chart is straight; only there, as nothing is compiled so.
    with contextlib.nullcontext() if is_concrete(G) else jax.ensure_compile_time_eval():
        middle = theta_map(G, 0.5)
    family = GalerkinFamily(map=middle, lagrangian=function, dt=step, stages=stages)
    return system_on_algebroid(family, auxiliary=(stages - 1) * G.rank)


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
