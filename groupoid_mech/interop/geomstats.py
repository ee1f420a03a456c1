r"""The bridge to geomstats: spaces, points and tangent vectors both ways; distances, Fréchet means, tangent PCA.

Convention: lengths are those of our frames, taken as orthonormal, and geodesics are those of geomstats. So the distance is

.. math:: |x - y| \text{ on Euclidean, Translations}, \quad \angle(x, y) \text{ on Sphere}, \quad
    \theta \text{ on SO2, SO3}, \quad \sqrt{\theta^2 + |x - y|^2} \text{ on SE2, SE3},

with θ the rotation angle between the two, twice the angle on UnitQuaternions (whose frame is that of rotation vectors), the
length of the wrapped difference on Torus, and :math:`\sqrt{\sum d_i^2}` on products. The metrics of geomstats itself
differ on SE(n), where the Frobenius product gives :math:`2\theta^2 + |x - y|^2`, and on unit quaternions, which it sees as
:math:`S^3`. Heisenberg has no bi-invariant metric: one-parameter subgroups stand for geodesics, as in geomstats, the mean
is the exponential barycentre, and there is no distance.
"""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import describe, require_positive_integer
from groupoid_mech._types import Array, Matrix, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, CutLocusError
from groupoid_mech.groups.heisenberg import Heisenberg
from groupoid_mech.groups.product import ProductGroup
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.groups.se3 import SE3
from groupoid_mech.groups.so2 import SO2
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.groups.translations import Translations
from groupoid_mech.groups.unit_quaternions import UnitQuaternions
from groupoid_mech.interop import array_layout
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the root logger as it is and silence arithmetic: results of geomstats are checked, not warned about."""
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
def _importable() -> Iterator[None]:
    """Let geomstats 2.8 be imported: it asks numpy for ``trapz``, gone in 2.4, and its backend has an importer of an old kind."""
    missing = not hasattr(np, "trapz")
    if missing:
        np.trapz = np.trapezoid  # type: ignore[attr-defined]
    try:
        with _quiet():
            warnings.filterwarnings("ignore", "BackendImporter.exec_module", ImportWarning)
            yield
    finally:
        if missing:
            del np.trapz  # type: ignore[attr-defined]


with _importable():
    import geomstats.backend as gs
    from geomstats.geometry import euclidean, heisenberg, hypersphere, product_manifold
    from geomstats.geometry.special_euclidean import SpecialEuclidean
    from geomstats.geometry.special_orthogonal import SpecialOrthogonal
    from geomstats.learning.frechet_mean import FrechetMean

if gs.__name__ != "geomstats.numpy":
    raise ImportError(f"this bridge needs geomstats with numpy; it runs with {gs.__name__}. Unset GEOMSTATS_BACKEND.")

_ACCURACY = 1e-9
_MEAN_STEPS = 500


@dataclass(frozen=True)
class _Correspondence:
    """A kind of manifold and its geomstats space; ``native`` goes back, if this is the manifold that should come back."""

    kind: type[Manifold]
    space: Callable[[Any], Any]
    native: Callable[[Any], Manifold] | None = None


def _product_space(M: ProductManifold | ProductGroup) -> Any:
    return product_manifold.ProductManifold([to_geomstats(factor) for factor in M.factors])


def _product_of_natives(space: Any) -> Manifold:
    return ProductManifold(*(from_geomstats(factor) for factor in space.factors))


_CORRESPONDENCES = (
    _Correspondence(Euclidean, lambda M: euclidean.Euclidean(M.dim), lambda space: Euclidean(space.dim)),
    _Correspondence(Sphere, lambda M: hypersphere.Hypersphere(M.dim), lambda space: Sphere(space.dim)),
    _Correspondence(SO2, lambda M: SpecialOrthogonal(2), lambda space: SO2()),
    _Correspondence(SO3, lambda M: SpecialOrthogonal(3), lambda space: SO3()),
    _Correspondence(SE2, lambda M: SpecialEuclidean(2), lambda space: SE2()),
    _Correspondence(SE3, lambda M: SpecialEuclidean(3), lambda space: SE3()),
    _Correspondence(Heisenberg, lambda M: heisenberg.HeisenbergVectors(), lambda space: Heisenberg()),
    _Correspondence(ProductManifold, _product_space, _product_of_natives),
    _Correspondence(ProductGroup, _product_space),
    _Correspondence(Translations, lambda M: euclidean.Euclidean(M.dim)),
    _Correspondence(UnitQuaternions, lambda M: hypersphere.Hypersphere(3)),
    _Correspondence(Torus, lambda M: product_manifold.ProductManifold([hypersphere.Hypersphere(1)] * M.dim)),
)
