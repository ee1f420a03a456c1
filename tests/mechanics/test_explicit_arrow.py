"""Families whose arrow follows from the momenta: a step searches for these alone, and is the same."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.mechanics.explicit_arrow import explicit_arrow

DT = 0.1
S2, SO3 = gm.Sphere(2), gm.SO3()
BODY = gm.GroupGroupoid(SO3)
# The point below a group.
NOWHERE = jnp.zeros(0)
OVAL = gm.LevelSet(lambda x: x[0] ** 2 + 2 * x[1] ** 2 - 1, 2)


def first(q):
    return sum((jnp.sum(leaf) for leaf in jax.tree.leaves(q)), jnp.zeros(()))


def energy(q, p):
    return (1 + 0.3 * jnp.sin(first(q))) * jnp.sum(p * p * jnp.linspace(0.5, 1.0, p.size)) / 2 + jnp.cos(first(q))


def isotropic(q, p):
    return (1 + 0.3 * q[0]) * jnp.sum(p * p) / 2 + q[2]


def searched_for_all(system):
    """The same system, in which (a, s) are sought: limits are limits of both."""
    unlimited = jnp.full(system.unknowns, jnp.inf)
    return gm.DiscreteSystem(
        system.groupoid, system.lagrangian, auxiliary=system.auxiliary, limits=lambda x: unlimited + 0 * x
    )


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) for a, b in pairs)


# The first goes up across the equator, where the frame jumps.
ACTION = gm.ActionGroupoid(S2, SO3, lambda R, x: R @ x)
CASES = [
    pytest.param(
        isotropic, gm.ChartMap(S2), (S2.project(jnp.array([0.6, -0.5, -0.2])), jnp.array([0.4, 1.3])), id="S2"
    ),
    pytest.param(energy, gm.theta_map(BODY, 0.5), (NOWHERE, jnp.array([0.5, 1.2, -0.8])), id="so3*"),
    pytest.param(
        energy,
        gm.ChartMap(gm.GroupGroupoid(gm.SE2(tau="cayley"))),
        (NOWHERE, jnp.array([0.5, 1.2, -0.8])),
        id="se2*",
        marks=pytest.mark.extended,
    ),
    pytest.param(
        energy,
        gm.ChartMap(ACTION),
        (jnp.array([0.0, 0.6, 0.8]), jnp.array([0.5, 1.2, -0.8])),
        id="S2:SO3",
        marks=pytest.mark.extended,
    ),
]


@pytest.mark.parametrize(("H", "R", "x"), CASES)
def test_the_same_steps_with_half_as_many_unknowns(H, R, x):
    system, r = gm.hamiltonian_system(H, R, DT), R.groupoid.rank
    control = searched_for_all(system)
    assert (system.sought, control.sought) == (r, 2 * r)
    run, other = (each.simulate(gm.from_momentum(each, *x), 60) for each in (system, control))
    for field in ("base_points", "momenta", "auxiliary", "arrows"):
        assert distance(getattr(run, field), getattr(other, field)) <= 1e-13, field
    assert float(np.max(run.residuals)) <= 1e-15
    # It solves both equations, the one that is not looked at too.
    stationary = jax.jit(jax.vmap(lambda g, s: system.stationarity(g, s)))(run.arrows, run.auxiliary)
    assert float(np.max(np.abs(stationary))) <= 1e-15
    if R.groupoid.base is S2:
        heights = np.asarray(run.base_points)[:, 2]
        assert heights.min() < 0 < heights.max(), "on both sides of the equator"


@pytest.mark.extended
def test_derivatives_are_those_of_the_search_for_all():
    system = gm.hamiltonian_system(energy, gm.theta_map(BODY, 0.5), DT)
    p = jnp.array([0.5, 1.2, -0.8])

    @eqx.filter_jit
    def slopes(system):
        return jax.jacfwd(lambda p: system.hamiltonian_map(NOWHERE, p)[1])(p)

    found, expected = slopes(system), slopes(searched_for_all(system))
    assert distance(found, expected) <= 1e-14
    assert distance(found, jnp.eye(3)) > 1e-2


@pytest.mark.parametrize(
    ("R", "explicit"),
    [
        (gm.ChartMap(S2), True),
        (gm.theta_map(BODY, 0.3), True),
        (gm.theta_map(S2, 0.5), False),
        (gm.ChartMap(S2).adjoint(), False),
        (gm.ProjectionMap(S2), False),
        (gm.ThetaMap(SO3, 0.5), False),
        (gm.ChartMap(OVAL), False),
    ],
    ids=["chart", "group", "midpoint", "end", "projection", "midpoint of a group", "level set"],
)
def test_which_arrows_follow_from_momenta(R, explicit):
    assert (gm.hamiltonian_system(energy, R, DT).explicit_arrow is not None) == explicit


def test_constraints_and_other_families_are_searched_for_all():
    family = gm.hamiltonian_system(energy, gm.ChartMap(S2), DT).lagrangian
    assert explicit_arrow(family) is not None
    constrained = gm.DiscreteSystem(gm.PairGroupoid(S2), family, lambda g, s: g[1][:1] - g[0][:1], auxiliary=2)
    assert constrained.explicit_arrow is None
    assert explicit_arrow(lambda g: jnp.sum(g[0])) is None


def test_a_failed_step_is_explained():
    """The cause is looked for at the arrow that belongs to the guess."""
    system = gm.hamiltonian_system(lambda q, p: jnp.sum(p**4 * jnp.arange(1.0, 4.0)), gm.theta_map(BODY, 0.5), 50.0)
    start = gm.from_momentum(system, NOWHERE, jnp.array([0.3, 0.2, 0.9]))
    assert distance(system.guess_of(start), system.first_guess(start.point, start.momentum)) == 0
    with pytest.raises(gm.StepFailed, match=r"step 1 failed after .* \(Jacobian of condition"):
        system.simulate(start, 3)
