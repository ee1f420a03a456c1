"""Trajectories: Noether quantities, files without code, xarray."""

import json
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from tests.mechanics.examples import CONTACT_START, PLANE, START, contact, particle


@pytest.fixture(scope="module")
def trajectory():
    return contact().simulate(CONTACT_START, 60, multipliers=jnp.array([0.5]))


def rotation(q):
    return jnp.array([-q[1], q[0]])


def test_noether_pairs_momenta_with_a_section_and_adds_f():
    run = particle().simulate(START, 300)
    q, p = np.asarray(run.base_points), np.asarray(run.momenta)
    expected = q[:, 0] * p[:, 1] - q[:, 1] * p[:, 0]
    values = run.noether(rotation)
    np.testing.assert_allclose(values, expected, atol=1e-15)
    assert float(jnp.max(jnp.abs(values - values[0]))) < 1e-13, "rotations are a symmetry of the well"
    shifted = run.noether(rotation, lambda q: q[0])
    np.testing.assert_allclose(shifted, expected + q[:, 0], atol=1e-15)
    assert float(jnp.ptp(run.noether(lambda q: jnp.array([1.0, 0.0])))) > 0.1, "translations are none"


def test_a_section_of_the_wrong_rank_is_refused():
    with pytest.raises(gm.ArgumentError, match=r"shape \(2,\), the rank"):
        particle().simulate(START, 3).noether(lambda q: jnp.ones(3))


def test_a_file_gives_the_trajectory_back(trajectory, tmp_path):
    path = tmp_path / "run.npz"
    trajectory.save(path)
    again = gm.load(path, contact())
    for name in ("momenta", "multipliers", "residuals", "iterations", "converged", "numbers", "base_points"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trajectory, name))
    np.testing.assert_array_equal(again.arrows[1], trajectory.arrows[1])
    np.testing.assert_array_equal(
        contact().simulate(again.end, 5).momenta, contact().simulate(trajectory.end, 5).momenta
    )
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes().decode())
    assert header["kind"] == "trajectory"
    assert header["system"]["multipliers"] == 1


def test_a_file_for_another_system_is_refused(trajectory, tmp_path):
    path = tmp_path / "run.npz"
    trajectory.save(path)
    with pytest.raises(gm.ArgumentError, match="the system that the file was written for"):
        gm.load(path, particle())


def test_a_file_for_another_manifold_of_the_same_shapes_is_refused(tmp_path):
    """Angles and points of the plane are both two numbers. Files that name the class of the groupoid alone are read as before."""
    path = tmp_path / "run.npz"
    run = particle().simulate(START, 3)
    run.save(path)
    angles = gm.DiscreteSystem(gm.PairGroupoid(gm.Torus(2)), particle().lagrangian)
    with pytest.raises(gm.ArgumentError, match=r"written for, .*Euclidean\(dim=2\).*got .*Torus\(dim=2\)"):
        gm.load(path, angles)

    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays["header"].tobytes().decode())
    del header["system"]["description"]
    np.savez(path, **(arrays | {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}))
    np.testing.assert_array_equal(gm.load(path, particle()).momenta, run.momenta)


def test_broken_and_hostile_files_are_refused(trajectory, tmp_path):
    path = tmp_path / "run.npz"
    trajectory.save(path)
    content = path.read_bytes()
    cases = {
        "cut": content[: len(content) // 2],
        "text": b"not an archive",
        "empty": b"",
    }
    for name, data in cases.items():
        broken = tmp_path / f"{name}.npz"
        broken.write_bytes(data)
        with pytest.raises(gm.ArgumentError, match="not a readable file"):
            gm.load(broken, contact())
    with pytest.raises(gm.ArgumentError, match="no file"):
        gm.load(tmp_path / "absent.npz", contact())
    objects = tmp_path / "objects.npz"
    np.savez(objects, header=np.array([{"format": "groupoid_mech"}], dtype=object))
    with pytest.raises(gm.ArgumentError, match="not a readable file"):
        gm.load(objects, contact())
    foreign = tmp_path / "foreign.npz"
    np.savez(foreign, header=np.frombuffer(b'{"format": "other"}', dtype=np.uint8))
    with pytest.raises(gm.ArgumentError, match="not a file of groupoid_mech"):
        gm.load(foreign, contact())


def test_a_file_with_an_array_of_the_wrong_shape_is_refused(trajectory, tmp_path):
    path = tmp_path / "run.npz"
    trajectory.save(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["momenta.0"] = arrays["momenta.0"][:, :1]
    changed = tmp_path / "changed.npz"
    np.savez(changed, **arrays)
    with pytest.raises(gm.ArgumentError, match=r"momenta\.0 with shape"):
        gm.load(changed, contact())
    assert zipfile.is_zipfile(changed)


def test_rows_that_do_not_match_are_refused(trajectory, tmp_path):
    path = tmp_path / "run.npz"
    trajectory.save(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["residuals.0"] = arrays["residuals.0"][:-1]
    changed = tmp_path / "changed.npz"
    np.savez(changed, **arrays)
    with pytest.raises(gm.ArgumentError, match="rows"):
        gm.load(changed, contact())


def test_xarray_labels_arrows_and_points(trajectory):
    xarray = pytest.importorskip("xarray")
    data = trajectory.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data.sizes["arrow"] == 60
    assert data.sizes["point"] == 61
    np.testing.assert_array_equal(data["momenta"].values, trajectory.momenta)
    assert int(data["point"][0]) == 0


def test_without_xarray_the_error_names_it(trajectory, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    with pytest.raises(gm.ArgumentError, match="pip install xarray"):
        trajectory.to_xarray()


def test_trajectories_have_a_length(trajectory):
    assert len(trajectory) == 60
    assert len(particle().simulate(START, 7)) == 7
    assert PLANE.rank == 2
