"""Rotations and unit quaternions against scipy, up to half turns, and against geomstats, up to angle 3."""

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import groupoid_mech as gm
import groupoid_mech.interop.geomstats as bridge
from groupoid_mech.groups import rotations

CASES = 200
ANGLES = {
    "tiny": np.geomspace(1e-12, 1e-3, CASES),
    "all": np.linspace(0.01, 3.1, CASES),
    "near pi": np.pi - np.geomspace(1e-12, 1e-1, CASES),
}


def draw(angles, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(CASES, 3))
    return vectors * (angles / np.linalg.norm(vectors, axis=1))[:, None]


@eqx.filter_jit
def ours(w, R, g, h):
    """Exponentials of w, logarithms of R, and products of g and h, as matrices and as quaternions."""
    matrices = jax.vmap(rotations.rotation_of_quaternion)
    return {
        "exp": jax.vmap(gm.SO3().exp)(w),
        "log": jax.vmap(gm.SO3().log)(R),
        "product": jax.vmap(gm.SO3().multiply)(matrices(g), matrices(h)),
        "quaternion exp": jax.vmap(gm.UnitQuaternions().exp)(w),
        "quaternion log": jax.vmap(gm.UnitQuaternions().log)(g),
        "quaternion product": jax.vmap(gm.UnitQuaternions().multiply)(g, h),
        "quaternion of rotation": jax.vmap(rotations.quaternion_of)(R),
        "rotation of quaternion": matrices(g),
    }


def wxyz(rotation):
    return np.roll(rotation.as_quat(), 1, axis=-1)


def up_to_sign(q):
    """Of q and −q, the one whose largest component is positive."""
    return q * np.sign(np.take_along_axis(q, np.argmax(np.abs(q), axis=1)[:, None], axis=1))


@pytest.mark.parametrize("angles", ANGLES.values(), ids=ANGLES)
def test_rotations_and_quaternions_against_scipy(angles):
    w = draw(angles)
    one, other = Rotation.from_rotvec(w), Rotation.from_rotvec(draw(angles[::-1], seed=1))
    values = ours(w, one.as_matrix(), wxyz(one), wxyz(other))
    found = {name: np.array(value) for name, value in values.items()}
    # the quaternion's scalar part is ≥ 0 here: the angles are less than π
    expected = {
        "exp": one.as_matrix(),
        "log": Rotation.from_matrix(one.as_matrix()).as_rotvec(),
        "product": (one * other).as_matrix(),
        "quaternion exp": wxyz(one),
        "quaternion log": one.as_rotvec(),
        "quaternion product": wxyz(one * other),
        "quaternion of rotation": wxyz(one),
        "rotation of quaternion": one.as_matrix(),
    }
    found["quaternion product"], expected["quaternion product"] = (
        up_to_sign(part["quaternion product"]) for part in (found, expected)
    )
    errors = {name: float(np.abs(found[name] - expected[name]).max()) for name in expected}
    assert max(errors.values()) <= 1e-12, errors


def test_rotations_against_geomstats():
    w = draw(np.linspace(0.01, 3.0, CASES))
    space = bridge.to_geomstats(gm.SO3())
    hats = np.array(jax.vmap(gm.SO3().hat)(w))
    R = space.exp(hats)
    found = ours(w, R, wxyz(Rotation.from_matrix(R)), wxyz(Rotation.from_matrix(R)))
    assert np.abs(found["exp"] - R).max() <= 1e-12
    assert np.abs(np.array(jax.vmap(gm.SO3().hat)(found["log"])) - space.log(R)).max() <= 1e-12
    assert np.abs(found["product"] - space.compose(R, R)).max() <= 1e-12


def test_the_comparison_can_fail():
    w = draw(ANGLES["all"])
    inverse = Rotation.from_rotvec(w).inv().as_matrix()
    assert np.abs(np.array(jax.vmap(gm.SO3().exp)(w)) - inverse).max() > 0.1
