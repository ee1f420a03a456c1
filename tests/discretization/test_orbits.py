"""Orbits of many starts at once, files that know their manifold, and loops that must lie on theirs."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

R2, S2, T2 = gm.Euclidean(2), gm.Sphere(2), gm.Torus(2)
START = jnp.array([0.3, -0.2])
MOMENTA = jnp.array([[1.0, 0.2], [0.5, -0.4], [-0.3, 0.9]])


def kinetic(p):
    return jnp.sum(p * p) / 2


def wave(q):
    return -jnp.sum(jnp.cos(q))


def energy(q, p):
    return kinetic(p) + wave(q)


def method_on(manifold):
    return gm.stormer_verlet(gm.Separable(kinetic, wave), manifold, 0.1)


@pytest.fixture(scope="module")
def single():
    return [method_on(T2).run((START, p), 20, save_every=4) for p in MOMENTA]


@pytest.fixture(scope="module")
def batch():
    method = method_on(T2)
    return jax.jit(jax.vmap(lambda p: method.run((START, p), 20, save_every=4)))(MOMENTA)


def member(orbit, k):
    return jax.tree.map(lambda leaf: leaf[k], orbit)


# ------------------------------------------------------------------------------------ batches


def test_a_batch_has_the_values_of_its_members(batch, single):
    assert len(batch) == 5
    energies = batch.observe(energy)
    assert energies.shape == (3, 6)
    assert batch.times.shape == (3, 6)
    for k, orbit in enumerate(single):
        np.testing.assert_allclose(energies[k], orbit.observe(energy), rtol=1e-14)
        np.testing.assert_array_equal(batch.times[k], orbit.times)
        for got, want in zip(batch.end, orbit.end, strict=True):
            np.testing.assert_allclose(got[k], want, rtol=1e-13)


def test_batches_of_batches_and_of_steps():
    def orbit_and_end(p, dt):
        orbit = method_on(T2).with_step(dt).run((START, p), 6)
        return orbit, orbit.end

    run = jax.jit(jax.vmap(jax.vmap(orbit_and_end, in_axes=(0, None)), in_axes=(None, 0)))
    steps = jnp.array([0.1, 0.2])
    grid, ends = run(MOMENTA, steps)
    assert len(grid) == 6
    assert grid.observe(energy).shape == (2, 3, 7)
    np.testing.assert_allclose(grid.times[:, 2], steps[:, None] * np.arange(7), rtol=1e-15)
    for got, want in zip(grid.end, ends, strict=True):
        np.testing.assert_array_equal(got, want)
    # The same from inside of compiled code, where the points have no values yet.
    inside = jax.jit(lambda orbit: (orbit.end, orbit.times))(grid)
    np.testing.assert_array_equal(inside[0][1], ends[1])
    np.testing.assert_array_equal(inside[1], grid.times)


def test_files_hold_one_member(batch, single, tmp_path):
    with pytest.raises(gm.ArgumentError, match=r"Orbit\.save needs one orbit.*shape \(3,\).*leaf\[k\]"):
        batch.save(tmp_path / "batch.npz")
    member(batch, 1).save(tmp_path / "member.npz")
    again = gm.load_orbit(tmp_path / "member.npz", single[1].space)
    np.testing.assert_allclose(again.points[0], single[1].points[0], rtol=1e-13)


# -------------------------------------------------------------------------------------- files


class Ellipsoid(eqx.Module):
    axes: jax.Array | float

    def __call__(self, x):
        return jnp.sum((x / self.axes) ** 2) - 1


def ellipsoid(*axes):
    return gm.LevelSet(Ellipsoid(jnp.array(axes)), 3, point=jnp.array([axes[0], 0.0, 0.0]))


def still(space, point, steps=3):
    """An orbit that stays where it is."""
    points = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], steps + 1, axis=0), point)
    nothing = jnp.zeros(steps), jnp.zeros(steps, int), jnp.ones(steps, bool), jnp.arange(1, steps + 1)
    return gm.Orbit(space, jnp.asarray(0.1), points, *nothing)


def header_of(path):
    with np.load(path, allow_pickle=False) as file:
        return json.loads(file["header"].tobytes().decode())


def without_the_manifold(path):
    """The file as it was written before files named more than the class."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    header = {name: value for name, value in header_of(path).items() if name != "manifold"}
    np.savez(path, **(arrays | {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}))


def test_files_know_the_manifold_under_the_bundle(single, tmp_path):
    path = tmp_path / "orbit.npz"
    single[0].save(path)
    assert header_of(path)["manifold"] == "DualBundle(base=Torus(dim=2), rank=2, dim=4)"
    with pytest.raises(gm.ArgumentError, match=r"written for, .*Torus\(dim=2\).*got .*Euclidean\(dim=2\)"):
        gm.load_orbit(path, gm.DualBundle(R2, 2))
    assert gm.load_orbit(path, gm.DualBundle(T2, 2)).space == single[0].space


