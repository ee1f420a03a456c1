"""The rigid body with a fixed point as a Hamiltonian system: on the rotations, and reduced to the angular momenta in the body."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import is_concrete, require_choice
from groupoid_mech._types import Array, Covector, Point, Scalar, Vector
from groupoid_mech.discretization.splitting import Separable
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.model import Observable
from groupoid_mech.systems.natural import KineticEnergy, NaturalLagrangian, no_potential
from groupoid_mech.systems.parameters import Numbers, inertia_moments, nonnegative, positive, vector
from groupoid_mech.systems.rigid_body import RotationEnergy, squared_angular_momentum


def rigid_body_hamiltonian(
    dt: ArrayLike = 0.05,
    inertia: Numbers = (1.0, 2.0, 2.5),
    mass: ArrayLike = 1.0,
    gravity: ArrayLike = 0.0,
    center: Numbers = (0.0, 0.0, 0.5),
    attitude: ArrayLike | None = None,
    velocity: Numbers = (0.2, 1.0, 0.3),
    tau: str = "exp",
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(R, \Pi) = \tfrac12\sum_i\Pi_i^2/I_i + m g\,e_3\cdot R\chi` on :math:`T^*SO(3)`, with :math:`\Pi` in the body.

    .. math:: \dot R = R\,\hat\omega, \qquad \dot\Pi = \Pi\times\omega + m g\,(R^Te_3)\times\chi, \qquad \omega_i = \Pi_i/I_i .

    Its flow keeps the angular momentum :math:`e_3\cdot R\,\Pi` about the vertical; without gravity, all three components of :math:`R\,\Pi`; in
    a Lagrange top, with :math:`I_1 = I_2` and :math:`\chi` along the third axis, also :math:`\Pi_3`. Those of special values are listed where
    these are numbers, not under ``jit``.

    Args:
        dt: The time step.
        inertia: The principal moments :math:`I_1, I_2, I_3` about the fixed point.
        mass: The mass m.
        gravity: The acceleration g; 0 for a free body.
        center: The vector :math:`\chi` from the fixed point to the centre of mass, in the body.
        attitude: The rotation R at the start; if not given, none.
        velocity: The angular velocity :math:`\omega` at the start, in the body.
        tau: The map :math:`so(3) \to SO(3)` of the steps, ``"exp"`` or ``"cayley"``.

    Example:
        >>> model = rigid_body_hamiltonian(gravity=9.81, dt=0.01)
        >>> spin = model.invariant_values(model.simulate(100))["angular momentum about axis 3"]
        >>> bool(jnp.max(jnp.abs(spin - spin[0])) < 1e-13)
        True
    """
    owner = "rigid_body_hamiltonian"
    require_choice(owner, "tau", tau, ("exp", "cayley"))
    h, moments = positive(owner, "dt", dt), inertia_moments(owner, inertia)
    chi = vector(owner, "center", center, 3)
    pull = positive(owner, "mass", mass) * nonnegative(owner, "gravity", gravity) * chi
    group, omega = SO3(tau=tau), vector(owner, "velocity", velocity, 3)
    R = group.identity() if attitude is None else _rotation(owner, group, attitude)
    potential = BodyPotential(pull)
    return HamiltonianModel(
        name="rigid body",
        groupoid=PairGroupoid(group),
        hamiltonian=Separable(KineticEnergy(moments), potential),
        start=(R, moments * omega),
        dt=h,
        invariants=_invariants(moments, pull),
        lagrangian=NaturalLagrangian(moments, potential),
    )


def lie_poisson_rigid_body(
    dt: ArrayLike = 0.05,
    inertia: Numbers = (1.0, 2.0, 2.5),
    velocity: Numbers = (0.2, 1.0, 0.3),
    tau: str = "exp",
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(\Pi) = \tfrac12\sum_i\Pi_i^2/I_i` on :math:`so(3)^*`: Euler's equations :math:`\dot\Pi = \Pi\times\omega`.

    The free rigid body, reduced by rotations of space to the rotation group as a groupoid over a point. The Casimir function
    :math:`|\Pi|^2` is kept.

    Args:
        dt: The time step.
        inertia: The principal moments :math:`I_1, I_2, I_3`.
        velocity: The angular velocity :math:`\omega` at the start, in the body.
        tau: The map :math:`so(3) \to SO(3)` of the steps, ``"exp"`` or ``"cayley"``.

    Example:
        >>> model = lie_poisson_rigid_body(tau="cayley")
        >>> length = model.invariant_values(model.simulate(100))["squared angular momentum"]
        >>> bool(jnp.max(jnp.abs(length - length[0])) < 1e-13)
        True
    """
    owner = "lie_poisson_rigid_body"
    require_choice(owner, "tau", tau, ("exp", "cayley"))
    h, moments = positive(owner, "dt", dt), inertia_moments(owner, inertia)
    omega = vector(owner, "velocity", velocity, 3)
    return HamiltonianModel(
        name="Lie–Poisson rigid body",
        groupoid=GroupGroupoid(SO3(tau=tau)),
        hamiltonian=RotationEnergy(moments),
        start=(jnp.zeros(0), moments * omega),
        dt=h,
        invariants={"squared angular momentum": squared_angular_momentum},
        lagrangian=NaturalLagrangian(moments, no_potential),
    )


@final
class BodyPotential(eqx.Module):
    r"""The potential :math:`e_3\cdot R\,w` of the weight w = m g χ, a vector in the body."""

    pull: Vector

    def __call__(self, q: Point) -> Scalar:
        return dot(q[2], self.pull)


@final
class SpatialMomentum(eqx.Module):
    r"""A component of the angular momentum :math:`R\,\Pi` in space."""

    component: int = eqx.field(static=True)

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return dot(q[self.component], p)


def axial_angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The angular momentum :math:`\Pi_3` about the third axis of the body."""
    return p[2]


def _rotation(owner: str, group: SO3, attitude: ArrayLike) -> Array:
    try:
        R = jnp.asarray(attitude, float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{owner} needs attitude to be a 3 by 3 rotation matrix; got {attitude!r}.") from None
    group.check_point(R, owner=owner, name="attitude")
    return R


def _invariants(inertia: Vector, pull: Vector) -> dict[str, Observable]:
    """The components of the momentum in space, and that about the axis of a symmetric body."""
    free = symmetric = False
    if is_concrete((inertia, pull)):
        (first, second, _), weight = np.asarray(inertia), np.asarray(pull)
        free = bool(np.all(weight == 0))
        symmetric = bool(first == second and np.all(weight[:2] == 0))
    invariants: dict[str, Observable] = {
        f"angular momentum about axis {k + 1}": SpatialMomentum(k) for k in ((0, 1, 2) if free else (2,))
    }
    if symmetric:
        invariants["axial angular momentum"] = axial_angular_momentum
    return invariants
