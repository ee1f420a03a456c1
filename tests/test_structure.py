"""The architecture as tests: abstract or final, nothing concrete overridden, layers, imports kept at the edge.

Each check is a function that returns findings, is run on the package, and rejects a broken control.
"""

import abc
import ast
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import equinox as eqx
import pytest

import groupoid_mech

PACKAGE = "groupoid_mech"
ROOT = Path(groupoid_mech.__file__).parent

# A layer imports only from layers to its left; members of one layer do not import each other,
# except in the foundation.
FOUNDATION = ("errors", "numerics")
LAYERS: tuple[tuple[str, ...], ...] = (
    FOUNDATION,
    ("manifolds",),
    ("groups",),
    ("groupoids",),
    ("algebroids",),
    ("symplectic",),
    ("mechanics",),
    ("discretization", "dirac", "inverse"),
    ("systems",),
)
OUTER_RING = ("laws", "strategies", "interop", "plotting", "cli")


# --------------------------------------------------------------------------------------- classes


def package_modules() -> Iterator[ModuleType]:
    yield groupoid_mech
    for info in pkgutil.walk_packages([str(ROOT)], prefix=f"{PACKAGE}."):
        if info.name.rpartition(".")[2] != "__main__":
            yield importlib.import_module(info.name)


def module_classes(modules: Iterable[ModuleType]) -> list[type]:
    """Every class deriving from equinox.Module that is defined in the given modules."""
    return sorted(
        {
            value
            for module in modules
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, eqx.Module) and value.__module__ == module.__name__
        },
        key=lambda cls: (cls.__module__, cls.__qualname__),
    )


def is_abstract(cls: type) -> bool:
    leftovers = ("__abstractmethods__", "__abstractvars__", "__abstractclassvars__")
    return any(getattr(cls, name, ()) for name in leftovers) or abc.ABC in cls.__bases__


def is_final(cls: type) -> bool:
    return vars(cls).get("__final__") is True


def own_names(cls: type) -> set[str]:
    """Methods, properties and fields that the class itself defines; dunders are left out."""
    names = {name for name, value in vars(cls).items() if is_method(value)}
    names |= set(inspect.get_annotations(cls))
    return {name for name in names if not (name.startswith("__") and name.endswith("__"))}


def is_method(value: object) -> bool:
    return callable(value) or isinstance(value, (property, classmethod, staticmethod))


def concrete_owner(cls: type, name: str) -> type | None:
    """The nearest base that defines a method of this name, if it is concrete there."""
    for base in cls.__mro__[1:]:
        if not (issubclass(base, eqx.Module) and base is not eqx.Module):
            continue
        if name in vars(base) and is_method(vars(base)[name]):
            return None if getattr(vars(base)[name], "__isabstractmethod__", False) else base
    return None


def class_findings(classes: Iterable[type]) -> list[str]:
    findings = []
    for cls in classes:
        label = f"{cls.__module__}.{cls.__qualname__}"
        if is_abstract(cls) and is_final(cls):
            findings.append(f"{label} is both abstract and final")
        if not is_abstract(cls) and not is_final(cls):
            findings.append(f"{label} is neither abstract nor decorated with typing.final")
        findings += [f"{label} derives from the final {base.__name__}" for base in cls.__bases__ if is_final(base)]
        for name in sorted(own_names(cls)):
            owner = concrete_owner(cls, name)
            if owner is not None:
                findings.append(f"{label}.{name} overrides the concrete {owner.__name__}.{name}")
    return findings


def test_every_module_class_is_abstract_or_final_and_overrides_nothing_concrete():
    classes = module_classes(package_modules())
    assert classes, "no equinox.Module found: the walk is broken"
    assert not class_findings(classes)


class _Abstract(eqx.Module):
    @abc.abstractmethod
    def volume(self) -> float: ...

    @property
    def label(self) -> str:
        return "shape"

    def describe(self) -> str:
        return f"{self.label} {self.volume()}"


class _NeitherAbstractNorFinal(_Abstract):
    def volume(self) -> float:
        return 1.0


@typing.final
class _OverridesMethod(_Abstract):
    def volume(self) -> float:
        return 1.0

    def describe(self) -> str:
        return "mine"


@typing.final
class _OverridesPropertyByField(_Abstract):
    label: str = "mine"

    def volume(self) -> float:
        return 1.0


class _DerivesFromFinal(_OverridesMethod):
    @abc.abstractmethod
    def area(self) -> float: ...


@typing.final
class _FinalButAbstract(_Abstract):
    pass


@typing.final
class _Right(_Abstract):
    radius: float

    def __check_init__(self) -> None:
        if self.radius < 0:
            raise ValueError("radius must not be negative")

    def volume(self) -> float:
        return self.radius


@pytest.mark.parametrize(
    ("cls", "finding"),
    [
        (_NeitherAbstractNorFinal, "neither abstract nor decorated"),
        (_OverridesMethod, "describe overrides the concrete _Abstract.describe"),
        (_OverridesPropertyByField, "label overrides the concrete _Abstract.label"),
        (_DerivesFromFinal, "derives from the final _OverridesMethod"),
        (_FinalButAbstract, "both abstract and final"),
    ],
)
def test_a_wrong_class_is_found(cls, finding):
    assert any(finding in found for found in class_findings([cls]))


def test_right_classes_pass():
    assert not class_findings([_Abstract, _Right])


# ---------------------------------------------------------------------------------------- imports


def imported_names(source: str, module: str, is_package: bool) -> list[tuple[int, str]]:
    """(line, dotted name) of every import in the source, relative ones resolved.

    ``from a import b`` gives ``a.b``: whether b is a module or an attribute does not matter to the checks.
    """
    parts = module.split(".")
    package = parts if is_package else parts[:-1]
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*start, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{origin}.{alias.name}") for alias in node.names]
    return found


