"""The Heisenberg group, the flat model of sub-Riemannian geometry: least curves in the plane around a given area. MMS §6.1."""

from jax.typing import ArrayLike

from groupoid_mech._types import Covector, Point, Scalar
from groupoid_mech.groups.heisenberg import Heisenberg
from groupoid_mech.systems.group_control import group_control
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import Numbers


def heisenberg(
    dt: ArrayLike = 0.05,
    weights: Numbers = (1.0, 1.0),
    velocity: Numbers = (1.0, 0.5),
    multipliers: Numbers = (0.8,),
) -> Model:
    r"""The cost :math:`\tfrac12(w_1\xi_1^2 + w_2\xi_2^2)` on the Heisenberg algebra with the constraint :math:`\xi_3 = 0`.

    .. math:: \hat L(g) = \frac{w_1 x^2 + w_2 y^2}{2\,dt}, \qquad \varphi(g) = z, \qquad g = (x, y, z) = \tau(a) \text{ with } a = (x, y, z) .

    Arrows on N are steps in the plane, and z sums up the area that they sweep:
    :math:`z_{k+1} = z_k + \tfrac12(x_k\Delta y - y_k\Delta x)`. Momenta :math:`(w_1\xi_1, w_2\xi_2, \lambda)` turn, λ is kept: for equal
    weights w, extremals are polygons inscribed in circles, which turn by :math:`2\arctan(\lambda\,dt/2w)` from step to step. The cheapest way up,
    to :math:`(0, 0, z)` in n steps that take the time 1, is once around a regular polygon of area :math:`|z|`. It costs

    .. math:: 2wn\tan(\pi/n)\,|z| = 2\pi w|z|\bigl(1 + \tfrac{\pi^2}{3n^2} + \dots\bigr),

    and in the limit half the square of the length :math:`2\sqrt{\pi|z|}` of a circle, times w.

    Args:
        dt: The time step.
        weights: The costs :math:`w_1, w_2` of the two directions.
        velocity: The velocities :math:`\xi_1, \xi_2` of the first arrow.
        multipliers: The multiplier λ of the first arrow: with the velocity, it chooses the extremal.

    Example:
        >>> import jax.numpy as jnp
        >>> trajectory = heisenberg(dt=0.05).simulate(100)
        >>> bool(jnp.max(jnp.abs(trajectory.multipliers - 0.8)) < 1e-13)
        True
    """
    return group_control(
        "heisenberg",
        "Heisenberg group",
        Heisenberg(),
        (0, 1),
        {"vertical momentum": vertical_momentum},
        dt=dt,
        weights=weights,
        velocity=velocity,
        multipliers=multipliers,
    )


def vertical_momentum(q: Point, p: Covector) -> Scalar:
    r"""The Casimir function :math:`\mu_3` of the dual of the Heisenberg algebra."""
    return p[2]
