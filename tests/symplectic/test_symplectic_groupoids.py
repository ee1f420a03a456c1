"""Cotangent groupoids beyond their laws: named formulas, Lagrangian submanifolds, relations, bad input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.symplectic_controls import SYMPLECTIC_GROUPOIDS, area

import groupoid_mech as gm
from groupoid_mech.laws.kinds import Quadratic, ambient_size
from groupoid_mech.laws.lagrangian_laws import LAGRANGIAN_LAWS


def test_pair_groupoid_gives_the_textbook_signs():
    """On a pair groupoid α̃ = −μ₀ and β̃ = μ₁: with μ = dL these are −D₁L and D₂L."""
    T = gm.CotangentGroupoid(gm.PairGroupoid(gm.Euclidean(2)))
    arrow, mu = (jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])), jnp.array([5.0, 6.0, 7.0, 8.0])
    np.testing.assert_array_equal(T.source((arrow, mu))[1], [-5.0, -6.0])
    np.testing.assert_array_equal(T.target((arrow, mu))[1], [7.0, 8.0])
    follower = ((jnp.array([3.0, 4.0]), jnp.array([0.0, 1.0])), jnp.array([-7.0, -8.0, 9.0, 10.0]))
    np.testing.assert_allclose(T.multiply((arrow, mu), follower)[1], [5.0, 6.0, 9.0, 10.0], atol=1e-14)


def test_group_gives_translated_momenta():
    """On T*H, left-trivialized, β̃(μ) = μ and α̃(μ) = Ad*_{g⁻¹} μ."""
    H = gm.SO3()
    T, g, mu = gm.CotangentGroupoid(gm.GroupGroupoid(H)), H.random_point(jax.random.key(0)), jnp.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(T.target((g, mu))[1], mu, atol=1e-15)
    np.testing.assert_allclose(T.source((g, mu))[1], H.coadjoint(g) @ mu, atol=1e-15)


@pytest.mark.extended
def test_coadjoint_groupoid_is_the_cotangent_groupoid():
    """(p, h) ↦ (h, Ad_hᵀ p) is an isomorphism that carries one form to the other."""
    H = gm.SE3()
    C, T = gm.CoadjointGroupoid(H), gm.CotangentGroupoid(gm.GroupGroupoid(H))
    to_cotangent = lambda arrow: (arrow[1], H.adjoint(arrow[1]).T @ arrow[0])  # noqa: E731
    x = C.space.random_point(jax.random.key(1))
    y = C.fiber_chart(C.target(x), jnp.linspace(-0.3, 0.4, 6))
    for left, right in zip(
        jax.tree.leaves(to_cotangent(C.multiply(x, y))),
        jax.tree.leaves(T.multiply(to_cotangent(x), to_cotangent(y))),
        strict=True,
    ):
        np.testing.assert_allclose(left, right, atol=1e-13)
    J = gm.push_forward(C.space, T.space, to_cotangent, x)
    np.testing.assert_allclose(J.T @ T.symplectic_form(to_cotangent(x)) @ J, C.symplectic_form(x), atol=1e-13)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["T*SO3", "so3*", "pair(S2, area)", "T*pair(S2)"])
def test_the_form_is_closed(name):
    G = SYMPLECTIC_GROUPOIDS[name]
    d = gm.exterior_derivative(G.space, G.symplectic_form)(G.space.random_point(jax.random.key(2)))
    np.testing.assert_allclose(d, 0, atol=1e-13)


@eqx.filter_jit
def singular_values(G, sigma, s):
    """Those of T(α|Σ) and T(β|Σ), and the pull-back of the form."""
    ends = [gm.push_forward(sigma.parameters, G.base, lambda s, f=f: f(sigma(s)), s) for f in (G.source, G.target)]
    return *(jnp.linalg.svd(A, compute_uv=False) for A in ends), sigma.isotropy(G.symplectic_form, s)


def kernels(G, sigma, s):
    """The dimensions of the kernels of T(α|Σ) and T(β|Σ), and how far Σ is from isotropic."""
    source, target, isotropy = singular_values(G, sigma, s)
    return int(sum(source < 1e-10)), int(sum(target < 1e-10)), float(jnp.max(jnp.abs(isotropy)))


def quadratic(M, seed=0):
    n = ambient_size(M)
    rng = np.random.default_rng(seed)
    return Quadratic(jnp.asarray(rng.normal(size=(n, n))), jnp.asarray(rng.normal(size=n)))


@pytest.mark.extended
def test_kernels_on_generated_relations():
    """Theorem 2.16 in T*Q⁻ × T*Q: regular where D₁D₂L is, and as degenerate as it."""
    Q = gm.Sphere(2)
    G, M = SYMPLECTIC_GROUPOIDS["pair(T*S2)"], gm.ProductManifold(Q, Q)
    s, L = M.random_point(jax.random.key(4)), quadratic(M)
    for dimension, mixed in enumerate((L.A[:3, 3:], jnp.outer(L.b[:3], L.b[3:]), jnp.zeros((3, 3)))):
        A = L.A.at[:3, 3:].set(mixed).at[3:, :3].set(0.0)
        source, target, isotropy = kernels(G, gm.generated_relation(Q, Q, Quadratic(A, L.b)), s)
        assert (source, target) == (dimension, dimension)
        assert isotropy < 1e-13


def test_kernels_in_the_coadjoint_groupoid():
    """Theorem 2.16 on the image of dL(H) in H ⋉ h*: with L drawn, and with L = 0."""
    G, H = SYMPLECTIC_GROUPOIDS["so3*"], gm.SO3()
    h = H.random_point(jax.random.key(5))
    for L, dimension in ((quadratic(H), 0), (jax.tree.map(jnp.zeros_like, quadratic(H)), 3)):
        sigma = gm.Immersion(H, G.space, Image(H, L))
        source, target, isotropy = kernels(G, sigma, h)
        assert (source, target) == (dimension, dimension)
        assert isotropy < 1e-13


class Image(eqx.Module):
    """h ↦ (Ad*_{h⁻¹} dL(h), h)."""

    group: gm.SO3
    L: Quadratic

    def __call__(self, h):
        return self.group.coadjoint(h) @ gm.differential(self.group, self.L, h), h


@pytest.mark.extended
def test_kernels_on_surfaces_with_an_area():
    """Theorem 2.16 in S²⁻ × S²: the graph of a twist is regular, a product of two curves degenerate at both ends."""
    G, S2 = SYMPLECTIC_GROUPOIDS["pair(S2, area)"], gm.Sphere(2)
    twist = gm.map_graph(S2, S2, lambda x: gm.SO3().exp(jnp.stack([0.0 * x[2], 0.0 * x[2], x[2] ** 2])) @ x)
    assert kernels(G, twist, S2.random_point(jax.random.key(6)))[:2] == (0, 0)
    parallels = gm.Immersion(
        gm.Torus(2), G.space, lambda s: tuple(jnp.stack([0.6 * jnp.cos(a), 0.6 * jnp.sin(a), 0.8 + 0 * a]) for a in s)
    )
    for sigma, s in ((twist, S2.random_point(jax.random.key(6))), (parallels, jnp.array([0.3, 1.2]))):
        assert kernels(G, sigma, s)[2] < 1e-14
    assert kernels(G, parallels, jnp.array([0.3, 1.2]))[:2] == (1, 1)


def test_kernels_on_the_graph_of_a_form_that_is_not_closed():
    """σ = q₁·dq₁ + A q₁·dq₀ on pairs: F⁺ forgets q₀, F⁻ does not forget q₁. Theorem 2.16 needs dσ = 0."""
    T = gm.CotangentGroupoid(gm.PairGroupoid(gm.Euclidean(2)))
    M = T.groupoid.space
    g = (jnp.array([0.3, 0.1]), jnp.array([0.5, -0.2]))
    A = jnp.array([[1.0, 2.0], [0.0, 1.0]])
    sigma = gm.one_form_graph(M, lambda g: jnp.concatenate([A @ g[1], g[1]]))
    source, target, isotropy = kernels(T, sigma, g)
    assert (source, target) == (0, 2)
    assert isotropy > 1
    closed = gm.one_form_graph(M, lambda g: jnp.concatenate([A @ g[1], g[1] + A.T @ g[0]]))
    assert kernels(T, closed, g)[:2] == (0, 0)


@pytest.mark.extended
def test_kernels_on_a_constrained_hypersurface():
    """Theorem 2.16 on Σ_L over φ = 0 in pairs of points: regular for a drawn L, degenerate for L = 0, ν = 0."""
    T = gm.CotangentGroupoid(gm.PairGroupoid(gm.Euclidean(2)))
    N = gm.Euclidean(3)
    surface = lambda n: (n[:2], jnp.stack([n[2], n[0] ** 2 + n[1] * n[2]]))  # noqa: E731
    L = quadratic(T.groupoid.space)
    for scale, dimension in ((1.0, 0), (0.0, 1)):
        sigma = gm.constrained_graph(T.groupoid.space, N, surface, lambda n, scale=scale: scale * L(surface(n)))
        source, target, isotropy = kernels(T, sigma, (jnp.array([0.3, 0.4, 0.5]), scale * jnp.ones(1)))
        assert (source, target) == (dimension, dimension)
        assert isotropy < 1e-13


def circle(s):
    return jnp.stack([jnp.cos(s[0]), jnp.sin(s[0]), 0.5 * jnp.sin(2 * s[0])])


@pytest.mark.extended
def test_constrained_graph_is_lagrangian_and_restricts_to_dL():
    """Theorem 3.1: Σ_L for a function on a curve in R³."""
    M, N = gm.Euclidean(3), gm.Torus(1)
    L = lambda s: jnp.sin(3 * s[0])  # noqa: E731
    sigma = gm.constrained_graph(M, N, circle, L)
    s = (jnp.array([0.7]), jnp.array([0.3, -1.2]))
    point, mu = sigma(s)
    np.testing.assert_allclose(point, circle(s[0]))
    assert abs(mu @ jax.jacfwd(circle)(s[0])[:, 0] - 3 * np.cos(2.1)) < 1e-14
    np.testing.assert_allclose(sigma.isotropy(gm.CotangentBundle(M).symplectic_form, s), 0, atol=1e-14)
    assert sigma.parameters.dim == M.dim
    assert sigma.smallest_stretch(s) > 0.1


def test_constrained_graph_on_a_curved_manifold():
    """The same on a parallel of the sphere, where the surrounding manifold is not flat."""
    M, N = gm.Sphere(2), gm.Torus(1)
    parallel = lambda s: jnp.stack([0.6 * jnp.cos(s[0]), 0.6 * jnp.sin(s[0]), jnp.asarray(0.8)])  # noqa: E731
    sigma = gm.constrained_graph(M, N, parallel, lambda s: jnp.cos(s[0]) ** 3)
    pulled = sigma.isotropy(gm.CotangentBundle(M).symplectic_form, (jnp.array([0.4]), jnp.array([2.0])))
    np.testing.assert_allclose(pulled, 0, atol=1e-14)


def test_constrained_graphs_over_everything_and_over_too_much():
    """N = M gives dL(M); a larger N is refused."""
    M = gm.Euclidean(2)
    sigma = gm.constrained_graph(M, M, lambda x: x, lambda x: x[0] * x[1] ** 2)
    np.testing.assert_allclose(sigma((jnp.array([2.0, 3.0]), jnp.zeros(0)))[1], [9.0, 12.0])
    with pytest.raises(gm.ArgumentError, match="N no larger than M; its dimension is 2, that of M 1"):
        gm.constrained_graph(gm.Euclidean(1), M, lambda x: x[:1], lambda x: x[0])


@pytest.mark.parametrize(
    "subject",
    [
        gm.CotangentGroupoid(gm.PairGroupoid(gm.Euclidean(1))),
        pytest.param(gm.CotangentGroupoid(gm.GroupGroupoid(gm.SO2(tau="cayley"))), marks=pytest.mark.extended),
        pytest.param(gm.CotangentBundle(gm.Euclidean(1)), marks=pytest.mark.extended),
    ],
    ids=["T*pair(R)", "T*SO2", "T*R"],
)
def test_laws_of_lagrangian_submanifolds_in_small_dimensions(subject):
    report = gm.verify(subject, examples=20, laws=[law for law in LAGRANGIAN_LAWS if isinstance(subject, law.subject)])
    assert report.holds, report


def test_conormal_covectors_vanish_on_the_submanifold():
    sigma = gm.conormal_bundle(gm.Euclidean(3), gm.Torus(1), circle)
    s = (jnp.array([0.7]), jnp.array([0.3, -1.2]))
    assert abs(sigma(s)[1] @ jax.jacfwd(circle)(s[0])[:, 0]) < 1e-15
    assert abs(np.linalg.norm(sigma(s)[1]) - np.linalg.norm(s[1])) < 1e-15


def test_one_form_graphs_are_lagrangian_exactly_when_closed():
    M = gm.Euclidean(2)
    omega, x = gm.CotangentBundle(M).symplectic_form, jnp.array([0.3, 0.4])
    closed = gm.one_form_graph(M, lambda q: jnp.stack([q[1], q[0]]))
    turning = gm.one_form_graph(M, lambda q: jnp.stack([-q[1], q[0]]))
    np.testing.assert_allclose(closed.isotropy(omega, x), 0)
    # (σ*ω) = −dσ, and d(x dy − y dx) = 2 dx ∧ dy.
    np.testing.assert_allclose(turning.isotropy(omega, x), [[0, -2], [2, 0]])


def test_map_graphs_are_lagrangian_exactly_for_symplectic_maps():
    plane = gm.Euclidean(2)
    pair = gm.SymplecticPair(plane, area)
    x = jnp.array([0.2, 0.5])
    kick = gm.map_graph(plane, plane, lambda z: jnp.stack([z[0], z[1] - jnp.sin(z[0])]))
    stretch = gm.map_graph(plane, plane, lambda z: 2 * z)
    np.testing.assert_allclose(kick.isotropy(pair.symplectic_form, x), 0, atol=1e-15)
    np.testing.assert_allclose(stretch.isotropy(pair.symplectic_form, x), [[0, 3], [-3, 0]])


def test_relations_of_graphs_compose_and_transpose():
    """The graph of a kick, followed by a drift, is the graph of the composition; and read backwards that of the inverse."""
    plane = gm.Euclidean(2)
    kick = lambda z: jnp.stack([z[0], z[1] - jnp.sin(z[0])])  # noqa: E731
    drift = lambda z: jnp.stack([z[0] + 0.3 * z[1], z[1]])  # noqa: E731
    omega, x = gm.SymplecticPair(plane, area).symplectic_form, jnp.array([0.2, 0.5])
    step = gm.map_graph(plane, plane, kick).then(drift, plane)
    np.testing.assert_allclose(step(x)[1], drift(kick(x)))
    np.testing.assert_allclose(step.isotropy(omega, x), 0, atol=1e-15)
    tangents = [gm.LinearRelation.graph(jax.jacfwd(f)(y)) for f, y in ((kick, x), (drift, kick(x)))]
    assert step.relation(x).distance(tangents[0].then(tangents[1])) < 1e-14
    assert step.transpose().relation(x).distance(step.relation(x).transpose()) < 1e-14
    np.testing.assert_allclose(step.transpose().isotropy(omega, x), 0, atol=1e-15)
    with pytest.raises(gm.ArgumentError, match="product of two manifolds"):
        gm.differential_graph(plane, lambda z: z @ z).transpose()


J4 = np.kron(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.eye(2))


def symplectic_matrix(seed):
    A = np.random.default_rng(seed).normal(size=(4, 4))
    S = A + A.T
    return np.linalg.solve(np.eye(4) - 0.1 * J4 @ S, np.eye(4) + 0.1 * J4 @ S)  # a Cayley transform


def test_relations_compose_and_transpose():
    A, B = symplectic_matrix(1), symplectic_matrix(2)
    R, S = gm.LinearRelation.graph(A), gm.LinearRelation.graph(B)
    assert R.canonical_defect(J4, J4) < 1e-14
    assert R.then(S).distance(gm.LinearRelation.graph(B @ A)) < 1e-13
    assert R.transpose().distance(gm.LinearRelation.graph(np.linalg.inv(A))) < 1e-13
    assert R.then(S).transpose().distance(S.transpose().then(R.transpose())) < 1e-13
    assert gm.LinearRelation.graph(2 * A).canonical_defect(J4, J4) > 0.1


def test_composition_of_canonical_relations_is_canonical_without_transversality():
    """Two Lagrangian product relations that share a direction: the naive composition has the wrong dimension."""
    positions, momenta = np.eye(4)[:, :2], np.eye(4)[:, 2:]
    zero = np.zeros((4, 2))
    R = gm.LinearRelation(np.concatenate([positions, zero], 1), np.concatenate([zero, positions], 1))
    S = gm.LinearRelation(np.concatenate([positions, zero], 1), np.concatenate([zero, momenta], 1))
    composed = R.then(S)
    assert composed.dimension == 4
    assert composed.canonical_defect(J4, J4) < 1e-15


def test_bad_input():
    T = gm.CotangentGroupoid(gm.PairGroupoid(gm.Euclidean(1)))
    step = ((jnp.zeros(1), jnp.ones(1)), jnp.array([-2.0, 3.0]))
    with pytest.raises(gm.NotComposableError, match=r"gap 5"):
        T.multiply(step, ((jnp.ones(1), jnp.ones(1)), jnp.array([2.0, 0.0])))
    with pytest.raises(gm.ArgumentError, match="CotangentGroupoid needs groupoid"):
        gm.CotangentGroupoid(gm.Sphere(2))
    with pytest.raises(gm.ArgumentError, match=r"SymplecticPair without a form needs base to be a CotangentBundle"):
        gm.SymplecticPair(gm.Sphere(2))
    with pytest.raises(gm.ArgumentError, match=r"form\(x\) to be components of shape \(2, 2\)"):
        gm.SymplecticPair(gm.Sphere(2), lambda x: x)
    with pytest.raises(gm.ArgumentError, match="LinearRelation needs second"):
        gm.LinearRelation(np.eye(2), np.ones((2, 3)))
    with pytest.raises(gm.ArgumentError, match="dimension 2"):
        gm.LinearRelation.graph(np.eye(2)).then(gm.LinearRelation.graph(np.eye(3)))