def component(name: str) -> str | None:
    """The part of the package that a dotted name belongs to: "manifolds", "" for its root, None if outside."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    return parts[1] if len(parts) > 1 else ""


def rank(part: str) -> int | None:
    """The position of a part in the order of layers; None if the order does not know it."""
    if part.startswith("_"):
        return 0
    if part in OUTER_RING:
        return len(LAYERS)
    return next((place for place, layer in enumerate(LAYERS) if part in layer), None)


def layer_findings(source: str, module: str, is_package: bool = False) -> list[str]:
    here = component(module)
    if not here:
        return []  # the root gathers the public names of all layers
    if rank(here) is None:
        return [f"{module}: {here!r} has no place in the order of layers"]
    findings = []
    for line, name in imported_names(source, module, is_package):
        there = component(name)
        if there is None or there == here:
            continue
        target, own = rank(there), rank(here)
        if target is None:
            findings.append(f"{module}:{line}: imports {name}, which has no place in the order of layers")
        elif not (target < own or target == own in (0, len(LAYERS))):
            findings.append(f"{module}:{line}: {here} may not import {there} ({name})")
    return findings


def edge_findings(source: str, module: str, is_package: bool = False) -> list[str]:
    """Libraries that stay at the edge, and ways to run code out of data."""
    allowed = {"geomstats": f"{PACKAGE}.interop.geomstats", "hypothesis": f"{PACKAGE}.strategies"}
    findings = []
    for line, name in imported_names(source, module, is_package):
        top = name.split(".")[0]
        home = allowed.get(top)
        if home is not None and module != home and not module.startswith(f"{home}."):
            findings.append(f"{module}:{line}: {top} is imported outside {home}")
        if top in {"pickle", "cloudpickle", "dill", "shelve", "marshal"} or name.endswith(".sympify"):
            findings.append(f"{module}:{line}: imports {name}")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if called == "sympify" or (isinstance(node.func, ast.Name) and called in {"eval", "exec"}):
                findings.append(f"{module}:{node.lineno}: calls {called}")
            for keyword in node.keywords:
                constant = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if keyword.arg == "allow_pickle" and constant is not False:
                    findings.append(f"{module}:{node.lineno}: allow_pickle is not False")
    return findings


def package_sources() -> Iterator[tuple[str, str, bool]]:
    for path in sorted(ROOT.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        yield path.read_text(encoding="utf-8"), ".".join(parts[:-1] if is_package else parts), is_package


def test_layers_import_only_to_their_left():
    assert not [finding for source in package_sources() for finding in layer_findings(*source)]


def test_edge_libraries_stay_at_the_edge():
    assert not [finding for source in package_sources() for finding in edge_findings(*source)]


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from groupoid_mech.groups import SO3", "groupoid_mech.manifolds.sphere"),
        ("import groupoid_mech.groups.so3 as so3", "groupoid_mech.manifolds.sphere"),
        ("from ..groups import SO3", "groupoid_mech.manifolds.sphere"),
        ("from .. import groups", "groupoid_mech.manifolds.sphere"),
        ("def f():\n    from groupoid_mech import SO3", "groupoid_mech.manifolds.sphere"),
        ("import groupoid_mech as gm", "groupoid_mech.laws.groups"),
        ("from groupoid_mech.laws import verify", "groupoid_mech.systems.heavy_top"),
        ("from groupoid_mech.dirac import fibre", "groupoid_mech.inverse.helmholtz"),
        ("from groupoid_mech.manifolds import Sphere", "groupoid_mech.numerics.newton"),
        ("from groupoid_mech.misc import thing", "groupoid_mech.groups.so3"),
        ("import jax", "groupoid_mech.misc.thing"),
    ],
)
def test_a_wrong_layer_import_is_found(source, module):
    assert layer_findings(source, module)


@pytest.mark.parametrize(
    ("source", "module", "is_package"),
    [
        ("from groupoid_mech.manifolds import Sphere\nfrom .so2 import SO2", "groupoid_mech.groups.so3", False),
        ("from ..errors import CutLocusError", "groupoid_mech.manifolds.sphere", False),
        ("from .sphere import Sphere", "groupoid_mech.manifolds", True),
        ("from .manifolds import Sphere\nfrom .laws import verify", "groupoid_mech", True),
        ("from groupoid_mech import errors", "groupoid_mech.numerics.newton", False),
        ("from groupoid_mech.systems import heavy_top\nimport numpy", "groupoid_mech.laws.registry", False),
        ("from groupoid_mech.strategies import points", "groupoid_mech.laws.verify", False),
    ],
)
def test_right_layer_imports_pass(source, module, is_package):
    assert not layer_findings(source, module, is_package)


@pytest.mark.parametrize(
    "source",
    [
        "import geomstats.backend as gs",
        "def f():\n    from geomstats.geometry.hypersphere import Hypersphere",
        "from hypothesis import given",
        "import pickle",
        "from sympy import sympify",
        "import sympy\nsympy.sympify('x')",
        "value = eval('1 + 1')",
        "exec('x = 1')",
        "import numpy as np\nnp.load('x.npz', allow_pickle=True)",
    ],
)
def test_a_wrong_edge_import_is_found(source):
    assert edge_findings(source, "groupoid_mech.manifolds.sphere")


def test_right_edge_imports_pass():
    assert not edge_findings("import geomstats", "groupoid_mech.interop.geomstats")
    assert not edge_findings("from hypothesis import given", "groupoid_mech.strategies")
    assert not edge_findings("np.load('x.npz', allow_pickle=False)", "groupoid_mech.mechanics.trajectory")
