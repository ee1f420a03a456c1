"""Keep the habits of other libraries to themselves: what they do to the root logger, warnings and numpy."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the root logger as it is and silence arithmetic, around calls whose results are then checked."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)

    def silence(record: logging.LogRecord) -> bool:
        return False

    root.addFilter(silence)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            yield
    finally:
        root.removeFilter(silence)
        root.setLevel(level)
        root.handlers[:] = handlers


@contextmanager
def geomstats_importable() -> Iterator[None]:
    """Let geomstats 2.8 be imported, and leave no trace of the help.

    It asks numpy for ``trapz``, gone in numpy 2.4; its backend has an importer of an old kind, at which
    Python warns; and it sets the root logger to INFO.
    """
    missing = not hasattr(np, "trapz")
    if missing:
        setattr(np, "trapz", np.trapezoid)  # noqa: B010 (for linters the name is gone)
    try:
        with quiet():
            warnings.filterwarnings("ignore", "BackendImporter.exec_module", ImportWarning)
            yield
    finally:
        if missing:
            delattr(np, "trapz")
