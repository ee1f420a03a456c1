"""Reorientation of a body that turns about two of its axes only. MMS §6.1 on SO(3)."""

from jax.typing import ArrayLike

from groupoid_mech.groups.so3 import SO3
from groupoid_mech.systems.group_control import group_control, require_tau
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers
from groupoid_mech.systems.rigid_body import squared_angular_momentum


def reorientation(
    dt: ArrayLike = 0.05,
    weights: Numbers = (1.0, 2.0),
    velocity: Numbers = (0.6, -0.4),
    multipliers: Numbers = (0.5,),
    tau: str = "cayley",
) -> Model:
    r"""The cost :math:`\tfrac12(w_1\omega_1^2 + w_2\omega_2^2)` on :math:`so(3)` with the constraint :math:`\omega_3 = 0`.

    .. math:: \hat L(R) = \frac{w_1 a_1^2 + w_2 a_2^2}{2\,dt}, \qquad \varphi(R) = a_3, \qquad a = \tau^{-1}(R) \qquad\text{on } SO(3) .

    The length of the momentum :math:`(w_1\omega_1, w_2\omega_2, \lambda) \in so(3)^*` is kept.

    Args:
        dt: The time step.
        weights: The costs :math:`w_1, w_2` of the two rotations.
        velocity: The angular velocities :math:`\omega_1, \omega_2` of the first arrow.
        multipliers: The multiplier λ of the first arrow: with the velocity, it chooses the extremal.
        tau: The map :math:`\tau: so(3) \to SO(3)`, ``"cayley"`` or ``"exp"``.

    Example:
        >>> import jax.numpy as jnp
        >>> trajectory = reorientation(dt=0.05).simulate(100)
        >>> bool(jnp.max(jnp.abs(trajectory.constraint_values())) < 1e-14)
        True
    """
    return group_control(
        "reorientation",
        "reorientation",
        SO3(tau=require_tau("reorientation", tau)),
        (0, 1),
        {"squared momentum": squared_angular_momentum},
        dt=dt,
        weights=weights,
        velocity=velocity,
        multipliers=multipliers,
    )
