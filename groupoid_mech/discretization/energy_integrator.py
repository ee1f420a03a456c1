r"""The energy-preserving methods of discrete gradients, on Poisson manifolds. BM §7.2."""

import inspect
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, name_of, require_function, require_instances, same_structure, time_step
from groupoid_mech._types import Function, Point, Scalar, Vector
from groupoid_mech.discretization.cotangent_lift import Hamiltonian
from groupoid_mech.discretization.discrete_gradient import AdjointGradient, DiscreteGradient
from groupoid_mech.discretization.displacement import Displacement
from groupoid_mech.discretization.integrator import Integrator, Taken
from groupoid_mech.discretization.known_inverse import smooth_inverse_at
from groupoid_mech.discretization.searched_inverse import inverse_is_searched
from groupoid_mech.discretization.step_search import StepSearch
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.restored import restored
from groupoid_mech.manifolds.smooth_chart import (
    chart_coordinates,
    smooth_derivatives,
    smooth_local,
    smooth_retract,
    smooth_vector,
)
from groupoid_mech.mechanics.system import parameters_as_arrays
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold
from groupoid_mech.symplectic.smooth_poisson import smooth_hamiltonian_vector


@final
class EnergyIntegrator(Integrator):
    r"""The energy-preserving method :math:`v = dt\,\Pi(y)\,\bar dH(x, x')`, :math:`(x, x') = R(y, v)`, on a Poisson manifold; BM §7.2.

    .. math:: H(x') - H(x) = \langle\bar dH, v\rangle = dt\,\bar dH^T\,\Pi\,\bar dH = 0 .

    Args:
        hamiltonian: The function ``H(q, p)`` where points are pairs, as on bundles; or ``H(x)`` of the point x, also ``x = (q, p)``. How many
            arguments it takes decides.
        poisson: The Poisson manifold, for instance ``CanonicalPoisson(CotangentBundle(Q))`` or ``LinearPoisson(A)``.
        gradient: The discrete gradient, with a discretization map of the same manifold. On the cotangent bundle of a sphere, whose
            frame jumps, that of a `CotangentLift`: the charts of the bundle itself are not smooth there, and steps across the jump fail.
        dt: The time step.

    Example:
        >>> import groupoid_mech as gm
        >>> plane = gm.CotangentBundle(gm.Euclidean(1))
        >>> H = lambda q, p: p[0] ** 2 / 2 - jnp.cos(q[0])
        >>> gradient = gm.GonzalezGradient(gm.theta_map(plane, 0.5))
        >>> method = EnergyIntegrator(H, gm.CanonicalPoisson(plane), gradient, dt=0.3)
        >>> energies = method.run((jnp.ones(1), jnp.zeros(1)), 1000).observe(H)
        >>> bool(jnp.max(jnp.abs(energies - energies[0])) < 1e-12)
        True
    """

    hamiltonian: Function
    poisson: PoissonManifold
    gradient: DiscreteGradient
    dt: Scalar
    space: Manifold

    def __init__(
        self, hamiltonian: Function | Hamiltonian, poisson: PoissonManifold, gradient: DiscreteGradient, dt: ArrayLike
    ):
        require_instances("EnergyIntegrator", "poisson", (poisson,), PoissonManifold)
        require_instances("EnergyIntegrator", "gradient", (gradient,), DiscreteGradient)
        H = _of_point(hamiltonian, poisson.manifold)
        poisson.check_function(H, owner="EnergyIntegrator", name="hamiltonian")
        G = gradient.map.groupoid
        if not (isinstance(G, PairGroupoid) and _same_points(G.base, poisson.manifold)):
            raise ArgumentError(
                f"EnergyIntegrator needs a discretization map of the Poisson manifold {poisson.manifold}; that is of {G}. "
                f"Take for instance theta_map(poisson.manifold, 0.5)."
            )
        self.hamiltonian = parameters_as_arrays(as_pytree(H))
        self.poisson = poisson
        self.gradient = gradient
        self.dt = time_step("EnergyIntegrator", dt)
        self.space = poisson.manifold

    def begin(self, x: Point) -> StepSearch:
        slope = smooth_derivatives(self.space, self.hamiltonian, x)
        w = self.dt * smooth_hamiltonian_vector(self.poisson, x, slope)
        return StepSearch(jnp.concatenate([jnp.zeros_like(w), w]) if self._searches else w)

    def advance(self, x: Point, memory: StepSearch) -> tuple[Taken, Any]:
        M, equations = self.space, self._by_point_and_velocity if self._searches else self._by_increment
        found, known = memory.solve(lambda unknowns: equations(x, unknowns), M, x)
        # The next step starts at the point of M nearest to this one: what it is off would be lost from the energy, in every step again.
        end = restored(M, found.values)
        return Taken(end, found.residual, found.iterations, found.converged), known.carried(M, x, end)

    @property
    def _searches(self) -> bool:
        return inverse_is_searched(self.gradient.map)

    def _by_increment(self, x: Point, w: Vector) -> tuple[Vector, Point]:
        """The equations in the coordinates w of the next point, which is returned too: the point and the velocity are those of the inverse map."""
        M = self.space
        end = smooth_retract(M, x, w)
        y, v = smooth_inverse_at(self.gradient.map, (x, end), chart_coordinates(M, x, end, w))
        way = Displacement((x, end), y, v, lambda s: (x, smooth_retract(M, x, s * w)))
        return smooth_vector(M, y, x, self._off(way)), end

    def _by_point_and_velocity(self, x: Point, unknowns: Vector) -> tuple[Vector, Point]:
        """The equations in the coordinates of the point y and the velocity there, for a map whose inverse is not in closed form."""
        M, n = self.space, self.space.dim
        y = smooth_retract(M, x, unknowns[:n])
        way = Displacement.by(self.gradient.map, y, smooth_vector(M, x, y, unknowns[n:]))
        start, end = way.ends
        return jnp.concatenate([smooth_local(M, x, start), smooth_vector(M, y, x, self._off(way))]), end

    def _off(self, way: Displacement) -> Vector:
        r"""The smooth components at y of :math:`v - dt\,\Pi(y)\,\bar dH(x, x')`."""
        slope = self.gradient.along(self.hamiltonian, way)
        return way.velocity - self.dt * smooth_hamiltonian_vector(self.poisson, way.point, slope)

    def with_step(self, dt: ArrayLike) -> "EnergyIntegrator":
        return eqx.tree_at(lambda method: method.dt, self, time_step("EnergyIntegrator.with_step", dt))

    def adjoint(self) -> "EnergyIntegrator":
        own = self.gradient
        if isinstance(own, AdjointGradient):
            return eqx.tree_at(lambda method: method.gradient, self, own.gradient)
        adjoint = AdjointGradient(gradient=own, map=own.map.adjoint())
        return eqx.tree_at(lambda method: method.gradient, self, adjoint)


