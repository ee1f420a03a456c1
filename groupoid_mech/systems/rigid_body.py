"""The free rigid body, reduced to the rotation group as a groupoid over a point."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_choice
from groupoid_mech._types import Covector, Matrix, Point, Scalar, Vector
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.systems.model import Model, Observable
from groupoid_mech.systems.parameters import Numbers, inertia_moments, positive, vector
from groupoid_mech.systems.step_coordinates import step_coordinates


def rigid_body(
    dt: ArrayLike = 0.05,
    inertia: Numbers = (1.0, 2.0, 2.5),
    velocity: Numbers = (0.2, 1.0, 0.3),
    form: str = "trace",
    tau: str = "cayley",
) -> Model:
    r"""The Lagrangian :math:`\tfrac12\sum_i I_i\omega_i^2` on :math:`so(3)`: Euler's equations :math:`\dot\Pi = \Pi\times\omega`.

    .. math:: L(R) = \frac1{dt}\sum_i \bigl(\tfrac12\textstyle\sum_j I_j - I_i\bigr)(1 - R_{ii}) \quad(\texttt{form="trace"}), \qquad
        L(R) = \frac1{2\,dt}\sum_i I_i\,(\tau^{-1}(R)_i)^2 \quad(\texttt{form="tau"}) .

    The first is the discrete rigid body of Moser and Veselov. An arrow is the rotation :math:`R_k^{-1}R_{k+1}` of one step, as the body sees it;
    both forms keep the length of the angular momentum :math:`\Pi \in so(3)^*`, since :math:`\Pi_{k+1} = R^{-1}\Pi_k`; the first, being
    integrable, keeps the energy too.

    Args:
        dt: The time step.
        inertia: The principal moments :math:`I_1, I_2, I_3`.
        velocity: The angular velocity :math:`\omega` at the start, in the body.
        form: The discrete Lagrangian, ``"trace"`` or ``"tau"``.
        tau: The map :math:`\tau: so(3) \to SO(3)`, ``"cayley"`` or ``"exp"``: that of the second form, and the chart in which steps are solved.

    Example:
        >>> model = rigid_body(inertia=(1.0, 2.0, 2.5))
        >>> length = model.invariant_values(model.simulate(100))["squared angular momentum"]
        >>> bool(jnp.max(jnp.abs(length - length[0])) < 1e-13)
        True
    """
    owner = "rigid_body"
    require_choice(owner, "form", form, ("trace", "tau"))
    require_choice(owner, "tau", tau, ("cayley", "exp"))
    h, moments, omega = (
        positive(owner, "dt", dt),
        inertia_moments(owner, inertia),
        vector(owner, "velocity", velocity, 3),
    )
    group = SO3(tau=tau)
    lagrangian = TraceLagrangian(h, moments) if form == "trace" else QuadraticLagrangian(group, h, moments)
    system = DiscreteSystem(GroupGroupoid(group), lagrangian)
    energy = RotationEnergy(moments)
    invariants: dict[str, Observable] = {"squared angular momentum": squared_angular_momentum}
    if form == "trace":
        invariants["energy"] = energy
    return Model(
        name="rigid body",
        system=system,
        start=from_momentum(system, jnp.zeros(0), moments * omega, guess=h * omega),
        dt=h,
        energy=energy,
        invariants=invariants,
        symmetries={},
    )


@final
class TraceLagrangian(eqx.Module):
    r"""Moser and Veselov's form, :math:`\operatorname{tr}(J(1 - R))/dt` with :math:`J = \tfrac12\operatorname{tr}(I) - I`."""

    dt: Scalar
    inertia: Vector

    def __call__(self, g: Point) -> Scalar:
        return trace_form(self.inertia, g) / self.dt


@final
class QuadraticLagrangian(eqx.Module):
    r"""The kinetic energy of :math:`\tau^{-1}(R)/dt`, times dt."""

    group: SO3
    dt: Scalar
    inertia: Vector

    def __call__(self, g: Point) -> Scalar:
        a = step_coordinates(self.group, g)
        return dot(self.inertia * a, a) / (2 * self.dt)


@final
class RotationEnergy(eqx.Module):
    r"""The energy :math:`\tfrac12\sum_i \Pi_i^2/I_i`."""

    inertia: Vector

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return 0.5 * dot(p, p / self.inertia)


def trace_form(inertia: Vector, R: Matrix) -> Scalar:
    r"""The function :math:`\sum_i(\tfrac12\sum_j I_j - I_i)(1 - R_{ii}) = \tfrac12\omega^T I\omega + O(|\omega|^4)` for :math:`R = \exp\omega`."""
    return dot(0.5 * jnp.sum(inertia) - inertia, 1 - jnp.stack([R[0, 0], R[1, 1], R[2, 2]]))


def squared_angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The Casimir function :math:`|\Pi|^2` of :math:`so(3)^*`."""
    return dot(p, p)
