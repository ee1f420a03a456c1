r"""Methods for Hamilton's equations on :math:`A^*G` from discretization maps. BM §5.1, §6."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Covector, Point, Scalar
from groupoid_mech.discretization.composition import Composition, WeightedComposition, raise_order
from groupoid_mech.discretization.cotangent_lift import Hamiltonian
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap, groupoid_of
from groupoid_mech.discretization.hamiltonian_family import hamiltonian_system
from groupoid_mech.discretization.integrator import Integrator
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.splitting import Drift, Kick, Separable, is_flat
from groupoid_mech.discretization.system_integrator import SystemIntegrator
from groupoid_mech.discretization.theta_map import theta_map
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold


def hamiltonian_integrator(hamiltonian: Hamiltonian, map: DiscretizationMap, dt: ArrayLike) -> Integrator:
    r"""The symplectic method of a discretization map for Hamilton's equations on :math:`A^*G`; BM (5.1), Prop. 5.1.

    For a `Separable` Hamiltonian on a flat space the methods of θ = 0 and θ = 1, the two symplectic Euler methods, are explicit: a kick and
    a drift. Otherwise it is the Hamiltonian map of `hamiltonian_system`.

    Args:
        hamiltonian: The function ``H(q, p)``, with ``p`` in the dual frame of the algebroid at ``q``.
        map: The discretization map.
        dt: The time step.

    Example:
        >>> import groupoid_mech as gm
        >>> H = gm.Separable(lambda p: p[0] ** 2 / 2, lambda q: -jnp.cos(q[0]))
        >>> euler = hamiltonian_integrator(H, gm.theta_map(gm.Euclidean(1), 0), dt=0.1)
        >>> euler((jnp.zeros(1), jnp.ones(1)))
        (Array([0.1], dtype=float64), Array([1.], dtype=float64))
    """
    require_instances("hamiltonian_integrator", "map", (map,), DiscretizationMap)
    G = map.groupoid
    parts: list[Integrator] = []
    if isinstance(hamiltonian, Separable) and isinstance(G, PairGroupoid) and is_flat(G.base):
        kick, drift = Kick(hamiltonian.potential, G, dt), Drift(hamiltonian.kinetic, G.base, dt)
        if isinstance(map, ChartMap):
            parts = [kick, drift]
        elif isinstance(map, AdjointMap) and isinstance(map.map, ChartMap):
            parts = [drift, kick]
    if parts:
        return Composition(parts, dt)
    return SystemIntegrator(hamiltonian_system(hamiltonian, map, dt))


def stormer_verlet(
    hamiltonian: Hamiltonian, space: DiscretizationMap | Manifold | LieGroupoid, dt: ArrayLike
) -> Composition:
    r"""The Störmer–Verlet method: half a step by a retraction, half a step by its adjoint; BM Example 6.1.

    .. math:: \mathcal L_{R^*}^{dt/2} \circ \mathcal L_R^{dt/2}, \qquad\text{on } R^n: \quad
        p_{1/2} = p_0 - \tfrac{dt}2\partial_qH(q_0, p_{1/2}), \;\dots

    Symmetric and symplectic, on every groupoid; explicit for a `Separable` Hamiltonian on a flat space.

    Args:
        hamiltonian: The function ``H(q, p)``.
        space: A manifold or a groupoid with its own chart as retraction, or another retraction.
        dt: The time step.
    """
    h = jnp.asarray(dt, float)
    R = theta_map(space, 0)
    if isinstance(hamiltonian, Separable) and isinstance(R, ChartMap) and isinstance(R.groupoid, PairGroupoid):
        G = R.groupoid
        if is_flat(G.base):
            kick, drift = Kick(hamiltonian.potential, G, h / 2), Drift(hamiltonian.kinetic, G.base, h)
            return Composition([kick, drift, kick], h)
    halves = [hamiltonian_integrator(hamiltonian, half, h / 2) for half in (R, R.adjoint())]
    return Composition(halves, h)


def splitting(
    hamiltonian: Separable, space: Manifold | LieGroupoid, weights: ArrayLike, dt: ArrayLike
) -> WeightedComposition:
    r"""The splitting method of a separable Hamiltonian: drifts :math:`a_i dt` and kicks :math:`b_i dt`, in turn, a drift first.

    Partitioned Runge–Kutta methods of two diagonally implicit ones are of this form (BM §6.2). On a flat space every part is explicit;
    elsewhere the flow of T is replaced by its midpoint method, of order 2.

    Args:
        hamiltonian: The Hamiltonian :math:`T(p) + V(q)`.
        space: A manifold or a groupoid.
        weights: Rows :math:`(a_i, b_i)`; `composition_weights` has tables.
        dt: The time step.
    """
    require_instances("splitting", "hamiltonian", (hamiltonian,), Separable)
    G = groupoid_of("splitting", space)
    drift: Integrator
    if isinstance(G, PairGroupoid) and is_flat(G.base):
        drift = Drift(hamiltonian.kinetic, G.base, dt)
    else:
        drift = SystemIntegrator(hamiltonian_system(Kinetic(hamiltonian.kinetic), theta_map(G, 0.5), dt))
    return WeightedComposition([drift, Kick(hamiltonian.potential, G, dt)], weights, dt)


def symplectic_dirk(
    hamiltonian: Hamiltonian, space: DiscretizationMap | Manifold | LieGroupoid, weights: ArrayLike, dt: ArrayLike
) -> WeightedComposition:
    r"""The symplectic diagonally implicit Runge–Kutta method of the weights b, as midpoint steps of lengths :math:`b_i dt`; BM §6.2.

    .. math:: a_{ij} = b_j \;(j < i), \qquad a_{ii} = b_i/2 .

    On a manifold or a groupoid the midpoint method is that of the map with θ = ½.

    Args:
        hamiltonian: The function ``H(q, p)``.
        space: A manifold or a groupoid with its own chart as retraction, or another retraction.
        weights: The numbers b, with sum 1.
        dt: The time step.
    """
    return raise_order(hamiltonian_integrator(hamiltonian, theta_map(space, 0.5), dt), weights)


@final
class Kinetic(eqx.Module):
    """The Hamiltonian T(p), without potential."""

    kinetic: Callable[[Covector], Scalar]

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return self.kinetic(p)
