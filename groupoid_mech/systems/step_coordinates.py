r"""The coordinates :math:`\tau^{-1}(g)` of a short step in a group, as few contractions.

They are those of ``group.to_algebra``, whose branches for half turns cost more than a whole step: derivatives of sums are quicker
than those of entries picked one by one. A step is short when its rotation stays away from a half turn.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Matrix, Point, Scalar, Vector
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.groups.se3 import SE3
from groupoid_mech.groups.so2 import SO2
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.numerics.angle import angle_ratio
from groupoid_mech.numerics.matrix import dot, matvec

# cross_matrix(w) = Σ_i w_i _CROSS[i]
_CROSS: Any = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _CROSS[_i, _k, _j], _CROSS[_i, _j, _k] = 1.0, -1.0
_QUARTER_TURN: Any = np.array([[0.0, -1.0], [1.0, 0.0]])


def step_coordinates(group: LieGroup, g: Point) -> Vector:
    r"""The coordinates :math:`\tau^{-1}(g)` of a short step ``g``."""
    if isinstance(group, SO3):
        return _rotation_cayley(g) if group.tau == "cayley" else _rotation_vector(g)
    if isinstance(group, SO2) and group.tau == "exp":
        return _angle(g)[None]
    if isinstance(group, SE2) and group.tau == "cayley":
        angle = 2 * g[0][1, 0] / (1 + g[0][0, 0])
        return jnp.concatenate([angle[None], g[1] - 0.5 * angle * matvec(_QUARTER_TURN, g[1])])
    if isinstance(group, SE3) and group.tau == "cayley":
        w = _rotation_cayley(g[0])
        return jnp.concatenate([w, g[1] - 0.5 * _cross(w, g[1])])
    return group.to_algebra(g)


@jax.custom_jvp
def _angle(R: Matrix) -> Scalar:
    r"""The angle of a rotation of the plane, with :math:`d\theta = c\,ds - s\,dc`: divided by :math:`c^2 + s^2`, round-off would have a bias."""
    return jnp.arctan2(R[1, 0], R[0, 0])


@_angle.defjvp
def _angle_jvp(primals: Any, tangents: Any) -> tuple[Scalar, Scalar]:
    (R,), (V,) = primals, tangents
    return _angle(R), R[0, 0] * V[1, 0] - R[1, 0] * V[0, 0]


def _rotation_cayley(R: Matrix) -> Vector:
    r"""The vector :math:`2\tan\tfrac\theta2` times the axis, as :math:`4\,\mathrm{axial}(R)/(1 + \operatorname{tr}R)`."""
    return 4 * _axial(R) / (1 + _trace(R))


def _rotation_vector(R: Matrix) -> Vector:
    r"""The vector :math:`\theta` times the axis, from :math:`\mathrm{axial}(R) = \sin\theta` times the axis."""
    sine = _axial(R)
    return angle_ratio(dot(sine, sine), 0.5 * (_trace(R) - 1)) * sine


def _axial(R: Matrix) -> Vector:
    return 0.5 * jnp.sum(_CROSS * R[None], axis=(1, 2))


def _trace(R: Matrix) -> Scalar:
    return jnp.sum(np.eye(3) * R)


def _cross(v: Vector, w: Vector) -> Vector:
    return jnp.sum(_CROSS * (v[:, None] * w[None, :])[:, None, :], axis=(0, 2))
