r"""Optimal control on Lie groups: the cheapest motion in directions that can be driven. MMS §6.1.

.. math:: \hat L(g) = dt\;\ell(\tau^{-1}(g)/dt), \qquad \varphi(g) = dt\;\Psi(\tau^{-1}(g)/dt), \qquad
    \ell(\xi) = \tfrac12\textstyle\sum_{i \in D} w_i\xi_i^2, \qquad \Psi(\xi) = (\xi_i)_{i \notin D},

with D the driven directions of the algebra. The momentum :math:`\mu \in \mathfrak h^*` has the parts :math:`w_i\xi_i` along D and λ across.
"""

from collections.abc import Mapping
from typing import final

import equinox as eqx
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import require_choice
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groups.lie_group import TAUS, LieGroup
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import dot, matvec
from groupoid_mech.systems.model import Model, Observable
from groupoid_mech.systems.parameters import Numbers, positive, positive_vector, vector
from groupoid_mech.systems.step_coordinates import step_coordinates


def group_control(
    owner: str,
    name: str,
    group: LieGroup,
    driven: tuple[int, ...],
    casimirs: Mapping[str, Observable],
    *,
    dt: ArrayLike,
    weights: Numbers,
    velocity: Numbers,
    multipliers: Numbers,
) -> Model:
    """The model of the control problem on a group with the given driven directions; ``owner`` is the factory that its errors name."""
    h, w = positive(owner, "dt", dt), positive_vector(owner, "weights", weights, len(driven))
    held = tuple(i for i in range(group.dim) if i not in driven)
    chosen = np.eye(group.dim)[np.array(driven)]
    system = DiscreteSystem(GroupGroupoid(group), DrivenCost(group, h, w @ chosen), HeldVelocity(group, held))
    v = vector(owner, "velocity", velocity, len(driven)) @ chosen
    # The arrow τ(h v) is on N, since v is along the driven directions.
    start = system.start(group.from_algebra(h * v), multipliers=vector(owner, "multipliers", multipliers, len(held)))
    return Model(
        name=name,
        system=system,
        start=start,
        dt=h,
        energy=DrivenEnergy((1 / w) @ chosen),
        invariants=casimirs,
        symmetries={},
    )


def require_tau(owner: str, tau: str) -> str:
    """The name of a map from algebra to group."""
    require_choice(owner, "tau", tau, TAUS)
    return tau


@final
class DrivenCost(eqx.Module):
    r"""The cost :math:`\tfrac1{2\,dt}\sum_i w_i(\tau^{-1}(g)_i)^2`, with weight 0 in the directions that cannot be driven."""

    group: LieGroup
    dt: Scalar
    weights: Vector

    def __call__(self, g: Point) -> Scalar:
        a = step_coordinates(self.group, g)
        return dot(self.weights * a, a) / (2 * self.dt)


@final
class HeldVelocity(eqx.Module):
    r"""The constraints :math:`\tau^{-1}(g)_i = 0` for the directions that cannot be driven."""

    group: LieGroup
    held: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, g: Point) -> Vector:
        return matvec(np.eye(self.group.dim)[np.array(self.held)], step_coordinates(self.group, g))


@final
class DrivenEnergy(eqx.Module):
    r"""The energy :math:`\tfrac12\sum_{i\in D}\mu_i^2/w_i`; ``inverses`` are the :math:`1/w_i`, 0 in the directions that cannot be driven."""

    inverses: Vector

    def __call__(self, q: Point, p: Covector) -> Scalar:
        return 0.5 * dot(self.inverses * p, p)
