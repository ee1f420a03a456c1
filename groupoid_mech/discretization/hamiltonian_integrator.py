r"""Methods for Hamilton's equations on :math:`A^*G` from discretization maps. BM §5.1, §6."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_choice, require_instances, time_step
from groupoid_mech._types import Covector, Point, Scalar
from groupoid_mech.discretization.composition import (
    Composition,
    WeightedComposition,
    numbers,
    raise_order,
    repeated,
    require_whole_steps,
)
from groupoid_mech.discretization.composition_weights import optimized, suzuki
from groupoid_mech.discretization.cotangent_lift import Hamiltonian
from groupoid_mech.discretization.discretization_map import AdjointMap, DiscretizationMap, groupoid_of
from groupoid_mech.discretization.hamiltonian_family import hamiltonian_system
from groupoid_mech.discretization.integrator import Integrator
from groupoid_mech.discretization.lifted_map import require_map, require_scalar_function
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.splitting import Drift, Kick, Separable, is_flat_pair
from groupoid_mech.discretization.system_integrator import SystemIntegrator
from groupoid_mech.discretization.theta_map import ThetaMap, theta_map
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.manifolds.manifold import Manifold

# The weights that give the drifts of a splitting their order.
_DRIFTS = {4: suzuki, 6: optimized, 8: optimized}


def hamiltonian_integrator(hamiltonian: Hamiltonian, map: DiscretizationMap, dt: ArrayLike) -> Integrator:
    r"""The symplectic method of a discretization map for Hamilton's equations on :math:`A^*G`; BM (5.1), Prop. 5.1.

    For a `Separable` Hamiltonian on a flat space the methods of θ = 0 and θ = 1, the two symplectic Euler methods, are explicit: a kick and
    a drift. Otherwise it is the Hamiltonian map of `hamiltonian_system`.

    Args:
        hamiltonian: The function ``H(q, p)``, with ``p`` in the dual frame of the algebroid at ``q``.
        map: The discretization map.
        dt: The time step.

    Example:
        >>> import groupoid_mech as gm, jax.numpy as jnp
        >>> H = gm.Separable(lambda p: p[0] ** 2 / 2, lambda q: -jnp.cos(q[0]))
        >>> euler = hamiltonian_integrator(H, gm.theta_map(gm.Euclidean(1), 0), dt=0.1)
        >>> euler((jnp.zeros(1), jnp.ones(1)))
        (Array([0.1], dtype=float64), Array([1.], dtype=float64))
    """
    require_map("hamiltonian_integrator", map)
    h = time_step("hamiltonian_integrator", dt)
    end = _end_of(map)
    if isinstance(hamiltonian, Separable) and end is not None:
        G = map.groupoid
        parts = [Kick(hamiltonian.potential, G, h), Drift(hamiltonian.kinetic, G.base, h)]
        return Composition(parts if end == 0 else parts[::-1], h)
    return SystemIntegrator(hamiltonian_system(hamiltonian, map, h))


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
    h = time_step("stormer_verlet", dt)
    R = theta_map(space, 0)
    if isinstance(hamiltonian, Separable) and _end_of(R) == 0:
        G = R.groupoid
        kick, drift = Kick(hamiltonian.potential, G, h / 2), Drift(hamiltonian.kinetic, G.base, h)
        return Composition([kick, drift, kick], h)
    halves = [hamiltonian_integrator(hamiltonian, half, h / 2) for half in (R, R.adjoint())]
    return Composition(halves, h)


def splitting(
    hamiltonian: Separable, space: Manifold | LieGroupoid, weights: ArrayLike, dt: ArrayLike, *, drift_order: int = 2
) -> WeightedComposition:
    r"""The splitting method of a separable Hamiltonian: drifts :math:`a_i dt` and kicks :math:`b_i dt`, in turn, a drift first.

    Partitioned Runge–Kutta methods of two diagonally implicit ones are of this form (BM §6.2). On a flat space every part is explicit
    and exact. Elsewhere the flow of T is replaced by its midpoint method, composed with itself to the order ``drift_order``: the
    splitting has the order of the weights or that of the drifts, whichever is less. Where the midpoint method of T is exact, as for
    :math:`|p|^2` on a sphere or on a group with a bi-invariant metric, order 2 is enough. For a Hamiltonian without such parts,
    `raise_order` composes a symplectic Euler method with its adjoint by the same weights.

    Args:
        hamiltonian: The Hamiltonian :math:`T(p) + V(q)`.
        space: A manifold or a groupoid.
        weights: Rows :math:`(a_i, b_i)`, with sums 1 and 1; `splitting_weights` has tables.
        dt: The time step.
        drift_order: The order of the drifts where they are not exact, 2, 4, 6 or 8: with 1, 5 (`suzuki`), 9 or 17 (`optimized`) midpoint
            steps for each drift.
    """
    advice = (
        "Give its parts, Separable(T, V). Other Hamiltonians have no drifts and kicks: compose a symplectic Euler method with its adjoint, "
        "raise_order(hamiltonian_integrator(H, theta_map(space, 1), dt), weights)."
    )
    require_instances("splitting", "hamiltonian", (hamiltonian,), Separable, advice)
    require_choice("splitting", "drift_order", drift_order, (2, *_DRIFTS))
    h = time_step("splitting", dt)
    G = groupoid_of("splitting", space)
    rows = numbers("splitting", "weights", weights)
    if rows.ndim != 2 or rows.shape[1] != 2 or not rows.size:
        raise ArgumentError(f"splitting needs weights in rows of a drift and a kick; got shape {rows.shape}.")
    require_whole_steps("splitting", rows)
    require_scalar_function("splitting", hamiltonian.kinetic, jnp.zeros(G.rank))
    drift: Integrator
    if is_flat_pair(G):
        drift = Drift(hamiltonian.kinetic, G.base, h)
    else:
        drift = SystemIntegrator(hamiltonian_system(_FreeMotion(hamiltonian.kinetic), theta_map(G, 0.5), h))
        if drift_order in _DRIFTS:
            drift = raise_order(drift, _DRIFTS[drift_order](drift_order))
    return WeightedComposition([drift, Kick(hamiltonian.potential, G, h)], rows, h)


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
    h = time_step("symplectic_dirk", dt)
    return repeated("symplectic_dirk", hamiltonian_integrator(hamiltonian, theta_map(space, 0.5), h), weights)


def _end_of(map: DiscretizationMap) -> int | None:
    """The θ, 0 or 1, of which a map of a flat space is known to be the θ-map of the chart; none if it is not."""
    if not is_flat_pair(map.groupoid):
        return None
    if isinstance(map, ChartMap):
        return 0
    if isinstance(map, AdjointMap):
        end = _end_of(map.map)
        return None if end is None else 1 - end
    if (
        isinstance(map, ThetaMap)
        and isinstance(map.retraction, ChartMap)
        and not isinstance(map.theta, jax.core.Tracer)
    ):
        multiples = {end: end * np.eye(map.groupoid.rank) if map.theta.ndim else end for end in (0, 1)}
        return next((end for end, theta in multiples.items() if np.array_equal(map.theta, theta)), None)
    return None


@final
class _FreeMotion(eqx.Module):
    """The Hamiltonian T(p), without potential."""

    kinetic: Callable[[Covector], Scalar]

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return self.kinetic(p)
