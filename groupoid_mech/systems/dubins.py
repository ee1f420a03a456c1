"""The car of Dubins with a cost on its curvature: it rolls at constant speed and turns at least cost. MMS §6.1 on SE(2)."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.systems.group_control import DrivenCost, require_tau
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers, number, positive, vector
from groupoid_mech.systems.step_coordinates import step_coordinates
from groupoid_mech.systems.unicycle import squared_linear_momentum


def dubins(
    dt: ArrayLike = 0.05,
    speed: ArrayLike = 1.0,
    weight: ArrayLike = 1.0,
    turning: ArrayLike = 0.5,
    multipliers: Numbers = (0.3, 0.6),
    tau: str = "cayley",
) -> Model:
    r"""The cost :math:`\tfrac12 w\dot\theta^2` on :math:`se(2)` with the constraints :math:`v_1 = s`, :math:`v_2 = 0`.

    .. math:: \hat L(g) = \frac{w a_0^2}{2\,dt}, \qquad \varphi(g) = (a_1 - dt\,s,\; a_2), \qquad a = \tau^{-1}(g) \qquad\text{on } SE(2) .

    The paths of the car are elastic curves of given length. The length of the linear part of the momentum
    :math:`(w\dot\theta, \lambda_1, \lambda_2) \in se(2)^*` is kept, and the energy :math:`\mu_0^2/(2w) + s\mu_1` near its value.

    Args:
        dt: The time step.
        speed: The speed s.
        weight: The cost w of turning.
        turning: The rate :math:`\dot\theta` of the first arrow.
        multipliers: The multipliers of the first arrow: with the rate, they choose the extremal.
        tau: The map :math:`\tau: se(2) \to SE(2)`, ``"cayley"`` or ``"exp"``.

    Example:
        >>> trajectory = dubins(dt=0.05).simulate(100)
        >>> bool(jnp.max(jnp.abs(trajectory.constraint_values())) < 1e-14)
        True
    """
    owner = "dubins"
    h, s, w = positive(owner, "dt", dt), positive(owner, "speed", speed), positive(owner, "weight", weight)
    rate, lam = number(owner, "turning", turning), vector(owner, "multipliers", multipliers, 2)
    group = SE2(tau=require_tau(owner, tau))
    weights = w * jnp.array([1.0, 0.0, 0.0])
    system = DiscreteSystem(GroupGroupoid(group), DrivenCost(group, h, weights), ConstantSpeed(group, h, s))
    return Model(
        name="car of Dubins",
        system=system,
        start=system.start(group.from_algebra(h * jnp.stack([rate, s, jnp.zeros(())])), multipliers=lam),
        dt=h,
        energy=CarEnergy(w, s),
        invariants={"squared linear momentum": squared_linear_momentum},
        symmetries={},
    )


@final
class ConstantSpeed(eqx.Module):
    r"""The constraints :math:`\tau^{-1}(g)_1 = dt\,s` and :math:`\tau^{-1}(g)_2 = 0`."""

    group: SE2
    dt: Scalar
    speed: Scalar

    def __call__(self, g: Point) -> Vector:
        a = step_coordinates(self.group, g)
        return a[1:] - self.dt * self.speed * jnp.array([1.0, 0.0])


@final
class CarEnergy(eqx.Module):
    r"""The energy :math:`\mu_0^2/(2w) + s\mu_1`."""

    weight: Scalar
    speed: Scalar

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return p[0] ** 2 / (2 * self.weight) + self.speed * p[1]
