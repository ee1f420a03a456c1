"""The package as a whole: what importing it does, what it exports, what is shipped."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import groupoid_mech as gm

ROOT = Path(__file__).parent.parent
HEAVY = ("geomstats", "matplotlib", "scipy.stats", "pandas", "sklearn", "hypothesis")


def modules_after(statement: str) -> set[str]:
    """Names in sys.modules after a statement has run in a fresh process."""
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_loads_nothing_heavy():
    loaded = modules_after("import groupoid_mech")
    assert "jax" in loaded
    assert not loaded.intersection(HEAVY)


def test_the_heavy_import_would_be_seen():
    assert "scipy.stats" in modules_after("import scipy.stats")


def test_float64_is_on_after_import():
    assert jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == jnp.float64


def test_all_names_exist_and_are_sorted():
    assert len(set(gm.__all__)) == len(gm.__all__)
    # constant-like names (SO3), classes, functions: the order that ruff keeps
    assert gm.__all__ == sorted(gm.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert not [name for name in gm.__all__ if not hasattr(gm, name)]


def test_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == gm.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)[1] == gm.__version__


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return path.name, archive.namelist()


def test_wheel_has_name_and_version(wheel):
    assert wheel[0] == f"groupoid_mech-{gm.__version__}-py3-none-any.whl"


def test_wheel_ships_the_package_and_its_types_and_nothing_else(wheel):
    names = wheel[1]
    assert "groupoid_mech/py.typed" in names
    package = ROOT / "groupoid_mech"
    sources = {path.relative_to(ROOT).as_posix() for path in package.rglob("*.py")}
    assert sources <= set(names)
    assert {name.split("/")[0] for name in names} == {"groupoid_mech", f"groupoid_mech-{gm.__version__}.dist-info"}
