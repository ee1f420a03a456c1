"""Geodesics of level sets, for instance of an ellipsoid."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Array, Covector, Point, Scalar, Vector
from groupoid_mech.discretization.splitting import Separable
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.level_set import LevelSet
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.model import Observable
from groupoid_mech.systems.natural import KineticEnergy, NaturalLagrangian, no_potential
from groupoid_mech.systems.parameters import Numbers, positive, positive_vector, vector

_AXES = (1.0, 0.8, 0.6)


def geodesics(
    dt: ArrayLike = 0.05,
    axes: Numbers | None = None,
    surface: LevelSet | None = None,
    position: Numbers | None = None,
    velocity: Numbers | None = None,
) -> HamiltonianModel:
    r"""The Hamiltonian :math:`H(q, p) = \tfrac12|p|^2` of free motion, on :math:`T^*Q` of an ellipsoid or of any level set Q in :math:`R^n`.

    The momentum is in the orthonormal frame of the level set. On the ellipsoid :math:`\sum_i q_i^2/a_i^2 = 1` Joachimsthal's function

    .. math:: J(q, v) = \Bigl(\sum_i\frac{q_i^2}{a_i^4}\Bigr)\Bigl(\sum_i\frac{v_i^2}{a_i^2}\Bigr), \qquad v = \dot q \in R^3 ,

    is kept.

    Args:
        dt: The time step.
        axes: The half axes :math:`a_1, a_2, a_3` of the ellipsoid; 1, 0.8 and 0.6 if not given.
        surface: Another level set, instead of an ellipsoid.
        position: Where the geodesic starts, a point of the surface; if not given, a point in the direction (1, 1, 1) of the ellipsoid, or
            that which the level set holds.
        velocity: The velocity in :math:`R^n` at the start, of which the part along the normals is dropped; if not given, the first
            vector of the frame.

    Example:
        >>> model = geodesics(axes=(1.0, 0.9, 0.5))
        >>> values = model.invariant_values(model.simulate(100))["Joachimsthal's function"]
        >>> bool(jnp.max(jnp.abs(values - values[0])) < 1e-2 * values[0])
        True
    """
    owner = "geodesics"
    h = positive(owner, "dt", dt)
    invariants: dict[str, Observable] = {}
    if surface is None:
        a = positive_vector(owner, "axes", _AXES if axes is None else axes, 3)
        middle = 1 / jnp.sqrt(jnp.sum(1 / a**2))
        surface = LevelSet(Ellipsoid(a), 3, point=middle * jnp.ones(3))
        invariants["Joachimsthal's function"] = JoachimsthalFunction(surface, a)
    elif axes is not None:
        raise ArgumentError(f"{owner} needs axes of an ellipsoid or another surface, not both.")
    require_instances(owner, "surface", (surface,), LevelSet)
    n = surface.ambient_dim
    q = surface.point if position is None else vector(owner, "position", position, n)
    surface.check_point(q, owner=owner, name="position")
    p = jnp.zeros(surface.dim).at[0].set(1.0)
    if velocity is not None:
        p = surface.from_ambient(q, vector(owner, "velocity", velocity, n))
    return HamiltonianModel(
        name="geodesics",
        groupoid=PairGroupoid(surface),
        hamiltonian=Separable(KineticEnergy(jnp.ones(())), no_potential),
        start=(q, p),
        dt=h,
        invariants=invariants,
        lagrangian=NaturalLagrangian(jnp.ones(()), no_potential),
    )


@final
class Ellipsoid(eqx.Module):
    r"""The function :math:`\sum_i x_i^2/a_i^2 - 1`."""

    axes: Vector

    def __call__(self, x: Array) -> Scalar:
        return dot(x / self.axes, x / self.axes) - 1


@final
class JoachimsthalFunction(eqx.Module):
    r"""Joachimsthal's function :math:`\bigl(\sum_i q_i^2/a_i^4\bigr)\bigl(\sum_i v_i^2/a_i^2\bigr)`."""

    surface: LevelSet
    axes: Vector

    def __call__(self, q: Point, p: Covector) -> Scalar:
        normal = q / self.axes**2
        speed = self.surface.to_ambient(q, p) / self.axes
        return dot(normal, normal) * dot(speed, speed)
