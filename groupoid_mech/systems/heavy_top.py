"""The heavy top, a rigid body with a fixed point under gravity, on the action groupoid of rotations on directions."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Covector, Matrix, Point, Scalar, Vector, VectorField
from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot, matvec
from groupoid_mech.systems.model import Model, Observable
from groupoid_mech.systems.parameters import Numbers, inertia_moments, nonnegative, positive, vector
from groupoid_mech.systems.rigid_body import trace_form


def heavy_top(
    dt: ArrayLike = 0.01,
    inertia: Numbers = (1.0, 1.0, 0.6),
    mass: ArrayLike = 1.0,
    gravity: ArrayLike = 9.81,
    center: Numbers = (0.0, 0.0, 0.5),
    direction: Numbers = (0.6, 0.0, 0.8),
    velocity: Numbers = (0.0, 0.5, 8.0),
) -> Model:
    r"""The Lagrangian :math:`\tfrac12\sum_i I_i\omega_i^2 - m g\,\Gamma\cdot\chi` on :math:`S^2 \times so(3)`.

    With :math:`\Gamma` the upward vertical and :math:`\chi` the centre of mass, both seen from the body,

    .. math:: \dot\Pi = \Pi\times\omega + m g\,\Gamma\times\chi, \qquad \dot\Gamma = \Gamma\times\omega, \qquad \Pi_i = I_i\omega_i .

    Discretized on the action groupoid :math:`S^2 \rtimes SO(3)`, where an arrow :math:`(\Gamma, R)` leads from :math:`\Gamma` to
    :math:`R^{-1}\Gamma`:

    .. math:: L_d(\Gamma, R) = \frac1{dt}\sum_i\bigl(\tfrac12\textstyle\sum_j I_j - I_i\bigr)(1 - R_{ii})
        - dt\, m g\,\frac{\Gamma + R^{-1}\Gamma}2\cdot\chi .

    The angular momentum :math:`\Gamma\cdot\Pi` about the vertical is kept. In a Lagrange top, with :math:`I_1 = I_2` and :math:`\chi` along the
    third axis, so is :math:`\Pi_3`; it is listed where these are numbers, not under ``jit``.

    Args:
        dt: The time step.
        inertia: The principal moments :math:`I_1, I_2, I_3` about the fixed point.
        mass: The mass m.
        gravity: The acceleration g.
        center: The vector :math:`\chi` from the fixed point to the centre of mass.
        direction: The unit vector :math:`\Gamma` at the start.
        velocity: The angular velocity :math:`\omega` at the start, in the body.

    Example:
        >>> model = heavy_top(dt=0.01)
        >>> sorted(model.invariants)
        ['axial angular momentum', 'vertical angular momentum']
        >>> spin = model.invariant_values(model.simulate(100))["vertical angular momentum"]
        >>> bool(jnp.max(jnp.abs(spin - spin[0])) < 1e-13)
        True
    """
    owner = "heavy_top"
    h, moments = positive(owner, "dt", dt), inertia_moments(owner, inertia)
    chi = vector(owner, "center", center, 3)
    pull = positive(owner, "mass", mass) * nonnegative(owner, "gravity", gravity) * chi
    omega, q = vector(owner, "velocity", velocity, 3), vector(owner, "direction", direction, 3)
    G = ActionGroupoid(Sphere(2), SO3(tau="cayley"), turn_back)
    G.check_point(q, owner=owner, name="direction")
    system = DiscreteSystem(G, HeavyTopLagrangian(h, moments, pull))
    invariants: dict[str, Observable] = {"vertical angular momentum": vertical_angular_momentum}
    symmetries: dict[str, VectorField] = {"rotation about the vertical": vertical_rotation}
    if _is_lagrange_top(moments, chi):
        invariants["axial angular momentum"] = axial_angular_momentum
        symmetries["rotation about the axis of the top"] = axial_rotation
    return Model(
        name="heavy top",
        system=system,
        start=from_momentum(system, q, moments * omega, guess=h * omega),
        dt=h,
        energy=HeavyTopEnergy(moments, pull),
        invariants=invariants,
        symmetries=symmetries,
    )


@final
class HeavyTopLagrangian(eqx.Module):
    """The trace form of the kinetic energy, and the potential at both ends of the arrow."""

    dt: Scalar
    inertia: Vector
    pull: Vector

    def __call__(self, g: Point) -> Scalar:
        q, R = g
        height = dot(self.pull, q + turn_back(q, R)) / 2
        return trace_form(self.inertia, R) / self.dt - self.dt * height


@final
class HeavyTopEnergy(eqx.Module):
    r"""The energy :math:`\tfrac12\sum_i\Pi_i^2/I_i + m g\,\Gamma\cdot\chi`."""

    inertia: Vector
    pull: Vector

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return 0.5 * dot(p, p / self.inertia) + dot(self.pull, q)


def turn_back(q: Point, R: Matrix) -> Point:
    r"""The right action :math:`q \cdot R = R^{-1}q` of rotations on directions."""
    return matvec(R.T, q)


def vertical_rotation(q: Point) -> Vector:
    r"""The section :math:`X(\Gamma) = \Gamma`."""
    return q


def vertical_angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The angular momentum :math:`\Gamma\cdot\Pi` about the vertical."""
    return dot(q, p)


def axial_rotation(q: Point) -> Vector:
    r"""The section :math:`X = e_3`."""
    return jnp.array([0.0, 0.0, 1.0])


def axial_angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The angular momentum :math:`\Pi_3` about the axis of the top."""
    return p[2]


def _is_lagrange_top(inertia: Vector, center: Vector) -> bool:
    if not is_concrete((inertia, center)):
        return False
    (first, second, _), offset = np.asarray(inertia), np.asarray(center)[:2]
    return bool(first == second and np.all(offset == 0))
