"""Sphinx: Markdown pages whose code cells are executed in the build."""

import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import jupyter_client
from traitlets import default

import groupoid_mech

project = "groupoid_mech"
author = "The groupoid_mech authors"
copyright = "The groupoid_mech authors"
version = release = groupoid_mech.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    # Sets mathjax_path to a copy inside the built pages.
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "jupyter_execute"]

# Pages. Every cell runs in every build; an exception or anything on stderr fails it.
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_output_stderr = "error"

# Cells run once: code that is quick to make takes a quarter off the build. Unknown flags would end JAX: ask first.
_flags = (
    os.environ.get("XLA_FLAGS", "")
    + " --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
_probe = [sys.executable, "-c", "import jax; jax.numpy.zeros(1)"]
if subprocess.run(_probe, env={**os.environ, "XLA_FLAGS": _flags}, capture_output=True).returncode == 0:
    os.environ["XLA_FLAGS"] = _flags
# The kernels fill all cores already; nobody reads where in the source an operation comes from.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")
os.environ.setdefault("JAX_INCLUDE_FULL_TRACEBACKS_IN_LOCATIONS", "false")

# A cell that shows an error shows its message, without the traceback.
os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
_profile = Path(os.environ["IPYTHONDIR"], "profile_default")
_profile.mkdir()
# Tracing makes many objects that live long: looking for cycles among them less often saves time.
_CONFIG = """
config = get_config()
config.InteractiveShell.xmode = "Minimal"
config.InteractiveShellApp.exec_lines = ["import gc", "gc.set_threshold(200_000, 50, 1000)"]
"""
(_profile / "ipython_config.py").write_text(_CONFIG, encoding="utf-8")


class KernelByFiles(jupyter_client.AsyncKernelManager):
    """Talks to its kernel through files: a port is only known to be free before the kernel takes it, and pages that run side by side have
    been given the same one. The name of such a file may have some hundred characters, so the folder has a short name.
    """

    folder = tempfile.TemporaryDirectory(prefix="kernels", dir="/tmp" if os.name == "posix" else None)

    @default("transport")
    def _files(self):
        return "ipc"

    @default("ip")
    def _names(self):
        return f"{self.folder.name}/{uuid.uuid4().hex}"


if os.name == "posix":
    jupyter_client.AsyncKernelManager = KernelByFiles

# Reference. A method is documented once, on the abstract class.
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
add_module_names = False

# Output. Nothing is loaded from elsewhere.
html_theme = "furo"
html_title = "groupoid_mech"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_copy_source = False
html_show_sphinx = False


def setup(app):
    # Pages are read, and their cells run, on all cores: this extension, which only copies files at the end, does not say that it allows it.
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