def test_older_files_are_read_by_the_name_of_the_class(single, tmp_path):
    path = tmp_path / "orbit.npz"
    single[0].save(path)
    without_the_manifold(path)
    again = gm.load_orbit(path, single[0].space)
    np.testing.assert_array_equal(again.points[1], single[0].points[1])
    with pytest.raises(gm.ArgumentError, match="written for, DualBundle; got CotangentBundle"):
        gm.load_orbit(path, gm.CotangentBundle(T2))
    with pytest.raises(gm.ArgumentError, match="points of another shape"):
        gm.load_orbit(path, gm.DualBundle(R2, 3))
    still(gm.DualBundle(R2, 2), (START, MOMENTA[0])).save(path)
    without_the_manifold(path)
    with pytest.raises(gm.ArgumentError, match="points of another shape"):
        gm.load_orbit(path, gm.DualBundle(S2, 2))


def test_points_off_the_manifold_are_refused(tmp_path):
    path = tmp_path / "orbit.npz"
    long = ellipsoid(1.0, 0.8, 0.6)
    still(long, long.point, steps=1500).save(path)
    assert "0.8" not in header_of(path)["manifold"]
    assert len(gm.load_orbit(path, ellipsoid(1.0, 0.8, 0.6))) == 1500
    with pytest.raises(gm.ArgumentError, match=r"points on LevelSet.* off by 0\.75.*same parameters"):
        gm.load_orbit(path, ellipsoid(2.0, 0.8, 0.6))


def test_numbers_and_functions_do_not_change_the_name(tmp_path):
    path = tmp_path / "orbit.npz"

    def circle(x):
        return x @ x - 1

    sphere = gm.LevelSet(lambda x: x @ x - 1, 2, point=jnp.array([1.0, 0.0]))
    still(sphere, sphere.point).save(path)
    assert " at 0x" not in header_of(path)["manifold"]
    gm.load_orbit(path, gm.LevelSet(circle, 2, point=jnp.array([0.0, 1.0])))
    number = gm.LevelSet(Ellipsoid(2.0), 2, point=jnp.array([2.0, 0.0]))
    still(number, number.point).save(path)
    gm.load_orbit(path, gm.LevelSet(Ellipsoid(jnp.asarray(2.0)), 2, point=jnp.array([2.0, 0.0])))


def test_steps_that_failed_do_not_keep_a_file_from_being_read(tmp_path):
    orbit = still(S2, jnp.array([0.0, 0.0, 1.0]))
    failed = eqx.tree_at(
        lambda o: (o.points, o.converged),
        orbit,
        (orbit.points.at[2].set(jnp.nan).at[3].set(5.0), jnp.array([True, False, False])),
    )
    failed.save(tmp_path / "failed.npz")
    again = gm.load_orbit(tmp_path / "failed.npz", S2)
    np.testing.assert_array_equal(again.points, failed.points)


# -------------------------------------------------------------------------------------- loops

ANGLE = 2 * np.pi * np.arange(32) / 32
CIRCLE = jnp.stack([np.cos(ANGLE), np.sin(ANGLE), 0 * ANGLE], axis=1)
ONES = jnp.ones((32, 2))


@pytest.mark.parametrize(
    "points",
    [
        (CIRCLE[:30], ONES),
        (CIRCLE, ONES[:30]),
        (CIRCLE[:, :2], ONES),
        (CIRCLE, ONES[None]),
        (CIRCLE, 1.0),
        (CIRCLE, ONES, ONES),
        CIRCLE,
        3,
    ],
)
def test_loops_of_another_form_are_refused(points):
    with pytest.raises(gm.ArgumentError, match=r"as many momenta.*shapes \(n, 3\), \(n, 2\).*got .*jax\.vmap"):
        gm.poincare_invariant(S2, points)


def test_loops_off_the_manifold_are_refused():
    away = CIRCLE + jnp.array([2.0, 0.0, 0.0])
    with pytest.raises(gm.OffManifoldError, match=r"every q on Sphere; one is off by 2 .*project"):
        gm.poincare_invariant(S2, (away, ONES))
    with pytest.raises(gm.ArgumentError, match="finite points"):
        gm.poincare_invariant(S2, (CIRCLE * jnp.nan, ONES))
    tangent = CIRCLE[:, jnp.array([1, 0, 2])] * jnp.array([-1.0, 1.0, 0.0])
    loop = CIRCLE, jax.vmap(S2.from_ambient)(CIRCLE, tangent)
    np.testing.assert_allclose(gm.poincare_invariant(S2, loop), 2 * np.pi, rtol=1e-13)
    # Compiled there is no distance to look at; the value is that of points that are on it.
    np.testing.assert_allclose(jax.jit(lambda x: gm.poincare_invariant(S2, x))(loop), 2 * np.pi, rtol=1e-13)
