"""Manifolds beyond their laws: named values, cut loci, bundles in canonical charts, bad input."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.subjects import CALCULUS_LAWS

import groupoid_mech as gm
from groupoid_mech.laws import laws_for
from groupoid_mech.manifolds.drawn_points import FEW, a_few_points, drawn_point, drawn_points
from groupoid_mech.manifolds.restored import restored
from groupoid_mech.numerics.matrix import complement

S2 = gm.Sphere(2)
NORTH = jnp.array([0.0, 0.0, 1.0])


def test_sphere_retraction_is_the_great_circle():
    x = S2.random_point(jax.random.key(1))
    xi = jnp.array([0.3, -1.1])
    y = S2.retract(x, xi)
    assert abs(np.arccos(x @ y) - np.linalg.norm(xi)) < 1e-14
    np.testing.assert_allclose(S2.local(x, y), xi, atol=1e-14)


def test_sphere_reaches_all_but_the_antipode():
    x = S2.random_point(jax.random.key(2))
    for gap in (1e-1, 1e-3, 1e-6, 1e-9, 1e-12):
        y = S2.retract(x, jnp.array([0.6, -0.8]) * (np.pi - gap))
        xi = S2.local(x, y)
        assert abs(np.linalg.norm(xi) - (np.pi - gap)) < 1e-14
        np.testing.assert_allclose(S2.retract(x, xi), y, atol=1e-14)


def test_sphere_antipode():
    with pytest.raises(gm.CutLocusError, match=r"Sphere\.local\(x, y\) has no value here"):
        S2.local(NORTH, -NORTH)
    assert np.all(np.isnan(jax.jit(S2.local)(NORTH, -NORTH)))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_sphere_frame_is_the_complement_of_a_unit_vector(n):
    M = gm.Sphere(n)
    points = jax.vmap(M.random_point)(jax.random.split(jax.random.key(n), 20))
    frames, complements = jax.jit(jax.vmap(lambda x: (M.frame(x), complement(x[:, None]))))(points)
    np.testing.assert_allclose(frames, complements, atol=1e-15)


def test_sphere_frame_is_oriented_and_continuous_on_each_side():
    for x in jax.vmap(S2.random_point)(jax.random.split(jax.random.key(0), 20)):
        assert abs(np.linalg.det(np.column_stack([S2.frame(x), x])) - 1) < 1e-14
    np.testing.assert_array_equal(S2.frame(NORTH), np.eye(3)[:, :2])


def test_equator_is_an_ordinary_place():
    """The frame jumps across the equator, but every point on it has a smooth frame of its own."""
    x = jnp.array([0.6, 0.8, 0.0])
    assert gm.differential(S2, lambda y: y @ y, x).tolist() == pytest.approx([0, 0], abs=1e-15)
    assert np.all(np.isfinite(jax.jacfwd(lambda xi: S2.local(x, S2.retract(x, xi)))(jnp.zeros(2))))


def test_torus_wraps():
    T = gm.Torus(2)
    np.testing.assert_allclose(T.local(jnp.array([3.0, 0.0]), jnp.array([-3.0, 7.0])), [2 * np.pi - 6, 7 - 2 * np.pi])
    np.testing.assert_allclose(T.project(jnp.array([4.0, -4.0])), [4 - 2 * np.pi, 2 * np.pi - 4])
    for gap in (1e-3, 1e-12):
        assert abs(T.local(jnp.zeros(2), jnp.full(2, np.pi - gap))[0] - (np.pi - gap)) < 1e-15


def ellipse(x):
    return x[0] ** 2 + 4 * x[1] ** 2 - 1


def test_level_set_retraction_is_on_the_set_and_inverse_to_local():
    M = gm.LevelSet(ellipse, 2)
    x = jnp.array([0.6, 0.4])
    y = M.retract(x, jnp.array([0.2]))
    assert abs(ellipse(y)) < 1e-15
    assert abs(M.local(x, y)[0] - 0.2) < 1e-15


def test_level_set_projection_is_the_nearest_point():
    M = gm.LevelSet(ellipse, 2)
    y = jnp.array([0.9, 0.7])
    t = np.linspace(0, 2 * np.pi, 400001)
    curve = np.column_stack([np.cos(t), 0.5 * np.sin(t)])
    nearest = curve[np.argmin(np.sum((curve - np.asarray(y)) ** 2, axis=1))]
    np.testing.assert_allclose(M.project(y), nearest, atol=2e-5)  # the grid is that coarse
    p = M.project(y)
    tangent = np.array([-8 * p[1], 2 * p[0]])
    assert abs((y - p) @ tangent) < 1e-14


def test_level_set_is_differentiable_in_its_parameters():
    def height(a):
        M = gm.LevelSet(
            lambda x: jnp.stack([x[0] ** 2 + x[1] ** 2 + a * x[2] ** 2 - 1]), 3, point=jnp.array([1.0, 0, 0])
        )
        return M.project(jnp.array([0.0, 0.0, 2.0]))[2]

    # On the axis the nearest point is (0, 0, 1/√a).
    assert abs(jax.jit(height)(4.0) - 0.5) < 1e-14
    assert abs(jax.jit(jax.grad(height))(4.0) + 0.5 * 4.0**-1.5) < 1e-13


def test_level_set_agrees_with_the_sphere():
    M = gm.LevelSet(lambda x: x @ x - 1, 3)
    assert M.dim == 2
    x = S2.random_point(jax.random.key(5))
    f = lambda y: y[0] * y[1] + jnp.exp(y[2])  # noqa: E731
    gradients = [N.to_ambient(x, gm.differential(N, f, x)) for N in (M, S2)]
    np.testing.assert_allclose(*gradients, atol=1e-14)


def test_level_set_vector_too_long():
    M = gm.LevelSet(lambda x: x @ x - 1, 3)
    with pytest.raises(gm.NotFiniteError, match="Take a shorter vector"):
        M.retract(NORTH, jnp.array([2.0, 0.0]))
    assert np.all(np.isnan(eqx.filter_jit(M.retract)(NORTH, jnp.array([2.0, 0.0]))))


@pytest.mark.parametrize(
    ("function", "dim"),
    [
        (lambda x: x @ x, 3),
        (lambda x: jnp.stack([x[0] + x[1] - 1, 2 * x[0] + 2 * x[1] - 2]), 3),
        (lambda x: (x[0] - 1) ** 2, 2),
    ],
    ids=["point", "dependent", "double"],
)
def test_level_set_must_be_submersive(function, dim):
    with pytest.raises(gm.NotSubmersiveError, match="singular values"):
        gm.LevelSet(function, dim)


def test_level_set_without_points():
    with pytest.raises(gm.ArgumentError, match="found no point"):
        gm.LevelSet(lambda x: x @ x + 1, 2)


def test_level_set_functions_must_be_traceable():
    def with_numpy(x):
        return np.sin(np.asarray(x)[0])

    def with_branch(x):
        return x[0] if x[1] > 0 else x[1]

    for function in (with_numpy, with_branch):
        with pytest.raises(
            gm.NotTraceableError, match=rf"{function.__name__} cannot be traced by JAX \(line \d+: return"
        ):
            gm.LevelSet(function, 2)


@pytest.mark.parametrize("function", [lambda x: x, lambda x: jnp.eye(2), lambda x: "F", lambda x: x[0] > 0])
def test_level_set_functions_must_have_fewer_values_than_dimensions(function):
    with pytest.raises(gm.ArgumentError, match="LevelSet needs"):
        gm.LevelSet(function, 2)


def test_functions_must_be_functions():
    with pytest.raises(gm.ArgumentError, match="a function was needed"):
        gm.LevelSet(3.0, 2)


@pytest.mark.extended
def test_symplectic_form_of_a_group_is_the_left_trivialized_one():
    """ω((ξ, π), (η, ρ)) = ⟨ρ, ξ⟩ − ⟨π, η⟩ + ⟨μ, [ξ, η]⟩ on T*SO(3)."""
    G = gm.SO3()
    mu, xi, pi, eta, rho = np.random.default_rng(0).normal(size=(5, 3))
    omega = gm.CotangentBundle(G).symplectic_form((G.random_point(jax.random.key(0)), jnp.asarray(mu)))
    value = np.concatenate([xi, pi]) @ omega @ np.concatenate([eta, rho])
    assert abs(value - (rho @ xi - pi @ eta + mu @ np.cross(xi, eta))) < 1e-14


MANIFOLDS = [gm.Euclidean(3), S2, gm.Torus(3), gm.ProductManifold(S2, gm.Euclidean(1)), gm.TangentBundle(S2)]


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
def test_wrong_shapes_dtypes_and_nan_are_named(manifold):
    name = type(manifold).__name__
    x = manifold.random_point(jax.random.key(0))
    with pytest.raises(gm.ArgumentError, match=rf"{name}\.retract needs xi to be an array of shape"):
        manifold.retract(x, jnp.zeros(manifold.dim + 1))
    with pytest.raises(gm.ArgumentError, match=rf"{name}\.retract needs xi in dtype float64; got dtype int"):
        manifold.retract(x, jnp.zeros(manifold.dim, dtype=int))
    with pytest.raises(gm.ArgumentError, match=rf"{name}\.retract needs xi in dtype float64; got dtype float32"):
        manifold.retract(x, np.zeros(manifold.dim, dtype=np.float32))
    with pytest.raises(gm.ArgumentError, match=rf"{name}\.local needs y to be"):
        manifold.local(x, [1.0, 2.0])
    with pytest.raises(gm.ArgumentError, match="finite"):
        manifold.retract(x, jnp.full(manifold.dim, jnp.nan))
    with pytest.raises(gm.OffManifoldError, match=rf"{name}\.local needs x on {name}"):
        manifold.local(jax.tree.map(lambda leaf: leaf * jnp.nan, x), x)


def test_points_off_the_manifold_are_named_with_their_distance():
    with pytest.raises(
        gm.OffManifoldError, match=r"Sphere\.retract needs x on Sphere; it is off by 0\.732 .*project\(x\)"
    ):
        S2.retract(jnp.ones(3), jnp.zeros(2))


def test_shapes_are_checked_under_jit_too():
    with pytest.raises(gm.ArgumentError, match="shape"):
        jax.jit(S2.retract)(NORTH, jnp.zeros(3))


@pytest.mark.parametrize("cls", [gm.Euclidean, gm.Sphere, gm.Torus, gm.Translations])
@pytest.mark.parametrize("dim", [0, -1, 2.0, "2", True, None])
def test_dimensions_are_positive_integers(cls, dim):
    with pytest.raises(gm.ArgumentError, match=rf"{cls.__name__} needs dim to be an integer ≥ 1; got"):
        cls(dim)


@pytest.mark.parametrize("make", [gm.TangentBundle, gm.CotangentBundle, gm.ProductManifold])
def test_parts_are_manifolds(make):
    with pytest.raises(gm.ArgumentError, match="needs .* to be a Manifold; got the class Sphere"):
        make(gm.Sphere)


def test_random_points_of_a_product_are_drawn_apart():
    M = gm.ProductManifold(S2, S2, gm.Torus(1))
    x = jax.jit(M.random_point)(jax.random.key(3))
    assert M.violation(x) < 1e-15
    assert np.max(np.abs(x[0] - x[1])) > 0.1


def test_points_for_checks_are_the_same_in_every_call_and_drawn_apart():
    M = gm.ProductManifold(S2, S2)
    first, second = a_few_points(M)
    assert max(S2.violation(x) for x in (*first, *second)) < 1e-15
    assert min(np.max(np.abs(x - y)) for x, y in itertools.combinations((*first, *second), 2)) > 0.01
    for number in (0, FEW - 1):
        for row, stack in zip(drawn_point(M, number), (first, second), strict=True):
            np.testing.assert_array_equal(row, stack[number])


def test_points_are_those_of_their_seeds_however_many_are_drawn():
    seeds = np.random.default_rng(2).integers(2**31, size=47)
    points = drawn_points(S2, seeds)
    assert points.shape == (47, 3)
    for number in (0, 20, 46):
        own = jax.jit(lambda seed: S2.random_point(jax.random.key(seed)))(seeds[number])
        np.testing.assert_allclose(points[number], own, atol=1e-15)
        np.testing.assert_array_equal(points[number], drawn_points(S2, seeds[number:])[0])
    q, p = drawn_points(gm.CotangentBundle(S2), seeds)
    assert q.shape == (47, 3)
    assert p.shape == (47, 2)
    assert abs(np.corrcoef(q[:, 0], p[:, 0])[0, 1]) < 0.5, "base and fibre are drawn apart"


def test_points_are_put_back_and_angles_keep_their_turns():
    M = gm.CotangentBundle(gm.ProductManifold(gm.SO3(), S2, gm.Torus(1)))
    (R, x, angle), p = M.random_point(jax.random.key(4))
    off = (R + 1e-12, x * (1 + 1e-12), angle + 20 * jnp.pi), p
    (rotation, point, turned), momentum = restored(M, off)
    assert M.violation(off) > 1e-13
    assert M.violation(((rotation, point, turned), momentum)) < 2e-15
    np.testing.assert_array_equal(turned, angle + 20 * jnp.pi)
    np.testing.assert_array_equal(momentum, p)
    # As a function of the point, the point itself: the next derivative is that of the method alone.
    np.testing.assert_array_equal(jax.jacobian(lambda x: restored(S2, x))(x), np.eye(3))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "group", [gm.SO3(), gm.SE3(), gm.ProductGroup(gm.SO3(), gm.SO2())], ids=lambda group: type(group).__name__
)
def test_elements_are_put_back_to_where_the_nearest_ones_are(group):
    g = group.random_point(jax.random.key(5))
    off = jax.tree.map(lambda leaf: leaf + 1e-10 * jnp.cos(jnp.arange(leaf.size)).reshape(leaf.shape), g)
    assert group.violation(off) > 1e-11
    back, nearest = restored(group, off), group.project(off)
    assert group.violation(back) < 2e-15
    for left, right in zip(jax.tree.leaves(back), jax.tree.leaves(nearest), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-15)
    # Of round-off only: from farther away one step does not lead all the way.
    far = jax.tree.map(lambda leaf: 1.01 * leaf, g)
    assert 1e-5 < group.violation(restored(group, far)) < 1e-3 < group.violation(far)


def test_random_points_need_a_key():
    with pytest.raises(gm.ArgumentError, match=r"Sphere\.random_point needs key to be a random key, as jax.random.key"):
        S2.random_point(0)
    np.testing.assert_array_equal(S2.random_point(jax.random.key(0)), jax.jit(S2.random_point)(jax.random.key(0)))


def test_keyword_arguments():
    np.testing.assert_array_equal(gm.Euclidean(1).retract(x=jnp.zeros(1), xi=jnp.ones(1)), [1.0])


def test_a_manifold_of_ones_own():
    """Five formulas and two helpers make a manifold: the hyperboloid model of the hyperbolic plane."""
    from groupoid_mech.manifolds.manifold import from_ambient_by_autodiff, to_ambient_by_autodiff

    class HyperbolicPlane(gm.Manifold):
        dim: int = 2

        def retract(self, x, xi):
            spatial = x[1:] + xi
            return jnp.concatenate([jnp.sqrt(1 + spatial @ spatial)[None], spatial])

        def local(self, x, y):
            return y[1:] - x[1:]

        def to_ambient(self, x, xi):
            return to_ambient_by_autodiff(self, x, xi)

        def from_ambient(self, x, v):
            return from_ambient_by_autodiff(self, x, v)

        def project(self, y):
            return gm.LevelSet(lambda z: z[1:] @ z[1:] - z[0] ** 2 + 1, 3, point=jnp.array([1.0, 0, 0])).project(y)

        def violation(self, y):
            return jnp.abs(y[0] ** 2 - y[1:] @ y[1:] - 1)

        def random_point(self, key):
            return self.retract(jnp.array([1.0, 0.0, 0.0]), jax.random.normal(key, (2,)))

    # With charts and frames right, the laws of the calculus hold on every manifold.
    laws = [law for law in laws_for(HyperbolicPlane()) if law.name not in CALCULUS_LAWS or law.name == "bracket_jacobi"]
    report = gm.verify(HyperbolicPlane(), examples=50, laws=laws)
    assert report.holds, str(report)
