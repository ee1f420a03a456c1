"""Kepler's problem in the plane: a planet around a fixed sun."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.mechanics.increment import IncrementFunction
from groupoid_mech.mechanics.starts import from_momentum
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.numerics.with_value import with_value
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.parameters import nonnegative, positive


def kepler(
    dt: ArrayLike = 0.01,
    eccentricity: ArrayLike = 0.3,
    semi_major_axis: ArrayLike = 1.0,
    mass: ArrayLike = 1.0,
    attraction: ArrayLike = 1.0,
) -> Model:
    r"""The Lagrangian :math:`\tfrac12 m|\dot q|^2 + k/|q|` on the plane.

    .. math:: L_d(q_0, q_1) = \frac{m}{2\,dt}|q_1 - q_0|^2 + \frac{dt}2\Bigl(\frac k{|q_0|} + \frac k{|q_1|}\Bigr)
        \qquad\text{on } R^2 \times R^2 ,

    whose flow is the Störmer–Verlet method. Rotations are symmetries: the angular momentum :math:`q \times p` is kept.

    Args:
        dt: The time step; one revolution takes :math:`2\pi\sqrt{m a^3/k}`.
        eccentricity: The eccentricity :math:`0 \le e < 1` of the ellipse; the planet starts at its perihelion, :math:`(a(1 - e), 0)`.
        semi_major_axis: The larger half axis a of the ellipse.
        mass: The mass m of the planet.
        attraction: The strength k.

    Example:
        >>> model = kepler(dt=0.01, eccentricity=0.6)
        >>> spin = model.invariant_values(model.simulate(100))["angular momentum"]
        >>> bool(jnp.max(jnp.abs(spin - spin[0])) < 1e-13)
        True
    """
    owner = "kepler"
    h = positive(owner, "dt", dt)
    q, v, m, k = perihelion(owner, eccentricity, semi_major_axis, mass, attraction)
    system = DiscreteSystem(PairGroupoid(Euclidean(2)), KeplerLagrangian(h, m, k))
    return Model(
        name="Kepler problem",
        system=system,
        start=from_momentum(system, q, m * v, guess=h * v),
        dt=h,
        energy=KeplerEnergy(m, k),
        invariants={"angular momentum": angular_momentum},
        symmetries={"rotation": rotation},
    )


@final
class KeplerLagrangian(IncrementFunction):
    r"""The discrete Lagrangian, with :math:`q_1 - q_0` from the coordinates of the arrow."""

    dt: Scalar
    mass: Scalar
    attraction: Scalar

    def at(self, g: Point, a: Vector, *auxiliary: Vector) -> Scalar:
        q0, q1 = g
        d = with_value(a, q1 - q0)
        inverse_distances = 1 / jnp.sqrt(dot(q0, q0)) + 1 / jnp.sqrt(dot(q1, q1))
        return self.mass * dot(d, d) / (2 * self.dt) + 0.5 * self.dt * self.attraction * inverse_distances


@final
class KeplerEnergy(eqx.Module):
    r"""The energy :math:`|p|^2/(2m) - k/|q|`."""

    mass: Scalar
    attraction: Scalar

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return dot(p, p) / (2 * self.mass) - self.attraction / jnp.sqrt(dot(q, q))


def perihelion(
    owner: str, eccentricity: ArrayLike, semi_major_axis: ArrayLike, mass: ArrayLike, attraction: ArrayLike
) -> tuple[Vector, Vector, Scalar, Scalar]:
    """The position and velocity at the perihelion, and the mass and strength, all checked."""
    axis = positive(owner, "semi_major_axis", semi_major_axis)
    m, k = positive(owner, "mass", mass), positive(owner, "attraction", attraction)
    e = nonnegative(owner, "eccentricity", eccentricity)
    if is_concrete(e) and not float(e) < 1:
        raise ArgumentError(f"{owner} needs eccentricity < 1, an ellipse; got {float(e)}.")
    q = jnp.stack([axis * (1 - e), jnp.zeros(())])
    v = jnp.stack([jnp.zeros(()), jnp.sqrt(k * (1 + e) / (m * axis * (1 - e)))])
    return q, v, m, k


def rotation(q: Point) -> Vector:
    r"""The field :math:`(-q_2, q_1)` of rotations."""
    return jnp.stack([-q[1], q[0]])


def angular_momentum(q: Point, p: Covector) -> Scalar:
    r"""The angular momentum :math:`q_1 p_2 - q_2 p_1`."""
    return dot(p, rotation(q))
