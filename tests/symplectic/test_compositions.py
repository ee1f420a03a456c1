"""The composition of immersed relations: tangents, graphs, transposes, what is not transverse, what is not Lagrangian."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import block_diag
from laws.symplectic_controls import area

import groupoid_mech as gm
from groupoid_mech.laws.kinds import Quadratic
from groupoid_mech.laws.lagrangian_laws import matching_relations

PLANE, LINE = gm.Euclidean(2), gm.Euclidean(1)
FLAT = gm.SymplecticPair(PLANE, area).symplectic_form
W = jnp.array([0.03, -0.05])


def kick(z):
    return jnp.stack([z[0], z[1] - jnp.sin(z[0])])


def drift(z):
    return jnp.stack([z[0] + 0.3 * z[1] ** 3, z[1]])


def drawn_relations(T, seed=0):
    """Two generated relations that are no graphs of coordinates, with matching parameters."""
    rng = np.random.default_rng(seed)
    points = [T.base.random_point(jax.random.key(seed + k)) for k in range(3)]
    n = 2 * points[0].size
    L, K = (Quadratic(jnp.asarray(rng.normal(size=(n, n))), jnp.asarray(rng.normal(size=n))) for _ in range(2))
    first, second = eqx.filter_jit(matching_relations)(T, points, L, K)
    return first, second, (points[0], points[1]), (points[1], points[2])


@pytest.mark.parametrize(
    "T",
    [
        pytest.param(gm.CotangentBundle(LINE), id="R"),
        pytest.param(gm.CotangentBundle(gm.Sphere(2)), id="S2", marks=pytest.mark.extended),
    ],
)
def test_the_tangent_of_a_composition_is_the_composition_of_tangents(T):
    first, second, u, v = drawn_relations(T)
    both = gm.compose_relations(first, second, u, v)
    assert both.parameters.dim == T.dim
    w = 0.1 * jnp.ones(T.dim)
    for at, (u_at, v_at) in ((jnp.zeros(T.dim), (u, v)), (w, both.map.pair(w))):
        linear = first.relation(u_at).then(second.relation(v_at))
        assert both.relation(at).distance(linear) < 1e-12
        x, z = both(at)
        assert both.relation(at).canonical_defect(T.symplectic_form(x), T.symplectic_form(z)) < 1e-12


def test_parameters_are_found_again():
    first, second, u, v = drawn_relations(gm.CotangentBundle(LINE))
    both = gm.compose_relations(first, second, u, v)
    u_at, v_at = both.map.pair(W)
    np.testing.assert_allclose(both.map.coordinates(u_at, v_at), W, atol=1e-14)
    for left, right in zip(first(u_at)[1], second(v_at)[0], strict=True):
        np.testing.assert_allclose(left, right, atol=1e-14)


def test_graphs_compose_to_the_graph_of_the_composition():
    x = jnp.array([0.2, 0.5])
    graphs = gm.map_graph(PLANE, PLANE, kick), gm.map_graph(PLANE, PLANE, drift)
    both = gm.compose_relations(*graphs, x, kick(x))
    for w in (jnp.zeros(2), W):
        start, end = both(w)
        np.testing.assert_allclose(end, drift(kick(start)), atol=1e-15)
        np.testing.assert_allclose(both.isotropy(FLAT, w), 0, atol=1e-15)
    step = graphs[0].then(drift, PLANE)
    assert both.relation(jnp.zeros(2)).distance(step.relation(x)) < 1e-14


@pytest.mark.extended
def test_graphs_on_a_curved_manifold():
    """On T*S²: a kick by dV, then the lift of a rotation."""
    T = gm.CotangentBundle(gm.Sphere(2))
    R = gm.SO3().exp(jnp.array([0.3, -0.4, 0.5]))

    def push(x):
        q, p = x
        return q, p - gm.differential(T.base, lambda q: q[2] ** 3, q)

    def turn(x):
        q, p = x
        return R @ q, T.base.from_ambient(R @ q, R @ T.base.to_ambient(q, p))

    x = T.random_point(jax.random.key(1))
    both = gm.compose_relations(gm.map_graph(T, T, push), gm.map_graph(T, T, turn), x, push(x))
    w = 0.1 * jnp.array([1.0, -2.0, 1.0, 2.0])
    start, end = both(w)
    np.testing.assert_allclose(T.local(turn(push(start)), end), 0, atol=1e-14)
    pulled = both.isotropy(lambda s: block_diag(-T.symplectic_form(s[0]), T.symplectic_form(s[1])), w)
    np.testing.assert_allclose(pulled, 0, atol=1e-14)


def test_a_relation_that_is_no_graph():
    """L = x y²: p = −y², P = 2 x y, with two ends ±y for one start and none for p > 0."""
    T = gm.CotangentBundle(LINE)
    parabola = gm.generated_relation(LINE, LINE, lambda s: s[0][0] * s[1][0] ** 2)
    swing = gm.map_graph(T, T, lambda x: (x[0] + x[1], x[1]))
    u = (jnp.array([0.4]), jnp.array([0.7]))
    both = gm.compose_relations(parabola, swing, u, parabola(u)[1])
    form = lambda s: block_diag(-T.symplectic_form(s[0]), T.symplectic_form(s[1]))  # noqa: E731
    (x, p), (y, P) = both(W)
    before = y - P  # where the swing began
    np.testing.assert_allclose([p + before**2, P - 2 * x * before], 0, atol=1e-14)
    np.testing.assert_allclose(both.isotropy(form, W), 0, atol=1e-14)


@pytest.mark.extended
def test_transposes_compose_backwards():
    first, second, u, v = drawn_relations(gm.CotangentBundle(LINE), seed=3)
    both = gm.compose_relations(first, second, u, v)
    backwards = gm.compose_relations(second.transpose(), first.transpose(), v, u)
    u_at, v_at = both.map.pair(W)
    there, back = both.transpose()(W), backwards(backwards.map.coordinates(v_at, u_at))
    np.testing.assert_allclose(jax.tree.leaves(there), jax.tree.leaves(back), atol=1e-14)
    assert both.transpose().relation(jnp.zeros(2)).distance(backwards.relation(jnp.zeros(2))) < 1e-13


def test_a_composition_with_what_is_not_lagrangian_is_not_lagrangian():
    x = jnp.array([0.2, 0.5])
    stretch = gm.map_graph(PLANE, PLANE, lambda z: 2 * z)
    both = gm.compose_relations(gm.map_graph(PLANE, PLANE, kick), stretch, x, kick(x))
    # 4 dQ ∧ dP − dq ∧ dp on a graph over the plane, in orthonormal parameters.
    assert np.max(np.abs(both.isotropy(FLAT, jnp.zeros(2)))) > 0.1
    assert both.relation(jnp.zeros(2)).canonical_defect(area(x), area(x)) > 0.1


def curves(first, second):
    """The product of two curves in the plane: Lagrangian, as every curve is."""
    parameters = gm.ProductManifold(LINE, LINE)
    return gm.Immersion(parameters, gm.ProductManifold(PLANE, PLANE), lambda s: (first(s[0][0]), second(s[1][0])))


def circle(s):
    return jnp.stack([jnp.cos(s), jnp.sin(s)])


def horizontal(s):
    return jnp.stack([s, jnp.zeros_like(s)])


def test_curves_that_cross_compose_and_those_that_touch_do_not():
    zero, one = jnp.zeros(1), jnp.ones(1)
    crossing = gm.compose_relations(curves(circle, circle), curves(horizontal, circle), (one, zero), (one, zero))
    assert crossing.parameters.dim == 2
    np.testing.assert_allclose(crossing.isotropy(FLAT, W), 0, atol=1e-15)
    tangent = lambda s: jnp.stack([jnp.ones_like(s), s])  # noqa: E731
    with pytest.raises(gm.NotTransverseError, match=r"must span the 2 dimensions .* they span 1.*first\.relation\(u\)"):
        gm.compose_relations(curves(circle, circle), curves(tangent, circle), (one, zero), (zero, zero))


def test_relations_that_are_too_small_do_not_meet_transversally():
    dot_to_curve = gm.Immersion(LINE, gm.ProductManifold(PLANE, PLANE), lambda s: (jnp.zeros(2), circle(s[0])))
    backwards = dot_to_curve.transpose()
    with pytest.raises(gm.NotTransverseError, match="they span 1"):
        gm.compose_relations(dot_to_curve, backwards, jnp.zeros(1), jnp.zeros(1))
    small = gm.Immersion(LINE, gm.ProductManifold(PLANE, gm.Euclidean(3)), lambda s: (jnp.zeros(2), jnp.zeros(3)))
    with pytest.raises(gm.NotTransverseError, match="span the 3 dimensions"):
        jax.jit(lambda s: gm.compose_relations(small, small.transpose(), s, s)(jnp.zeros(0)))(jnp.zeros(1))


def test_states_are_relations_from_a_point():
    """A curve, as a relation from the point, moves by composition; two curves that cross meet in a point."""
    point = gm.SinglePoint()
    state = gm.Immersion(LINE, gm.ProductManifold(point, PLANE), lambda s: (jnp.zeros(0), circle(s[0])))
    moved = gm.compose_relations(state, gm.map_graph(PLANE, PLANE, kick), jnp.zeros(1), circle(0.0))
    assert moved.parameters.dim == 1
    np.testing.assert_allclose(moved(jnp.zeros(1))[1], kick(circle(0.0)))
    effect = gm.Immersion(LINE, gm.ProductManifold(PLANE, point), lambda s: (horizontal(s[0]), jnp.zeros(0)))
    number = gm.compose_relations(state, effect, jnp.zeros(1), jnp.ones(1))
    assert number.parameters.dim == 0
    outer = gm.compose_relations(effect, state, jnp.ones(1), jnp.zeros(1))  # through the point: the product
    np.testing.assert_allclose(outer(W), [horizontal(1 + W[0]), circle(W[1])], atol=1e-15)


@pytest.mark.extended
def test_compositions_are_differentiated_by_what_they_are_made_of():
    """The end of a step depends on the strength of the kick as the composed map does."""
    x = jnp.array([0.2, 0.5])

    def end(strength):
        push = gm.map_graph(
            PLANE, PLANE, jax.tree_util.Partial(lambda k, z: jnp.stack([z[0], z[1] - k * z[0] ** 2]), strength)
        )
        both = gm.compose_relations(push, gm.map_graph(PLANE, PLANE, drift), x, push(x)[1])
        return both(jnp.zeros(2))[1]

    exact = lambda k: drift(jnp.stack([x[0], x[1] - k * x[0] ** 2]))  # noqa: E731
    np.testing.assert_allclose(jax.jit(jax.jacrev(end))(0.7), jax.jacfwd(exact)(0.7), atol=1e-14)


def test_bad_input():
    x = jnp.array([0.2, 0.5])
    graph = gm.map_graph(PLANE, PLANE, kick)
    with pytest.raises(gm.NotComposableError, match=r"the same middle point.*gap 0\.1"):
        gm.compose_relations(graph, graph, x, kick(x) + 0.1)
    with pytest.raises(gm.ArgumentError, match="starts where the first ends"):
        gm.compose_relations(graph, gm.map_graph(LINE, PLANE, lambda s: circle(s[0])), x, jnp.zeros(1))
    with pytest.raises(gm.ArgumentError, match="compose_relations needs a submanifold of a product"):
        gm.compose_relations(graph, gm.differential_graph(PLANE, lambda z: z @ z), x, x)
    with pytest.raises(gm.ArgumentError, match="second"):
        gm.compose_relations(graph, kick, x, x)
    with pytest.raises(gm.ArgumentError, match="needs v to be"):
        gm.compose_relations(graph, graph, x, jnp.zeros(3))
