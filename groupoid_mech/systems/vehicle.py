"""A vehicle in space that turns freely but is driven forwards only, steered at least cost. MMS §6.1 on SE(3)."""

from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar
from groupoid_mech.groups.se3 import SE3
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.systems.group_control import group_control, require_tau
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers


def vehicle(
    dt: ArrayLike = 0.05,
    weights: Numbers = (1.0, 1.5, 2.0, 1.0),
    velocity: Numbers = (0.3, -0.2, 0.4, 1.0),
    multipliers: Numbers = (0.3, -0.5),
    tau: str = "cayley",
) -> Model:
    r"""The cost :math:`\tfrac12(\sum_i w_i\omega_i^2 + w_4v_1^2)` on :math:`se(3)` with the constraints :math:`v_2 = v_3 = 0`.

    .. math:: \hat L(g) = \frac{w_1 a_1^2 + w_2 a_2^2 + w_3 a_3^2 + w_4 a_4^2}{2\,dt}, \qquad \varphi(g) = (a_5, a_6), \qquad
        a = \tau^{-1}(g) \qquad\text{on } SE(3) .

    Of the momentum :math:`(\Pi, P) \in se(3)^*`, with :math:`P = (w_4v_1, \lambda_1, \lambda_2)`, the functions :math:`|P|^2` and
    :math:`\Pi\cdot P` are kept.

    Args:
        dt: The time step.
        weights: The costs :math:`w_1, w_2, w_3` of the rotations and :math:`w_4` of the translation.
        velocity: The velocities :math:`\omega_1, \omega_2, \omega_3, v_1` of the first arrow.
        multipliers: The multipliers λ of the first arrow: with the velocity, they choose the extremal.
        tau: The map :math:`\tau: se(3) \to SE(3)`, ``"cayley"`` or ``"exp"``.

    Example:
        >>> import jax.numpy as jnp
        >>> trajectory = vehicle(dt=0.05).simulate(100)
        >>> bool(jnp.max(jnp.abs(trajectory.constraint_values())) < 1e-14)
        True
    """
    return group_control(
        "vehicle",
        "vehicle",
        SE3(tau=require_tau("vehicle", tau)),
        (0, 1, 2, 3),
        {"squared linear momentum": squared_linear_momentum, "momentum along the axis": axial_momentum},
        dt=dt,
        weights=weights,
        velocity=velocity,
        multipliers=multipliers,
    )


def squared_linear_momentum(q: Point, p: Covector) -> Scalar:
    r"""The Casimir function :math:`|P|^2` of :math:`se(3)^*`."""
    return dot(p[3:], p[3:])


def axial_momentum(q: Point, p: Covector) -> Scalar:
    r"""The Casimir function :math:`\Pi\cdot P` of :math:`se(3)^*`."""
    return dot(p[:3], p[3:])
