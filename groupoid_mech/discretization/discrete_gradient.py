r"""Discrete gradients and the energy-preserving methods they give, on manifolds. BM §7.2.

.. math:: \langle\bar dH(x, x'), v\rangle = H(x') - H(x), \qquad \bar dH(x, x) = dH(x), \qquad (y, v) = R^{-1}(x, x') .

Convention: :math:`\bar dH(x, x')` is a covector at y, in the dual frame.
"""

from abc import abstractmethod
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, require_instances, same_structure
from groupoid_mech._types import Covector, Function, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.integrator import Integrator, Taken
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import smooth_local, smooth_retract, smooth_vector
from groupoid_mech.mechanics.system import parameters_as_arrays
from groupoid_mech.numerics.matrix import dot, matvec
from groupoid_mech.numerics.newton import newton_solve
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold


class DiscreteGradient(eqx.Module):
    r"""A discrete gradient of functions on a manifold M, for a discretization map R of M.

    Subclasses give :math:`\bar dH` as a function of the point and velocity :math:`(y, v) = R^{-1}(x, x')`, and are then used by the method
    `EnergyIntegrator`; `defect` tells how far they are from the first property.
    """

    map: eqx.AbstractVar[DiscretizationMap]

    @abstractmethod
    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        r"""The covector :math:`\bar dH(x, x')` at y, for :math:`(x, x') = R(y, v)`."""

    def defect(self, H: Function, y: Point, v: Vector) -> Scalar:
        r"""The number :math:`\langle\bar dH(x, x'), v\rangle - H(x') + H(x)`: 0 for a discrete gradient."""
        x, following = self.map.arrow(y, v)
        return dot(self.at(H, y, v), v) - (H(following) - H(x))


@final
class GonzalezGradient(DiscreteGradient):
    r"""The midpoint discrete gradient :math:`dH(y) + \frac{H(x') - H(x) - \langle dH(y), v\rangle}{|v|^2}\,v^\flat` of Gonzalez.

    Symmetric with a symmetric map R, and then of order 2. The metric is that in which the frame is orthonormal.

    Args:
        map: The discretization map R.
    """

    map: DiscretizationMap

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        x, following = self.map.arrow(y, v)
        dH = frame_derivatives(self.map.groupoid.base, H, y)
        return _corrected(dH, H(following) - H(x), v)


@final
class MeanGradient(DiscreteGradient):
    r"""The mean :math:`\int_0^1 d\tilde H(\zeta_0 + t(\zeta_1 - \zeta_0))\,dt` of the gradient between x and x', in the coordinates at y.

    With it the method is that of the averaged vector field. The integral is taken by Gauss' quadrature, and corrected as that of Gonzalez
    is where this is not exact. Symmetric with a symmetric map R, and then of order 2.

    Args:
        map: The discretization map R.
        nodes: The number n of points of the quadrature: exact for polynomials of degree 2n in the coordinates.
    """

    map: DiscretizationMap
    nodes: int = eqx.field(static=True, default=4)

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        M = self.map.groupoid.base
        x, following = self.map.arrow(y, v)
        first, last = M.local(y, x), M.local(y, following)
        places, weights = np.polynomial.legendre.leggauss(self.nodes)
        slope = jax.grad(lambda zeta: H(M.retract(y, zeta)))
        slopes = jax.vmap(lambda t: slope(first + t * (last - first)))(jnp.asarray((1 + places) / 2))
        return _corrected(matvec(slopes.T, jnp.asarray(weights / 2)), H(following) - H(x), v)


@final
class ItohAbeGradient(DiscreteGradient):
    r"""The increments :math:`\bar dH_i = (\tilde H(\zeta^{(i)}) - \tilde H(\zeta^{(i-1)}))/v_i` of Itoh and Abe, along the coordinates at y.

    The corner :math:`\zeta^{(i)}` has the first i coordinates of x' and the others of x. Of order 1; where a coordinate does not change, the
    derivative takes the place of the quotient.

    Args:
        map: The discretization map R.
    """

    map: DiscretizationMap

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        M, n = self.map.groupoid.base, v.shape[0]
        x, following = self.map.arrow(y, v)
        first, last = M.local(y, x), M.local(y, following)
        masks = jnp.asarray(np.tri(n + 1, n, -1))
        corners = first + masks * (last - first)
        values, slopes = jax.vmap(jax.value_and_grad(lambda zeta: H(M.retract(y, zeta))))(corners)
        still = v == 0
        return jnp.where(still, jnp.diagonal(slopes[:-1]), jnp.diff(values) / jnp.where(still, 1.0, v))


