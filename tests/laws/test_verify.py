"""The public face of the laws: verify, its report, and what it says of broken and foreign objects."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from laws.subjects import CONTROLS, broken

import groupoid_mech as gm
from groupoid_mech import strategies
from groupoid_mech.laws import LAWS, Law, laws_for
from groupoid_mech.laws.kinds import A_POINT, A_VECTOR
from groupoid_mech.laws.law import gap
from groupoid_mech.laws.verify import check_law

BY_NAME = {law.name: law for law in LAWS}
PLANE = gm.Translations(2)


def test_report_holds_and_prints_every_law():
    line = gm.Euclidean(1)
    report = gm.verify(line, examples=5)
    assert report.holds
    assert not report.failures
    text = str(report)
    assert all(law.name in text for law in laws_for(line))
    assert f"{len(report.findings)} of {len(report.findings)} laws hold" in text
    assert "FAILS" not in text


def test_report_names_what_fails():
    report = gm.verify(CONTROLS["log_exp"], examples=5, laws=[BY_NAME["log_exp"], BY_NAME["multiply_assoc"]])
    assert not report.holds
    assert [finding.law.name for finding in report.failures] == ["log_exp"]
    assert "FAILS" in str(report)
    assert "1 of 2 laws hold" in str(report)


def test_worst_example_is_reproducible():
    law, subject = BY_NAME["log_exp"], CONTROLS["log_exp"]
    finding = check_law(law, subject, examples=50)
    assert law.defects(subject, finding.worst)[0] == pytest.approx(finding.worst_defect, rel=1e-12)


def test_nan_is_a_failure():
    sick = broken(gm.Translations, 2, multiply=lambda self, g, h: g * jnp.nan)
    assert check_law(BY_NAME["multiply_assoc"], sick, examples=5).worst_defect == np.inf


def test_one_compilation_serves_all_examples():
    traces = []

    def counting(M, x, xi):
        traces.append(None)
        return gap(M.local(x, M.retract(x, xi)), xi)

    law = Law("counted", "", "", gm.Manifold, (A_POINT, A_VECTOR), counting)
    for seed in range(3):
        check_law(law, PLANE, examples=200, seed=seed)
    assert len(traces) == 1


def test_seeds_change_the_examples():
    law = BY_NAME["local_retract"]
    assert not np.array_equal(law.examples(PLANE, 3, 0).numbers, law.examples(PLANE, 3, 1).numbers)


@pytest.mark.parametrize("thing", [3, "S2", gm.SO3, jnp.eye(3)])
def test_foreign_objects_are_refused(thing):
    with pytest.raises(gm.ArgumentError, match="no law about"):
        gm.verify(thing)


def test_examples_must_be_positive():
    with pytest.raises(gm.ArgumentError, match="examples"):
        gm.verify(PLANE, examples=0)


def test_failures_shrink():
    smallest = strategies.smallest_failure(BY_NAME["identity_multiply"], CONTROLS["identity_multiply"])
    assert smallest.seeds.tolist() == [[0]]


def test_shrinking_says_when_nothing_fails():
    with pytest.raises(NoSuchExample):
        strategies.smallest_failure(BY_NAME["multiply_assoc"], PLANE, max_examples=20)


STRATEGIES = {
    "points": strategies.points(gm.Sphere(2)),
    "vectors": strategies.vectors(gm.Sphere(2)),
    "group_elements": strategies.group_elements(gm.SO3()),
    "algebra_elements": strategies.algebra_elements(gm.SO3()),
}


@settings(max_examples=20)
@given(st.data())
def test_strategies_draw_what_they_say(data):
    S2, SO3 = gm.Sphere(2), gm.SO3()
    S2.check_point(data.draw(STRATEGIES["points"]))
    S2.check_vector(data.draw(STRATEGIES["vectors"]))
    SO3.check_point(data.draw(STRATEGIES["group_elements"]))
    assert np.linalg.norm(data.draw(STRATEGIES["algebra_elements"])) < np.pi


@settings(max_examples=5)
@given(st.data())
def test_strategies_draw_arrows_and_sections(data):
    G = gm.PairGroupoid(gm.Sphere(2))
    G.check_arrow(data.draw(strategies.arrows(G)))
    g, h = data.draw(strategies.chains(G, 2))
    G.check_composable(g, h)
    G.check_algebroid_vector(data.draw(strategies.algebroid_vectors(G)))
    assert data.draw(strategies.sections(G))(G.target(g)).shape == (2,)
    sigma = data.draw(strategies.lagrangian_submanifolds(gm.Euclidean(2)))
    pulled = sigma.isotropy(sigma.space.symplectic_form, jnp.ones(2))
    assert np.max(np.abs(pulled)) < 1e-14


@settings(max_examples=5)
@given(st.data())
def test_strategies_draw_fields_and_forms(data):
    S2 = gm.Sphere(2)
    x = data.draw(strategies.points(S2))
    assert data.draw(strategies.functions(S2))(x).shape == ()
    assert data.draw(strategies.vector_fields(S2))(x).shape == (2,)
    assert data.draw(strategies.one_forms(S2))(x).shape == (2,)
    omega = data.draw(strategies.two_forms(S2))(x)
    assert np.array_equal(omega, -omega.T)
    S2.check_point(data.draw(strategies.self_maps(S2))(x))


class Body(gm.PoissonManifold):
    """The angular momenta of a body, as a Poisson manifold that a user writes down: no bundle, no algebroid."""

    manifold: gm.Manifold = gm.Euclidean(3)

    def tensor(self, x):
        return jnp.cross(x, jnp.eye(3)).T


def body_energy(x):
    return jnp.sum(x**2 / jnp.array([2.0, 4.0, 5.0]))


def rolling(q, v):
    return (1 + 0.2 * jnp.sin(q[0])) * v[0] ** 2 / 2 + jnp.cos(q[0])


LINE = gm.Euclidean(1)
OWN_METHODS = {
    "galerkin": lambda: gm.SystemIntegrator(gm.galerkin_system(rolling, LINE, 0.1, stages=2)),
    "lagrangian": lambda: gm.SystemIntegrator(gm.lagrangian_system(rolling, gm.theta_map(LINE, 0.5), 0.1)),
    "energy": lambda: gm.EnergyIntegrator(
        body_energy, Body(), gm.GonzalezGradient(gm.theta_map(gm.Euclidean(3), 0.5)), 0.1
    ),
    "map of a group": lambda: gm.ChartMap(gm.GroupGroupoid(gm.SO2())),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.extended if name != "energy" else ()) for name in OWN_METHODS],
)
def test_maps_and_methods_of_every_kind_have_laws(name):
    report = gm.verify(OWN_METHODS[name](), examples=10)
    assert report.holds, report
    assert len(report.findings) >= 2
