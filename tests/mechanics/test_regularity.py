"""Regularity: ranks, conditions and kernels of both Legendre transformations, and the Morse condition."""

import jax.numpy as jnp
import numpy as np

import groupoid_mech as gm
from tests.mechanics.examples import (
    CONTACT_START,
    DT,
    PLANE,
    SPACE,
    START,
    HamiltonPontryagin,
    Particle,
    contact,
    particle,
)
from tests.mechanics.test_simulation import Twice


def test_a_regular_system_is_regular_and_its_jacobian_is_that_of_the_step():
    found = gm.regularity(particle(), START)
    assert found.regular
    assert not found.dependent
    assert found.rank_minus == found.rank_plus == 2
    free = gm.regularity(particle(stiffness=0.0), START)
    np.testing.assert_allclose(free.minus, np.eye(2) / DT, rtol=1e-13)
    np.testing.assert_allclose(free.plus, -np.eye(2) / DT, rtol=1e-13)
    assert abs(free.condition_minus - 1) < 1e-13
    assert abs(free.condition_plus - 1) < 1e-13


def test_a_singular_lagrangian_has_kernels_of_equal_dimension_but_not_equal():
    """L = f(q) · A · f(r) with A of rank 1: the kernels of ∂_q∂_r L and its transpose differ."""
    A = jnp.outer(jnp.array([1.0, 2.0]), jnp.array([3.0, -1.0]))
    found = gm.regularity(gm.DiscreteSystem(PLANE, lambda g: g[0] @ A @ g[1]), START)
    assert found.rank_minus == found.rank_plus == 1
    # F⁻ = −A r changes with r along (3, −1); F⁺ = Aᵀ q with q along (1, 2).
    np.testing.assert_allclose(np.abs(found.kernel_minus[:, 0] @ np.array([1.0, 3.0])) / np.sqrt(10), 1, rtol=1e-12)
    np.testing.assert_allclose(np.abs(found.kernel_plus[:, 0] @ np.array([-2.0, 1.0])) / np.sqrt(5), 1, rtol=1e-12)
    assert "singular along" in str(found)


def test_constraints_enter_the_rank():
    found = gm.regularity(contact(), CONTACT_START, jnp.array([0.3]))
    assert found.regular
    assert found.minus.shape == (4, 4)
    assert found.morse.shape == (1, 7)


def test_dependent_constraints_are_not_morse():
    found = gm.regularity(gm.DiscreteSystem(SPACE, Particle(DT, 1.0), Twice()), CONTACT_START)
    assert found.dependent
    assert not found.regular
    assert found.rank_minus == found.rank_plus == 4


def test_a_family_in_the_momentum_is_morse():
    system = gm.DiscreteSystem(PLANE, HamiltonPontryagin(DT, 1.0), auxiliary=2)
    found = gm.regularity(system, START, jnp.array([0.0, 1.0]))
    assert found.regular
    assert not found.dependent
    assert found.minus.shape == (4, 4)