@final
class OfPair(eqx.Module):
    r"""The function :math:`(q, p) \mapsto H(q, p)` of a point that is a pair.

    Args:
        hamiltonian: The function of two arguments.
    """

    hamiltonian: Hamiltonian

    def __call__(self, x: Point) -> Scalar:
        return self.hamiltonian(*x)


def _of_point(hamiltonian: Any, space: Manifold) -> Any:
    """The Hamiltonian as a function of a point: one argument is the point itself, two are the members of a pair."""
    require_function(hamiltonian)
    try:
        signature = inspect.signature(hamiltonian)
    except (TypeError, ValueError):  # some functions in C do not tell
        return hamiltonian
    point = space.point_like()
    is_pair = isinstance(point, tuple) and len(point) == 2
    if _accepts(signature, 1):
        return hamiltonian
    if is_pair and _accepts(signature, 2):
        return OfPair(as_pytree(hamiltonian))
    wanted = (
        "H(q, p), or H(x) of the pair x = (q, p)"
        if is_pair
        else f"H(x) of one argument, as points of {space} are no pairs"
    )
    raise ArgumentError(
        f"EnergyIntegrator needs hamiltonian to be a function {wanted}; {name_of(hamiltonian)} takes {signature}."
    )


def _accepts(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _same_points(M: Manifold, N: Manifold) -> bool:
    """Whether points of two manifolds look the same: a cotangent bundle may be given for the dual bundle that it is."""
    left, right = M.point_like(), N.point_like()
    shapes = [[leaf.shape for leaf in jax.tree.leaves(point)] for point in (left, right)]
    return M.dim == N.dim and same_structure(left, right) and shapes[0] == shapes[1]
