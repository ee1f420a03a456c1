"""The bridge to geomstats: round trips, refusals, statistics in our units, and an import without traces."""

import os
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import groupoid_mech as gm
import groupoid_mech.interop.geomstats as bridge
from groupoid_mech.interop.isolation import geomstats_importable

with geomstats_importable():
    from geomstats.geometry.euclidean import Euclidean
    from geomstats.geometry.hyperbolic import Hyperbolic
    from geomstats.geometry.hypersphere import Hypersphere
    from geomstats.geometry.product_manifold import ProductManifold
    from geomstats.geometry.spd_matrices import SPDMatrices
    from geomstats.geometry.special_euclidean import SpecialEuclidean
    from geomstats.geometry.special_orthogonal import SpecialOrthogonal
    from geomstats.learning.frechet_mean import FrechetMean
    from geomstats.learning.pca import TangentPCA

NATIVE = (
    gm.Euclidean(3),
    gm.Sphere(1),
    gm.Sphere(2),
    gm.SO2(),
    gm.SO3(),
    gm.SE2(),
    gm.SE3(),
    gm.Heisenberg(),
    gm.ProductManifold(gm.Sphere(2), gm.SO3()),
    gm.ProductManifold(gm.Sphere(2), gm.Sphere(2)),
    gm.ProductManifold(gm.SE2(), gm.ProductManifold(gm.SO2(), gm.Heisenberg())),
)
ONE_WAY = (
    gm.Translations(2),
    gm.UnitQuaternions(),
    gm.Torus(3),
    gm.ProductGroup(gm.SO3(), gm.SO3(tau="cayley")),
    gm.ProductManifold(gm.Torus(2), gm.SE3()),
)
NORTH = jnp.array([0.0, 0.0, 1.0])


@eqx.filter_jit
def draw_points(M, key):
    """Six points: one number everywhere, so that what is compiled for one test serves the others."""
    return jax.vmap(M.random_point)(jax.random.split(key, 6))


@eqx.filter_jit
def around(M, x, xi):
    return jax.vmap(M.retract, (None, 0))(x, xi)


def gap(x, y):
    pairs = zip(jax.tree.leaves(x), jax.tree.leaves(y), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)))) for a, b in pairs)


def rotations(vectors):
    return jnp.asarray(Rotation.from_rotvec(np.array(vectors)).as_matrix())


# ------------------------------------------------------------------------------------------ import


