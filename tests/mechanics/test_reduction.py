"""Reduction and reconstruction of trajectories by morphisms of systems; MMS Theorem 4.5, Corollary 4.6, Remark 4.7."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

DT, STEPS = 0.05, 1000
INERTIA = jnp.array([1.0, 2.0, 2.5])
H = gm.SO3(tau="cayley")


def kinetic(R, inertia=INERTIA):
    """The kinetic term of a rigid body, in the form of Moser and Veselov."""
    return jnp.sum((0.5 * jnp.sum(inertia) - inertia) * (1 - jnp.diag(R)))


class Body(eqx.Module):
    dt: float = DT

    def __call__(self, R):
        return kinetic(R) / self.dt


class HeavyTop(eqx.Module):
    weight: float
    dt: float = DT

    def __call__(self, g):
        q, R = g
        return kinetic(R) / self.dt - self.dt * self.weight * (q + R.T @ q)[2] / 2


class BodyOnSpring(eqx.Module):
    """A rigid body whose moments of inertia depend on a shape, which a spring holds."""

    dt: float = DT

    def __call__(self, g):
        x, y, R = g
        middle = (x + y) / 2
        moving = jnp.sum((y - x) ** 2) / 2 + kinetic(R, INERTIA + jnp.array([1.0, 1.0, 0.0]) * middle[0] ** 2)
        return moving / self.dt - self.dt * jnp.sum((middle - 1) ** 2) * 2


def vertical_and_turn(g):
    return g[0][2], g[0].T @ g[1]


# Made when they are asked for: a morphism is checked, which takes a second.
@functools.cache
def to_group():
    return gm.pair_to_group(H)


@functools.cache
def to_gauge():
    return gm.pair_to_gauge(gm.Euclidean(1), H)


@functools.cache
def top():
    return gm.ActionGroupoid(gm.Sphere(2), H, lambda q, R: R.T @ q)


@functools.cache
def to_top():
    return gm.Morphism(gm.PairGroupoid(H), top(), vertical_and_turn)


@functools.cache
def forgetting():
    return gm.action_morphism(top())


TURN, SPIN = H.exp(DT * jnp.array([1.0, 0.2, 0.3])), H.exp(DT * jnp.array([0.2, 0.3, 3.0]))
R0 = H.exp(jnp.array([0.5, -0.3, 0.8]))

CASES = {
    "pair(SO3)->SO3, rigid body": (to_group, Body(), (R0, R0 @ TURN)),
    "pair(RxSO3)->gauge, body on a spring": (
        to_gauge,
        BodyOnSpring(),
        ((jnp.array([0.5]), R0), (jnp.array([0.52]), R0 @ TURN)),
    ),
    "S2:SO3->SO3, top without gravity": (forgetting, Body(), (R0[2], TURN)),
    "pair(SO3)->S2:SO3, heavy top": (to_top, HeavyTop(3.0), (R0, R0 @ SPIN)),
}


def gap(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) for a, b in pairs)


# The others are as heavy, and alike.
LIGHT = "pair(SO3)->SO3, rigid body"


@pytest.mark.parametrize(
    ("morphism", "lagrangian", "start"),
    [pytest.param(*case, id=name, marks=[] if name == LIGHT else pytest.mark.extended) for name, case in CASES.items()],
)
def test_reduced_and_reconstructed_trajectories_agree_with_the_unreduced_ones(morphism, lagrangian, start):
    Phi = morphism()
    system = gm.DiscreteSystem(Phi.codomain, lagrangian)
    reduction = gm.SystemMorphism(Phi, gm.pulled_back(system, Phi), system)
    upstairs = reduction.domain.simulate(start, STEPS)
    reduced = upstairs.reduce(reduction)
    direct = system.simulate(Phi(start), STEPS)
    assert gap(reduced.arrows, direct.arrows) < 1e-10
    assert gap(reduced.base_points, direct.base_points) < 1e-10
    assert gap(reduced.momenta, direct.momenta) < 1e-10
    again = reduction.reconstruct(direct, Phi.domain.source(start))
    assert gap(again.arrows, upstairs.arrows) < 1e-10
    assert gap(again.base_points, upstairs.base_points) < 1e-10
    assert gap(again.momenta, upstairs.momenta) < 1e-10
    assert float(jnp.max(jnp.abs(again.euler_lagrange_defects()))) < 1e-11
    related = jax.vmap(Phi.momenta_related)(upstairs.momenta, reduced.momenta, upstairs.base_points)
    assert float(jnp.max(jnp.abs(related))) < 1e-11
    # The reduced momentum is no constant: there is a motion to compare.
    assert float(jnp.max(jnp.abs(direct.momenta - direct.momenta[0]))) > 0.1


@pytest.mark.extended
def test_reduction_in_stages_is_reduction_at_once():
    """pair(SO3) → S² ⋊ SO(3) → SO(3) forgets first where the body is, then where the vertical is."""
    free = gm.DiscreteSystem(forgetting().codomain, Body())
    turning = gm.pulled_back(free, forgetting())
    first = gm.SystemMorphism(to_top(), gm.pulled_back(turning, to_top()), turning)
    second = gm.SystemMorphism(forgetting(), turning, free)
    run = first.domain.simulate((R0, R0 @ TURN), 20)
    both = first.then(second)
    assert gap(run.reduce(first).reduce(second).arrows, run.reduce(both).arrows) < 1e-15
    assert gap(run.reduce(first).reduce(second).momenta, run.reduce(both).momenta) < 1e-11


# ------------------------------------------------------------------------------------ constraints

PLANE = gm.Euclidean(2)


@functools.cache
def to_circle():
    return gm.pair_to_gauge(PLANE, gm.SO2())


class Sleigh(eqx.Module):
    dt: float = DT

    def __call__(self, g):
        x, y, h = g
        return (jnp.sum((y - x) ** 2) + h[1, 0] ** 2) / (2 * self.dt)


class Linked(eqx.Module):
    """The turn follows the first coordinate; times a factor, it is the same submanifold."""

    factor: float = 1.0

    def __call__(self, g):
        x, y, h = g
        return self.factor * (h[1, 0] - x[1] * (y - x)[0])[None]


def constrained(factor):
    """The reduced system, and one upstairs whose constraint function has another scale."""
    system = gm.DiscreteSystem(to_circle().codomain, Sleigh(), Linked())
    other = gm.DiscreteSystem(to_circle().codomain, Sleigh(), Linked(factor))
    return gm.SystemMorphism(to_circle(), gm.pulled_back(other, to_circle()), system)


@pytest.mark.parametrize("factor", [pytest.param(1.0, marks=pytest.mark.extended), -2.5])
def test_multipliers_are_those_of_the_reduced_constraints(factor):
    reduction = constrained(factor)
    assert reduction.same_family == (factor == 1.0)
    unit = gm.SO2().identity()
    start = reduction.domain.project(((jnp.array([0.3, 0.5]), unit), (jnp.array([0.32, 0.51]), unit)))
    upstairs = reduction.domain.simulate(start, 100, multipliers=jnp.array([0.4]))
    reduced = upstairs.reduce(reduction)
    np.testing.assert_allclose(reduced.multipliers, factor * upstairs.multipliers, atol=1e-11)
    direct = reduction.codomain.simulate(to_circle()(start), 100, multipliers=jnp.array([0.4 * factor]))
    assert gap(reduced.arrows, direct.arrows) < 1e-12
    assert gap(reduced.multipliers, direct.multipliers) < 1e-11
    again = reduction.reconstruct(direct, start[0])
    assert gap(again.base_points, upstairs.base_points) < 1e-12
    assert gap(again.multipliers, upstairs.multipliers) < 1e-11
    assert float(jnp.max(jnp.abs(again.euler_lagrange_defects()))) < 1e-12


def test_a_thinned_run_is_reduced_and_goes_on():
    reduction = constrained(1.0)
    unit = gm.SO2().identity()
    start = reduction.domain.project(((jnp.array([0.3, 0.5]), unit), (jnp.array([0.32, 0.51]), unit)))
    whole = reduction.domain.simulate(start, 40).reduce(reduction)
    thinned = reduction.domain.simulate(start, 40, save_every=10).reduce(reduction)
    np.testing.assert_array_equal(thinned.numbers, [10, 20, 30, 40])
    assert gap(thinned.momenta, whole.momenta[::10]) < 1e-12
    on = reduction.codomain.simulate(thinned.end, 5)
    longer = reduction.codomain.simulate(to_circle()(start), 45)
    assert gap(on.base_points[-1], longer.base_points[-1]) < 1e-12
    with pytest.raises(gm.ArgumentError, match=r"consecutive arrows from the first on.*save_every=1"):
        reduction.reconstruct(thinned, start[0])


# ------------------------------------------------------------------------------------ what is none


@functools.cache
def body():
    return gm.DiscreteSystem(to_group().codomain, Body())


def test_another_lagrangian_is_refused_with_its_defect():
    slower = gm.pulled_back(gm.DiscreteSystem(to_group().codomain, Body(0.052)), to_group())
    with pytest.raises(gm.NotASystemMorphismError, match=r"L\(g\) == L'\(Φ\(g\)\) on N; .*off by 0\.\d+\. pulled_back"):
        gm.SystemMorphism(to_group(), slower, body())


class Shifted(eqx.Module):
    offset: float

    def __call__(self, g):
        return Linked()(g) + self.offset


def test_other_constraints_are_refused():
    system = gm.DiscreteSystem(to_circle().codomain, Sleigh(), Linked())
    moved = gm.pulled_back(gm.DiscreteSystem(to_circle().codomain, Sleigh(), Shifted(0.1)), to_circle())
    with pytest.raises(gm.NotASystemMorphismError, match=r"N into N'; on drawn arrows it is off by 0\.1\."):
        gm.SystemMorphism(to_circle(), moved, system)
    free = gm.pulled_back(gm.DiscreteSystem(to_circle().codomain, Sleigh()), to_circle())
    with pytest.raises(gm.NotASystemMorphismError, match="as many multipliers upstairs .* got 0 and 1"):
        gm.SystemMorphism(to_circle(), free, system)


def test_another_groupoid_is_refused():
    with pytest.raises(gm.ArgumentError, match=r"morphism\.codomain and codomain\.groupoid to be the same groupoid"):
        gm.SystemMorphism(
            to_group(), gm.pulled_back(body(), to_group()), gm.DiscreteSystem(gm.GroupGroupoid(gm.SO3()), Body())
        )


def test_lifts_need_an_isomorphism_of_source_fibres():
    """A projection forgets a part of the arrow: its lifts are not determined."""
    both = gm.ProductGroupoid(gm.PairGroupoid(PLANE), gm.GroupGroupoid(H))
    Phi = gm.projection(both, 1)
    reduction = gm.SystemMorphism(Phi, gm.pulled_back(body(), Phi), body())
    run = body().simulate(TURN, 3)
    with pytest.raises(gm.NotLiftableError, match="rank 5 to rank 3, with a kernel of dimension 2"):
        reduction.reconstruct(run, (jnp.zeros(2), jnp.zeros(0)))


def test_a_lift_that_fails_names_its_arrow_and_keeps_the_others():
    reduction = gm.SystemMorphism(forgetting(), gm.pulled_back(body(), forgetting()), body())
    run = body().simulate(TURN, 8)
    spoiled = eqx.tree_at(lambda t: t.arrows, run, run.arrows.at[5].set(jnp.nan))
    with pytest.raises(gm.StepFailed, match="no lift of arrow 6") as caught:
        reduction.reconstruct(spoiled, R0[2])
    assert caught.value.step == 6
    assert len(caught.value.trajectory) == 5
    assert gap(caught.value.trajectory.arrows[1], run.arrows[:5]) < 1e-13


def test_a_start_over_another_point_is_refused():
    system = gm.DiscreteSystem(to_top().codomain, HeavyTop(3.0))
    reduction = gm.SystemMorphism(to_top(), gm.pulled_back(system, to_top()), system)
    with pytest.raises(gm.ArgumentError, match=r"Φ₀\(q\) == q'₀ \(gap \d"):
        reduction.reconstruct(system.simulate((R0[2], TURN), 3), jnp.eye(3))


def test_a_trajectory_of_another_system_is_refused():
    reduction = gm.SystemMorphism(forgetting(), gm.pulled_back(body(), forgetting()), body())
    with pytest.raises(gm.ArgumentError, match="to be the same groupoid"):
        body().simulate(TURN, 3).reduce(reduction)
