"""Integrable constraints are those whose arrows form a subgroupoid; MMS Remark 3.6."""

import jax
import jax.numpy as jnp
import pytest
from laws.mechanics_subjects import PLATE_BALL, PlateCost, Rolling

import groupoid_mech as gm
from tests.mechanics.examples import DT, PLANE, SPACE, HamiltonPontryagin, Particle, contact

S2 = gm.PairGroupoid(gm.Sphere(2))


def kinetic(g):
    return jnp.sum((g[1] - g[0]) ** 2)


def difference(g):
    return (g[1] - g[0])[:1]


def level(g):
    """Both ends on one level of a nonlinear function."""
    q, r = g
    return (jnp.sin(q[0]) + q[1] ** 2 - jnp.sin(r[0]) - r[1] ** 2)[None]


def on_circle(g):
    """A holonomic constraint, at both ends; its two parts repeat each other along a fibre."""
    q, r = g
    return jnp.stack([jnp.sum(q * q) - 1, jnp.sum(r * r) - 1])


def same_height(g):
    return (g[1] - g[0])[2:]


def about_the_axis(R):
    """The rotations about e₃, a subgroup."""
    return R[2, :2]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("groupoid", "constraints"),
    [
        (PLANE, difference),
        (PLANE, level),
        (PLANE, on_circle),
        (SPACE, same_height),
        (S2, same_height),
        (gm.GroupGroupoid(gm.SO3()), about_the_axis),
    ],
)
def test_subgroupoids_are_recognised(groupoid, constraints):
    found = gm.integrability(gm.DiscreteSystem(groupoid, lambda g: jnp.zeros(()), constraints))
    assert found.integrable
    assert max(found.unit_defect, found.inverse_defect, found.product_defect) < 1e-11
    assert found.examples >= 8
    assert "N is a subgroupoid" in str(found)


def one_sided(g):
    """y' − y = x (x' − x): units are in N, inverses are not."""
    q, r = g
    return (r[1] - q[1] - q[0] * (r[0] - q[0]))[None]


def fixed_angle(g):
    return (1 - jnp.sum(g[0] * g[1]) - 0.02)[None]


def test_a_contact_form_fails_with_products_alone():
    found = gm.integrability(contact())
    assert not found.integrable
    assert found.unit_defect < 1e-14
    assert found.inverse_defect < 1e-13
    assert found.product_defect > 1e-3


def test_a_one_sided_rule_fails_with_inverses_too():
    found = gm.integrability(gm.DiscreteSystem(PLANE, kinetic, one_sided))
    assert found.unit_defect < 1e-14
    assert found.inverse_defect > 1e-3
    assert found.product_defect > 1e-3


def test_steps_of_a_fixed_size_fail_with_units():
    """At units the differential of the constraint vanishes, and N is far all the same."""
    found = gm.integrability(gm.DiscreteSystem(S2, kinetic, fixed_angle))
    assert found.unit_defect > 1e-2
    assert found.inverse_defect < 1e-13
    assert found.product_defect > 1e-2


@pytest.mark.parametrize("spin", [0.0, 0.2])
def test_the_plate_ball_problem_is_not_integrable(spin):
    found = gm.integrability(gm.DiscreteSystem(PLATE_BALL, PlateCost(), Rolling(turn=0.0, spin=spin)))
    assert not found.integrable
    assert found.product_defect > 1e-4
    assert (found.unit_defect < 1e-14) == (spin == 0.0)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (gm.DiscreteSystem(PLANE, Particle(DT, 1.0)), "this one has none"),
        (
            gm.DiscreteSystem(PLANE, HamiltonPontryagin(DT, 1.0), lambda g, u: u[:1], auxiliary=2),
            "these depend on auxiliary variables",
        ),
        (
            gm.DiscreteSystem(PLANE, kinetic, lambda g: 1 + (g[1] - g[0])[:1] ** 2),
            "no composable arrows of N near 32 drawn",
        ),
    ],
)
def test_what_cannot_be_answered_is_explained(system, message):
    with pytest.raises(gm.ArgumentError, match=message):
        gm.integrability(system)


def test_other_draws_give_the_same_answer():
    assert not gm.integrability(contact(), key=jax.random.key(7), samples=16, size=0.5).integrable
