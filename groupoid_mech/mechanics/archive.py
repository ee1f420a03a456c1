"""Files of named arrays with a readable header, in numpy's ``.npz`` form: no code in them, none run when they are read."""

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np

from groupoid_mech.errors import ArgumentError

_FORMAT = "groupoid_mech"
_VERSION = 2
_HEADER = "header"
_LARGEST_FILE = 2**36


def write_archive(path: str | Path, kind: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write arrays and a JSON header to one file; the file appears only when it is complete."""
    path = Path(path)
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "kind": kind, **header})
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            contents: dict[str, Any] = {_HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
            np.savez(file, **contents)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_archive(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a file that `write_archive` wrote; anything else is refused."""
    path = Path(path)
    if not path.is_file():
        raise ArgumentError(f"there is no file {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > _LARGEST_FILE:
            raise ArgumentError(f"{path} would take {size:.3g} bytes; files up to {_LARGEST_FILE:.3g} are read.")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop(_HEADER).tobytes().decode())
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{path} is not a readable file of groupoid_mech: {error}.") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ArgumentError(f"{path} is not a file of groupoid_mech.")
    if header.get("version") != _VERSION or header.get("kind") != kind:
        raise ArgumentError(
            f"{path} holds a {header.get('kind')!r} in version {header.get('version')!r}; needed a {kind!r} in version {_VERSION}."
        )
    return header, arrays


def description(value: Any, *, parameter: bool = False) -> str:
    """A manifold or groupoid in words that stay the same from run to run: classes and fixed sizes, of parameters the shape, of functions nothing."""
    if isinstance(value, eqx.Module):
        fields = [(f.name, getattr(value, f.name), not f.metadata.get("static")) for f in dataclasses.fields(value)]
        inner = ", ".join(f"{name}={description(part, parameter=dynamic)}" for name, part, dynamic in fields)
        return f"{type(value).__name__}({inner})"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(description(part, parameter=parameter) for part in value)})"
    if eqx.is_array_like(value) and (parameter or eqx.is_array(value)):
        return f"array{list(np.shape(value))}"
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)
    return "function" if callable(value) else type(value).__name__