def fresh(program, **environment):
    """Run a program in a new process where warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=300
    )


@pytest.mark.slow
def test_importing_leaves_no_trace():
    done = fresh(
        "import logging, sys, warnings\n"
        "import numpy as np\n"
        "root = logging.getLogger()\n"
        "def state():\n"
        "    return hasattr(np, 'trapz'), root.level, list(root.handlers), list(root.filters), np.geterr()\n"
        "import groupoid_mech\n"
        "assert 'geomstats' not in sys.modules\n"
        "before, filters = state(), list(warnings.filters)\n"
        "import groupoid_mech.interop.geomstats\n"
        "assert 'geomstats' in sys.modules\n"
        "assert state() == before, (before, state())\n"
        "assert ('error', None, Warning, None, 0) in warnings.filters\n"
        "assert not [f for f in warnings.filters if f[0] == 'ignore' and f[2] is ImportWarning and f[1]]\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_the_alias_is_what_makes_geomstats_importable():
    done = fresh(
        "import numpy as np, warnings\n"
        "warnings.simplefilter('ignore', ImportWarning)\n"
        "had = hasattr(np, 'trapz')\n"
        "try:\n"
        "    import geomstats.backend\n"
        "except ImportError as error:\n"
        "    assert not had and 'trapz' in str(error), error\n"
        "else:\n"
        "    assert had\n"
        "import groupoid_mech.interop.geomstats as bridge\n"
        "assert hasattr(np, 'trapz') == had\n"
        "assert bridge.to_geomstats(bridge.SO3()).shape == (3, 3)\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.extended
def test_a_numpy_that_has_trapz_keeps_its_own():
    done = fresh(
        "import numpy as np\n"
        "def mine(*args, **kwargs): ...\n"
        "np.trapz = mine\n"
        "import groupoid_mech.interop.geomstats\n"
        "assert np.trapz is mine\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.extended
def test_another_backend_is_refused():
    done = fresh(
        "import sys, types\n"
        "from groupoid_mech.interop.isolation import geomstats_importable\n"
        "with geomstats_importable():\n"
        "    import geomstats.backend as gs\n"
        "gs.__name__ = 'geomstats.pytorch'\n"
        "import groupoid_mech.interop.geomstats\n"
    )
    assert "unset GEOMSTATS_BACKEND" in done.stderr


# ------------------------------------------------------------------------------- spaces and layouts


@pytest.mark.parametrize("M", NATIVE, ids=repr)
def test_spaces_round_trip(M):
    assert bridge.from_geomstats(bridge.to_geomstats(M)) == M


@pytest.mark.few(4)
@pytest.mark.parametrize("M", NATIVE + ONE_WAY, ids=repr)
@pytest.mark.parametrize(
    "lead", [pytest.param((), id="one", marks=pytest.mark.extended), pytest.param((2, 3), id="batch")]
)
def test_points_and_vectors_round_trip_and_belong(M, lead):
    space = bridge.to_geomstats(M)
    size = int(np.prod(lead))
    points, vectors = draw_points(M, jax.random.key(1)), jax.random.normal(jax.random.key(2), (6, M.dim))
    x, xi = jax.tree.map(lambda leaf: leaf[:size].reshape(*lead, *leaf.shape[1:]), (points, vectors))
    p, v = bridge.point_to_geomstats(M, x), bridge.vector_to_geomstats(M, x, xi)
    assert isinstance(p, np.ndarray)
    assert isinstance(v, np.ndarray)
    assert p.shape == v.shape == (*lead, *space.shape)
    assert np.all(space.belongs(p.reshape(-1, *space.shape), atol=1e-12))
    assert np.all(space.is_tangent(v.reshape(-1, *space.shape), p.reshape(-1, *space.shape), atol=1e-12))
    back = bridge.point_from_geomstats(M, p)
    assert jax.tree.structure(back) == jax.tree.structure(x)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(back))
    assert gap(back, x) < 1e-14
    assert gap(bridge.vector_from_geomstats(M, x, v), xi) < 1e-13


@pytest.mark.few(4)
@pytest.mark.parametrize("M", NATIVE, ids=repr)
def test_points_of_geomstats_come_over(M):
    np.random.seed(0)  # noqa: NPY002 (geomstats draws from numpy's global state)
    p = bridge.to_geomstats(M).random_point(6)
    assert np.max(np.abs(bridge.point_to_geomstats(M, bridge.point_from_geomstats(M, p)) - p)) < 1e-14


def test_angles_come_back_reduced():
    x = jnp.array([3.0, 9.0])
    back = bridge.point_from_geomstats(gm.Torus(2), bridge.point_to_geomstats(gm.Torus(2), x))
    assert gap(back, gm.Torus(2).project(x)) < 1e-14


def test_vectors_broadcast_over_one_point():
    M, x = gm.SE3(), gm.SE3().identity()
    v = bridge.vector_to_geomstats(M, x, jnp.eye(6))
    assert v.shape == (6, 4, 4)
    assert np.max(np.abs(v - np.asarray(jax.vmap(M.hat)(jnp.eye(6))))) == 0


@pytest.mark.parametrize(("group", "n"), [(gm.SO3(), 3), (gm.SE2(), 3), (gm.SE3(), 4)], ids=repr)
def test_conversion_is_a_homomorphism(group, n):
    g, h = draw_points(group, jax.random.key(3)), draw_points(group, jax.random.key(4))
    product = bridge.point_to_geomstats(group, eqx.filter_jit(jax.vmap(group.multiply))(g, h))
    a, b = bridge.point_to_geomstats(group, g), bridge.point_to_geomstats(group, h)
    assert product.shape == (6, n, n)
    assert np.max(np.abs(bridge.to_geomstats(group).compose(a, b) - product)) < 1e-14


def test_heisenberg_has_the_product_of_geomstats():
    M = gm.Heisenberg()
    g, h = draw_points(M, jax.random.key(3)), draw_points(M, jax.random.key(4))
    composed = bridge.to_geomstats(M).compose(np.asarray(g), np.asarray(h))
    assert np.max(np.abs(composed - np.asarray(jax.vmap(M.multiply)(g, h)))) < 1e-15


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("space", "named"),
    [
        (SpecialOrthogonal(3, point_type="vector"), "_SpecialOrthogonal3Vectors"),
        (SpecialOrthogonal(4), "points of shape (4, 4)"),
        (SpecialEuclidean(4), "points of shape (5, 5)"),
        (Hypersphere(2, intrinsic=True), "points of shape (2,)"),
        (SPDMatrices(3), "SPDMatrices"),
        (Hyperbolic(2), "Hyper"),
        (ProductManifold([Hypersphere(2), SPDMatrices(2)]), "SPDMatrices"),
        (ProductManifold([Hypersphere(2), Hypersphere(2)], point_ndim=1), "points of shape (6,)"),
        (Hypersphere, "the class Hypersphere"),
        (3, "int 3"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_spaces_are_refused(space, named):
    with pytest.raises(gm.ArgumentError, match=r"^from_geomstats needs Euclidean\(n\)") as caught:
        bridge.from_geomstats(space)
    assert named in str(caught.value)


CIRCLE = gm.LevelSet(lambda x: x @ x - 1.0, 2)


BUNDLE = gm.TangentBundle(gm.Sphere(2))
MIXED = gm.ProductManifold(gm.Sphere(2), CIRCLE)


@pytest.mark.parametrize("M", [CIRCLE, BUNDLE, MIXED, gm.SO3, None], ids=str)
def test_other_manifolds_are_refused(M):
    with pytest.raises(gm.ArgumentError, match="^to_geomstats needs a manifold that geomstats has too:"):
        bridge.to_geomstats(M)


def test_every_function_refuses_other_manifolds_by_its_own_name():
    x = jnp.array([1.0, 0.0])
    calls = {
        bridge.point_to_geomstats: (x,),
        bridge.point_from_geomstats: (x,),
        bridge.vector_to_geomstats: (x, x),
        bridge.vector_from_geomstats: (x, x),
        bridge.distance: (x, x),
        bridge.frechet_mean: (x[None],),
        bridge.tangent_pca: (x[None], 1),
    }
    for function, arguments in calls.items():
        with pytest.raises(gm.ArgumentError, match=f"^{function.__name__} needs a manifold"):
            function(CIRCLE, *arguments)


@pytest.mark.parametrize(
    "x",
    [jnp.zeros(4), jnp.zeros(()), jnp.array([0, 0, 1]), [0.0, 0.0, 1.0], np.zeros(3, dtype=np.float32), "x"],
    ids=str,
)
def test_points_of_wrong_shape_or_dtype_are_refused(x):
    with pytest.raises(gm.ArgumentError, match="point_to_geomstats needs x to be an array of shape"):
        bridge.point_to_geomstats(gm.Sphere(2), x)


def test_parts_with_different_leading_axes_are_refused():
    with pytest.raises(gm.ArgumentError, match="the same leading axes"):
        bridge.point_to_geomstats(gm.SE3(), (jnp.stack([jnp.eye(3)] * 2), jnp.zeros((3, 3))))


def test_leading_axes_that_do_not_broadcast_are_refused():
    with pytest.raises(gm.ArgumentError, match=r"x \(2,\) and xi \(3,\)"):
        bridge.vector_to_geomstats(gm.Sphere(2), jnp.stack([NORTH] * 2), jnp.zeros((3, 2)))


def test_points_off_the_manifold_are_refused():
    batch = jnp.stack([NORTH, 1.1 * NORTH])
    with pytest.raises(gm.OffManifoldError, match=r"x on Sphere; x \(number 1 of 2\) is off by 0.1"):
        bridge.point_to_geomstats(gm.Sphere(2), batch)
    with pytest.raises(gm.OffManifoldError, match="off by 0.1"):
        bridge.frechet_mean(gm.Sphere(2), batch)
    with pytest.raises(gm.OffManifoldError, match="off by nan"):
        bridge.point_to_geomstats(gm.Sphere(2), jnp.full(3, jnp.nan))


def test_a_wrong_last_row_is_refused():
    p = np.eye(4)
    p[3, 3] = 2.0
    with pytest.raises(gm.OffManifoldError, match="p on SE3; p is off by 1"):
        bridge.point_from_geomstats(gm.SE3(), p)
    v = np.zeros((4, 4))
    v[3, 3] = 1.0
    with pytest.raises(gm.ArgumentError, match="needs v tangent to SE3"):
        bridge.vector_from_geomstats(gm.SE3(), gm.SE3().identity(), v)


def test_vectors_that_are_not_tangent_are_refused():
    with pytest.raises(gm.ArgumentError, match="needs v tangent to SO3 at x; it is off by 1 "):
        bridge.vector_from_geomstats(gm.SO3(), jnp.eye(3), np.eye(3))
    with pytest.raises(gm.ArgumentError, match="xi to be finite"):
        bridge.vector_to_geomstats(gm.Sphere(2), NORTH, jnp.array([jnp.nan, 0.0]))


def test_heisenberg_has_no_geodesics():
    x = jnp.zeros(3)
    with pytest.raises(gm.ArgumentError, match="distance needs geodesics"):
        bridge.distance(gm.Heisenberg(), x, x)
    product = gm.ProductManifold(gm.Heisenberg(), gm.Euclidean(1))
    with pytest.raises(gm.ArgumentError, match="frechet_mean needs geodesics"):
        bridge.frechet_mean(product, (x[None], jnp.zeros((1, 1))))


# --------------------------------------------------------------------------------------- distances


def test_distances_are_in_our_units():
    turn = rotations([0.0, 0.0, 1.2])
    assert gap(bridge.distance(gm.SO3(), jnp.eye(3), turn), 1.2) < 1e-14
    assert gap(bridge.distance(gm.SO2(), jnp.eye(2), turn[:2, :2]), 1.2) < 1e-14
    # Frobenius would give sqrt(2 * 1.2² + 25)
    motion = (turn, jnp.array([0.0, 3.0, 4.0]))
    assert gap(bridge.distance(gm.SE3(), gm.SE3().identity(), motion), np.sqrt(1.2**2 + 25)) < 1e-14
    H = gm.UnitQuaternions()
    assert gap(bridge.distance(H, H.identity(), H.exp(jnp.array([0.0, 0.0, 1.2]))), 1.2) < 1e-14
    wrapped = bridge.distance(gm.Torus(2), jnp.array([3.0, 0.0]), jnp.array([-3.0, 0.0]))
    assert gap(wrapped, 2 * np.pi - 6) < 1e-14
    pair = gm.ProductManifold(gm.SO3(), gm.Euclidean(1))
    assert gap(bridge.distance(pair, (jnp.eye(3), jnp.zeros(1)), (turn, jnp.ones(1))), np.sqrt(2.44)) < 1e-14


def test_the_distances_of_geomstats_differ_on_motions_only():
    turn, shift = rotations([0.0, 0.0, 1.2]), jnp.array([0.0, 3.0, 4.0])
    motion = bridge.point_to_geomstats(gm.SE3(), (turn, shift))
    assert gap(bridge.to_geomstats(gm.SO3()).metric.dist(np.eye(3), np.asarray(turn)), 1.2) < 1e-14
    assert gap(bridge.to_geomstats(gm.SE3()).metric.dist(np.eye(4), motion), np.sqrt(2 * 1.2**2 + 25)) < 1e-14


def test_small_distances_keep_their_digits():
    y = gm.Sphere(2).retract(NORTH, jnp.array([3e-9, 4e-9]))
    assert gap(bridge.distance(gm.Sphere(2), NORTH, y), 5e-9) < 1e-15
    assert gap(bridge.distance(gm.SO3(), jnp.eye(3), rotations([0.0, 3e-9, 4e-9])), 5e-9) < 1e-15


def test_distances_of_batches():
    M = gm.Sphere(2)
    xi = jax.random.normal(jax.random.key(5), (4, 2))
    batch = around(M, NORTH, xi)
    assert gap(bridge.distance(M, NORTH, batch), jnp.linalg.norm(xi, axis=1)) < 1e-14
    assert gap(bridge.distance(M, batch, NORTH), jnp.linalg.norm(xi, axis=1)) < 1e-14
    assert gap(bridge.distance(M, batch, batch), jnp.zeros(4)) < 1e-14


@pytest.mark.parametrize(
    ("M", "x", "y"),
    [
        (gm.Sphere(2), NORTH, -NORTH),
        (gm.Sphere(2), NORTH, jnp.array([1e-6, 0.0, -1.0])),
        (gm.SO3(), jnp.eye(3), jnp.diag(jnp.array([1.0, -1.0, -1.0]))),
        (gm.SE2(), (jnp.eye(2), jnp.zeros(2)), (-jnp.eye(2), jnp.zeros(2))),
    ],
    ids=["antipode", "near antipode", "half turn", "half turn of a motion"],
)
def test_the_cut_locus_is_right_or_an_error(M, x, y):
    try:
        found = bridge.distance(M, x, y)
    except gm.CutLocusError:
        return
    assert abs(float(found) - np.pi) < 2e-6


# ------------------------------------------------------------------------------- means and components


def test_mean_of_symmetric_points_on_the_sphere():
    angles = 2 * jnp.pi * jnp.arange(5) / 5
    points = around(gm.Sphere(2), NORTH, 1.0 * jnp.stack([jnp.cos(angles), jnp.sin(angles)], axis=-1))
    assert gap(bridge.frechet_mean(gm.Sphere(2), points), NORTH) < 1e-10


@pytest.mark.extended
def test_mean_of_symmetric_rotations():
    m = rotations([0.3, -0.5, 0.2])
    vectors = jnp.concatenate([jnp.eye(3), -jnp.eye(3)])
    points = jnp.einsum("ij,njk->nik", m, rotations(0.8 * vectors))
    assert gap(bridge.frechet_mean(gm.SO3(), points), m) < 1e-10


def test_mean_of_two_points_is_the_midpoint():
    M = gm.ProductManifold(gm.SO2(), gm.Euclidean(1))
    turns = rotations([[0, 0, 0.0], [0, 0, 1.0]])[:, :2, :2]
    mean = bridge.frechet_mean(M, (turns, jnp.array([[1e3], [3e3]])))
    assert gap(mean, (rotations([0, 0, 0.5])[:2, :2], jnp.array([2e3]))) < 1e-9


def test_mean_of_one_point_is_the_point():
    assert gap(bridge.frechet_mean(gm.Sphere(2), NORTH[None]), NORTH) < 1e-15
    assert gap(bridge.frechet_mean(gm.Torus(1), jnp.array([[2.0]])), jnp.array([2.0])) < 1e-15


@pytest.mark.extended
def test_mean_of_motions_is_that_of_turns_and_of_shifts():
    w = jnp.array([[0.3, 0.1, 0.0], [-0.2, 0.4, 0.5], [0.1, 0.0, -0.6]])
    points = (rotations(w), jnp.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.0]]))
    R, x = bridge.frechet_mean(gm.SE3(), points)
    assert gap(R, bridge.frechet_mean(gm.SO3(), points[0])) < 1e-10
    assert gap(x, jnp.ones(3)) < 1e-10


@pytest.mark.extended
def test_means_are_equivariant():
    M = gm.Sphere(2)
    points = around(M, NORTH, 0.7 * jax.random.normal(jax.random.key(6), (6, 2)))
    R = rotations([1.0, 2.0, -0.5])
    assert gap(bridge.frechet_mean(M, points @ R.T), R @ bridge.frechet_mean(M, points)) < 1e-10
    turns = rotations(0.5 * jax.random.normal(jax.random.key(7), (4, 3)))
    S = rotations([-0.4, 0.3, 1.5])
    moved = jnp.einsum("ij,njk,kl->nil", R, turns, S)
    assert gap(bridge.frechet_mean(gm.SO3(), moved), R @ bridge.frechet_mean(gm.SO3(), turns) @ S) < 1e-10


def test_the_mean_agrees_with_geomstats():
    M = gm.Sphere(3)
    points = around(M, jnp.array([0.0, 0.6, 0.0, 0.8]), 0.5 * jax.random.normal(jax.random.key(8), (10, 3)))
    theirs = FrechetMean(bridge.to_geomstats(M)).set(epsilon=1e-20).fit(bridge.point_to_geomstats(M, points))
    assert gap(bridge.frechet_mean(M, points), theirs.estimate_) < 1e-9


def test_components_find_a_known_direction():
    xi = jnp.array([0.6, 0.8]) * jnp.array([-0.4, -0.1, 0.1, 0.4])[:, None]
    result = bridge.tangent_pca(gm.Sphere(2), around(gm.Sphere(2), NORTH, xi), 2)
    assert gap(result.mean, NORTH) < 1e-12
    assert gap(result.components, jnp.array([[0.6, 0.8], [0.8, -0.6]])) < 1e-9
    assert gap(result.variances, jnp.array([0.34 / 3, 0.0])) < 1e-12


def test_components_weigh_turns_and_shifts_as_our_frame_does():
    # Shifts of ±1.2 outweigh turns of ±1: with Frobenius' 2θ² the turns would win.
    w = jnp.zeros((4, 3)).at[:2, 2].set(jnp.array([1.0, -1.0]))
    x = jnp.zeros((4, 3)).at[2:, 0].set(jnp.array([1.2, -1.2]))
    points = (rotations(w), x)
    result = bridge.tangent_pca(gm.SE3(), points, 2)
    assert gap(result.components, jnp.eye(6)[jnp.array([3, 2])]) < 1e-9
    assert gap(result.variances, jnp.array([2.88, 2.0]) / 3) < 1e-9
    p = bridge.point_to_geomstats(gm.SE3(), points)
    theirs = TangentPCA(bridge.to_geomstats(gm.SE3()), n_components=2).fit(p)
    assert gap(theirs.explained_variance_, jnp.array([4.0, 2.88]) / 3) < 1e-9


def test_variances_of_rotations_are_half_of_those_of_geomstats():
    vectors = jnp.array([[0.0, 0.0, 0.4], [0.0, 0.0, -0.4], [0.2, 0.0, 0.0], [-0.2, 0.0, 0.0]])
    points = rotations(vectors)
    ours = bridge.tangent_pca(gm.SO3(), points, 2)
    theirs = TangentPCA(bridge.to_geomstats(gm.SO3()), n_components=2).fit(np.array(points))
    assert gap(ours.variances, jnp.array([0.32, 0.08]) / 3) < 1e-9
    assert gap(theirs.explained_variance_, 2 * ours.variances) < 1e-7  # its mean is that far off


@pytest.mark.extended
def test_components_on_quaternions_are_those_on_rotations():
    vectors = 0.4 * jax.random.normal(jax.random.key(9), (5, 3))
    quaternions = eqx.filter_jit(jax.vmap(gm.UnitQuaternions().exp))(vectors)
    ours = bridge.tangent_pca(gm.UnitQuaternions(), quaternions, 3)
    others = bridge.tangent_pca(gm.SO3(), rotations(vectors), 3)
    assert gap(ours.components, others.components) < 1e-8
    assert gap(ours.variances, others.variances) < 1e-9


def test_empty_and_single_points_are_refused():
    with pytest.raises(gm.ArgumentError, match=r"frechet_mean needs one leading axis.*axes \(0,\)"):
        bridge.frechet_mean(gm.Sphere(2), jnp.zeros((0, 3)))
    with pytest.raises(gm.ArgumentError, match=r"got leading axes \(\)"):
        bridge.frechet_mean(gm.Sphere(2), NORTH)
    with pytest.raises(gm.ArgumentError, match="at least 2 points"):
        bridge.tangent_pca(gm.Sphere(2), NORTH[None], 1)
    with pytest.raises(gm.ArgumentError, match="n_components ≤ 2"):
        bridge.tangent_pca(gm.Sphere(2), jnp.stack([NORTH] * 5), 3)
    with pytest.raises(gm.ArgumentError, match="n_components to be an integer ≥ 1; got 0"):
        bridge.tangent_pca(gm.Sphere(2), jnp.stack([NORTH] * 5), 0)


@pytest.mark.parametrize(
    ("M", "points"),
    [
        (gm.Sphere(2), jnp.stack([NORTH, -NORTH])),
        (gm.Sphere(2), jnp.concatenate([jnp.eye(3), -jnp.eye(3)])),
    ],
    ids=["antipodes", "octahedron"],
)
def test_points_without_a_mean_are_an_error(M, points, caplog):
    with pytest.raises(gm.ArgumentError, match="frechet_mean found no mean"):
        bridge.frechet_mean(M, points)
    assert not caplog.records


def test_an_unconverged_mean_is_an_error(monkeypatch, caplog):
    monkeypatch.setattr(bridge, "_MEAN_STEPS", 1)
    points = around(gm.Sphere(2), NORTH, 0.8 * jax.random.normal(jax.random.key(10), (6, 2)))
    with pytest.raises(gm.ArgumentError, match="after 1 steps the mean of the logarithms has length"):
        bridge.frechet_mean(gm.Sphere(2), points)
    assert not caplog.records


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "M", [gm.Euclidean(2), gm.Sphere(2), gm.SE2(), gm.ProductManifold(gm.Sphere(2), gm.SO2())], ids=repr
)
def test_geomstats_itself_runs_on_converted_points(M):
    x = jax.tree.map(lambda leaf: leaf[0], draw_points(M, jax.random.key(11)))
    points = around(M, x, 0.1 * jax.random.normal(jax.random.key(12), (6, M.dim)))
    space, p = bridge.to_geomstats(M), bridge.point_to_geomstats(M, points)
    mean = bridge.point_from_geomstats(M, FrechetMean(space).fit(p).estimate_)
    assert gap(mean, bridge.frechet_mean(M, points)) < 1e-2
    assert TangentPCA(space, n_components=1).fit(p).explained_variance_.shape == (1,)


def test_euclidean_of_geomstats_is_ours():
    assert bridge.from_geomstats(Euclidean(4)) == gm.Euclidean(4)