@final
class EnergyIntegrator(Integrator):
    r"""The energy-preserving method :math:`v = dt\,\Pi(y)\,\bar dH(x, x')`, :math:`(x, x') = R(y, v)`, on a Poisson manifold; BM §7.2.

    .. math:: H(x') - H(x) = \langle\bar dH, v\rangle = dt\,\bar dH^T\,\Pi\,\bar dH = 0 .

    Args:
        hamiltonian: The function ``H(x)`` of a point; on a bundle the point is ``(q, p)``.
        poisson: The Poisson manifold, for instance ``CanonicalPoisson(CotangentBundle(Q))`` or ``LinearPoisson(A)``.
        gradient: The discrete gradient, with a discretization map of the same manifold. On the cotangent bundle of a sphere, whose
            frame jumps, a `CotangentLift`: the charts of the bundle itself are not smooth there.
        dt: The time step.

    Example:
        >>> import groupoid_mech as gm
        >>> plane = gm.CotangentBundle(gm.Euclidean(1))
        >>> H = lambda x: x[1][0] ** 2 / 2 - jnp.cos(x[0][0])
        >>> gradient = GonzalezGradient(gm.theta_map(plane, 0.5))
        >>> method = EnergyIntegrator(H, gm.CanonicalPoisson(plane), gradient, dt=0.3)
        >>> energies = method.run((jnp.ones(1), jnp.zeros(1)), 1000).observe(lambda q, p: H((q, p)))
        >>> bool(jnp.max(jnp.abs(energies - energies[0])) < 1e-12)
        True
    """

    hamiltonian: Function
    poisson: PoissonManifold
    gradient: DiscreteGradient
    dt: Scalar
    space: Manifold

    def __init__(self, hamiltonian: Function, poisson: PoissonManifold, gradient: DiscreteGradient, dt: ArrayLike):
        require_instances("EnergyIntegrator", "poisson", (poisson,), PoissonManifold)
        require_instances("EnergyIntegrator", "gradient", (gradient,), DiscreteGradient)
        poisson.check_function(hamiltonian, owner="EnergyIntegrator", name="hamiltonian")
        G = gradient.map.groupoid
        if not (isinstance(G, PairGroupoid) and _same_points(G.base, poisson.manifold)):
            raise ArgumentError(
                f"EnergyIntegrator needs a discretization map of the Poisson manifold {poisson.manifold}; that is of {G}. "
                f"Take for instance theta_map(poisson.manifold, 0.5)."
            )
        self.hamiltonian = parameters_as_arrays(as_pytree(hamiltonian))
        self.poisson = poisson
        self.gradient = gradient
        self.dt = jnp.asarray(dt, float)
        self.space = poisson.manifold

    def begin(self, x: Point) -> Vector:
        v = self.dt * matvec(self.poisson.tensor(x), frame_derivatives(self.space, self.hamiltonian, x))
        return jnp.concatenate([jnp.zeros_like(v), v])

    def advance(self, x: Point, memory: Vector) -> tuple[Taken, Any]:
        M, n = self.space, self.space.dim

        def middle(unknowns: Vector) -> tuple[Point, Vector]:
            y = smooth_retract(M, x, unknowns[:n])
            return y, smooth_vector(M, x, y, unknowns[n:])

        def equations(unknowns: Vector) -> Vector:
            y, v = middle(unknowns)
            slope = self.gradient.at(self.hamiltonian, y, v)
            start = self.gradient.map.arrow(y, v)[0]
            off = v - self.dt * matvec(self.poisson.tensor(y), slope)
            return jnp.concatenate([smooth_local(M, x, start), smooth_vector(M, y, x, off)])

        unknowns, report = newton_solve(equations, memory, _sizes)
        end = self.gradient.map.arrow(*middle(unknowns))[1]
        residual = jnp.max(jnp.abs(equations(unknowns)))
        return Taken(end, residual, report.iterations, report.converged), unknowns

    def with_step(self, dt: ArrayLike) -> "EnergyIntegrator":
        return eqx.tree_at(lambda method: method.dt, self, jnp.asarray(dt, float))

    def adjoint(self) -> "EnergyIntegrator":
        return eqx.tree_at(
            lambda method: method.gradient,
            self,
            AdjointGradient(gradient=self.gradient, map=self.gradient.map.adjoint()),
        )


@final
class AdjointGradient(DiscreteGradient):
    r"""The discrete gradient :math:`\bar dH^*(x, x') = \bar dH(x', x)`, for the adjoint map.

    Args:
        gradient: The discrete gradient.
        map: The adjoint of its map.
    """

    gradient: DiscreteGradient
    map: DiscretizationMap

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        return self.gradient.at(H, y, -v)


def _same_points(M: Manifold, N: Manifold) -> bool:
    """Whether points of two manifolds look the same: a cotangent bundle may be given for the dual bundle that it is."""
    left, right = M.point_like(), N.point_like()
    shapes = [[leaf.shape for leaf in jax.tree.leaves(point)] for point in (left, right)]
    return M.dim == N.dim and same_structure(left, right) and shapes[0] == shapes[1]


def _corrected(slope: Covector, rise: Scalar, v: Vector) -> Covector:
    """The covector nearest to ``slope`` whose value on v is the given one."""
    size = dot(v, v)
    at_rest = size == 0
    return slope + jnp.where(at_rest, 0.0, (rise - dot(slope, v)) / jnp.where(at_rest, 1.0, size)) * v


def _sizes(x: Vector) -> Vector:
    half = x.shape[0] // 2
    largest = jnp.stack([jnp.max(jnp.abs(x[:half])), jnp.max(jnp.abs(x[half:]))])
    return jnp.repeat(1e-3 + largest, half)
