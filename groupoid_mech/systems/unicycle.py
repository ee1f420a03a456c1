"""The unicycle, which rolls and turns but does not slide sideways, steered at least cost. MMS §6.1 on SE(2)."""

from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.systems.group_control import group_control, require_tau
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers


def unicycle(
    dt: ArrayLike = 0.05,
    weights: Numbers = (1.0, 1.0),
    velocity: Numbers = (0.5, 1.0),
    multipliers: Numbers = (0.4,),
    tau: str = "cayley",
) -> Model:
    r"""The cost :math:`\tfrac12(w_0\dot\theta^2 + w_1 v_1^2)` on :math:`se(2)` with the constraint :math:`v_2 = 0`.

    .. math:: \hat L(g) = \frac{w_0 a_0^2 + w_1 a_1^2}{2\,dt}, \qquad \varphi(g) = a_2, \qquad a = \tau^{-1}(g) \qquad\text{on } SE(2) .

    The length of the linear part of the momentum :math:`(w_0\dot\theta, w_1v_1, \lambda) \in se(2)^*` is kept.

    Args:
        dt: The time step.
        weights: The costs :math:`w_0` of turning and :math:`w_1` of rolling.
        velocity: The velocities :math:`\dot\theta, v_1` of the first arrow.
        multipliers: The multiplier λ of the first arrow: with the velocity, it chooses the extremal.
        tau: The map :math:`\tau: se(2) \to SE(2)`, ``"cayley"`` or ``"exp"``.

    Example:
        >>> import jax.numpy as jnp
        >>> trajectory = unicycle(dt=0.05).simulate(100)
        >>> bool(jnp.max(jnp.abs(trajectory.constraint_values())) < 1e-14)
        True
    """
    return group_control(
        "unicycle",
        "unicycle",
        SE2(tau=require_tau("unicycle", tau)),
        (0, 1),
        {"squared linear momentum": squared_linear_momentum},
        dt=dt,
        weights=weights,
        velocity=velocity,
        multipliers=multipliers,
    )


def squared_linear_momentum(q: Point, p: Covector) -> Scalar:
    r"""The Casimir function :math:`\mu_1^2 + \mu_2^2` of :math:`se(2)^*`."""
    return dot(p[1:], p[1:])
