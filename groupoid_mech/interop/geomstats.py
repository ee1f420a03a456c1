r"""The bridge to geomstats: spaces, points, tangent vectors both ways; distances, Fréchet means, tangent PCA.

Convention: geodesics are those of geomstats, lengths those of our frames, held orthonormal. The distance is

.. math:: |x - y| \text{ on Euclidean, Translations}, \quad \angle(x, y) \text{ on Sphere}, \quad
    \theta \text{ on SO2, SO3}, \quad \sqrt{\theta^2 + |x - y|^2} \text{ on SE2, SE3},

with θ the rotation angle between the two, twice the angle on UnitQuaternions (their frame is that of rotation
vectors), the length of the wrapped difference on Torus, and :math:`\sqrt{\sum d_i^2}` on products. geomstats
differs: there the Frobenius product gives :math:`2\theta^2 + |x - y|^2` on SE(n), PCA has twice our variances
of rotations, and unit quaternions are :math:`S^3`. Heisenberg has points and vectors there, but no geodesics
and so neither distance nor statistics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
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
from groupoid_mech.interop.isolation import geomstats_importable, quiet
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus

with geomstats_importable():
    import geomstats.backend as gs
    from geomstats.geometry import euclidean, heisenberg, hypersphere, product_manifold
    from geomstats.geometry.special_euclidean import SpecialEuclidean
    from geomstats.geometry.special_orthogonal import SpecialOrthogonal
    from geomstats.learning.frechet_mean import FrechetMean

if gs.__name__ != "geomstats.numpy":
    raise ImportError(f"the bridge needs geomstats.numpy, got {gs.__name__}: unset GEOMSTATS_BACKEND.")

_ACCURACY = 1e-9
_MEAN_STEPS = 500
_NEARER = "Take points nearer to each other: within a ball of less than half the injectivity radius."


def _product_space(M: ProductManifold | ProductGroup) -> Any:
    return product_manifold.ProductManifold([to_geomstats(factor) for factor in M.factors])


def _product_of_natives(space: Any) -> Manifold:
    return ProductManifold(*(from_geomstats(factor) for factor in space.factors))


_SPACES: dict[type[Manifold], Callable[[Any], Any]] = {
    Euclidean: lambda M: euclidean.Euclidean(M.dim),
    Translations: lambda M: euclidean.Euclidean(M.dim),
    Sphere: lambda M: hypersphere.Hypersphere(M.dim),
    UnitQuaternions: lambda M: hypersphere.Hypersphere(3),
    Torus: lambda M: product_manifold.ProductManifold([hypersphere.Hypersphere(1)] * M.dim),
    SO2: lambda M: SpecialOrthogonal(2),
    SO3: lambda M: SpecialOrthogonal(3),
    SE2: lambda M: SpecialEuclidean(2),
    SE3: lambda M: SpecialEuclidean(3),
    Heisenberg: lambda M: heisenberg.HeisenbergVectors(),
    ProductManifold: _product_space,
    ProductGroup: _product_space,
}
# By exact type: geomstats derives other spaces from these.
_NATIVES: dict[type, Callable[[Any], Manifold | None]] = {
    euclidean.Euclidean: lambda space: Euclidean(space.dim),
    hypersphere.Hypersphere: lambda space: Sphere(space.dim),
    type(SpecialOrthogonal(2, equip=False)): lambda space: {2: SO2(), 3: SO3()}.get(space.n),
    type(SpecialEuclidean(2, equip=False)): lambda space: {2: SE2(), 3: SE3()}.get(space.n),
    heisenberg.HeisenbergVectors: lambda space: Heisenberg(),
    product_manifold.ProductManifold: _product_of_natives,
}


def to_geomstats(manifold: Manifold) -> Any:
    r"""The geomstats space of a manifold, with geomstats' own metric: SO3 ↦ SpecialOrthogonal(3), and so on.

    Sphere becomes Hypersphere, Translations become Euclidean, UnitQuaternions :math:`S^3`, a Torus a product
    of circles, both kinds of product a geomstats ProductManifold. Points go along by `point_to_geomstats`.

    Example:
        >>> to_geomstats(SE3()).shape
        (4, 4)
    """
    return _space("to_geomstats", manifold)


def _space(owner: str, M: Any) -> Any:
    if type(M) not in _SPACES:
        known = ", ".join(kind.__name__ for kind in _SPACES)
        raise ArgumentError(f"{owner} needs a manifold that geomstats has too: {known}; got {describe(M)}.")
    return _SPACES[type(M)](M)


def from_geomstats(space: Any) -> Manifold:
    r"""The manifold of a geomstats space: SpecialOrthogonal(3) ↦ SO3, Hypersphere(n) ↦ Sphere(n), and so on.

    The metric of the space stays behind.

    Example:
        >>> from geomstats.geometry.hypersphere import Hypersphere
        >>> from_geomstats(Hypersphere(2))
        Sphere(dim=2)
    """
    manifold = _NATIVES.get(type(space), lambda space: None)(space)
    if manifold is None or to_geomstats(manifold).shape != space.shape:
        shape = f" with points of shape {space.shape}" if hasattr(space, "shape") else ""
        raise ArgumentError(
            f"from_geomstats needs Euclidean(n), Hypersphere(n), SpecialOrthogonal(2 or 3), "
            f"SpecialEuclidean(2 or 3), HeisenbergVectors() or a ProductManifold of those, each with the "
            f"kind of points it has by default (extrinsic, matrices); got {describe(space)}{shape}."
        )
    return manifold


def point_to_geomstats(M: Manifold, x: Point) -> np.ndarray:
    r"""The point ``x`` as geomstats writes it.

    .. math:: (R, x) \mapsto \begin{pmatrix}R & x\\ 0 & 1\end{pmatrix} \text{ on } SE(n), \qquad
        \theta \mapsto (\cos\theta, \sin\theta) \text{ on a torus} .

    Tuples of a product are stacked if their arrays have one shape, else flattened and concatenated. Leading
    axes of ``x`` are a batch.

    Example:
        >>> point_to_geomstats(SE2(), SE2().identity())
        array([[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]])
    """
    _space("point_to_geomstats", M)
    return np.array(array_layout.encode_points("point_to_geomstats", M, x))


def point_from_geomstats(M: Manifold, p: np.ndarray) -> Point:
    r"""The point of ``M`` that ``p`` is in geomstats: the inverse of `point_to_geomstats`.

    Example:
        >>> R, x = point_from_geomstats(SE3(), np.eye(4))
        >>> x
        Array([0., 0., 0.], dtype=float64)
    """
    _space("point_from_geomstats", M)
    return array_layout.decode_points("point_from_geomstats", M, p)


def vector_to_geomstats(M: Manifold, x: Point, xi: Vector) -> np.ndarray:
    r"""The tangent vector :math:`\xi^a E_a(x)` as geomstats writes it: :math:`R\hat\omega` on SO(3).

    Leading axes of ``x`` and ``xi`` are a batch and broadcast.

    Example:
        >>> vector_to_geomstats(SO2(), jnp.eye(2), jnp.ones(1))
        array([[ 0., -1.], [ 1.,  0.]])
    """
    _space("vector_to_geomstats", M)
    return np.array(array_layout.encode_vectors("vector_to_geomstats", M, x, xi))


def vector_from_geomstats(M: Manifold, x: Point, v: np.ndarray) -> Vector:
    r"""The frame coordinates at our ``x`` of geomstats' tangent vector ``v``: undoes `vector_to_geomstats`.

    Example:
        >>> vector_from_geomstats(SO2(), jnp.eye(2), np.array([[0.0, -1.0], [1.0, 0.0]]))
        Array([1.], dtype=float64)
    """
    _space("vector_from_geomstats", M)
    return array_layout.decode_vectors("vector_from_geomstats", M, x, v)


def distance(M: Manifold, x: Point, y: Point) -> Scalar:
    r"""The geodesic distance :math:`d(x, y) = |\log_x y|`, in the metric that the head of this module gives.

    Leading axes are a batch and broadcast. Where geomstats' logarithm is wrong, at and next to the cut locus,
    there is a ``CutLocusError``.

    Example:
        >>> R = SO3().exp(jnp.array([0.0, 0.0, 0.5]))
        >>> distance(SO3(), jnp.eye(3), R).round(12)
        Array(0.5, dtype=float64)
    """
    space = _space_with_geodesics("distance", M)
    return jnp.linalg.norm(_logarithm("distance", M, space, x, y), axis=-1)


def frechet_mean(M: Manifold, points: Point) -> Point:
    r"""The Fréchet mean :math:`m`: :math:`\sum_i \log_m x_i = 0`, minimizing :math:`\sum_i d(m, x_i)^2`.

    geomstats descends from the mean of the arrays. The result is returned if the equation holds to 1e-9 and
    else there is an error. In a ball of less than half the injectivity radius the mean is unique.

    Args:
        points: A batch of points: one leading axis.

    Example:
        >>> frechet_mean(Sphere(2), jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).round(9)
        Array([0.57735027, 0.57735027, 0.57735027], dtype=float64)
    """
    return _mean_and_logarithms("frechet_mean", M, points)[0]


@dataclass(frozen=True)
class TangentComponents:
    """Principal directions: the mean, unit vectors there as rows of frame coordinates, their variances."""

    mean: Point
    components: Matrix
    variances: Vector


def tangent_pca(M: Manifold, points: Point, n_components: int) -> TangentComponents:
    r"""The leading eigenvectors of :math:`\frac{1}{n-1}\sum_i \xi_i\xi_i^T`, with :math:`\xi_i = \log_m x_i`.

    The coordinates are those of our frame at the Fréchet mean ``m``, so that variances are in our units (for
    rotations, radians squared). The largest coordinate of each component is positive.

    Args:
        points: A batch of at least two points: one leading axis.
        n_components: How many directions, at most the dimension and the number of points.

    Example:
        >>> points = jnp.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
        >>> result = tangent_pca(Euclidean(2), points, 1)
        >>> result.components.round(9), result.variances.round(9)
        (Array([[0.6, 0.8]], dtype=float64), Array([25.], dtype=float64))
    """
    require_positive_integer("tangent_pca", "n_components", n_components)
    mean, xi = _mean_and_logarithms("tangent_pca", M, points)
    if len(xi) < 2 or n_components > min(xi.shape):
        raise ArgumentError(
            f"tangent_pca needs at least 2 points and n_components ≤ {min(xi.shape)}, the smaller of their "
            f"number and the dimension; got {len(xi)} points and n_components = {n_components}."
        )
    _, singular, rows = jnp.linalg.svd(xi, full_matrices=False)
    rows = rows[:n_components]
    largest = jnp.take_along_axis(rows, jnp.argmax(jnp.abs(rows), axis=1, keepdims=True), axis=1)
    return TangentComponents(mean, rows * jnp.sign(largest), singular[:n_components] ** 2 / (len(xi) - 1))


def _space_with_geodesics(owner: str, M: Manifold) -> Any:
    space = _space(owner, M)
    if _has_heisenberg(M):
        raise ArgumentError(
            f"{owner} needs geodesics, and geomstats has none on the Heisenberg group; got {describe(M)}. "
            f"The mean of exponential coordinates is the group's bi-invariant mean."
        )
    return space


def _has_heisenberg(M: Manifold) -> bool:
    return isinstance(M, Heisenberg) or any(_has_heisenberg(factor) for factor in getattr(M, "factors", ()))


def _mean_and_logarithms(owner: str, M: Manifold, points: Point) -> tuple[Point, Matrix]:
    space = _space_with_geodesics(owner, M)
    axes = array_layout.leading_axes(owner, "points", points, M.point_like())
    if len(axes) != 1 or axes[0] == 0:
        raise ArgumentError(f"{owner} needs one leading axis of at least one point; got leading axes {axes}.")
    p = np.array(array_layout.encode_points(owner, M, points))
    size = max(1.0, float(np.max(np.abs(p))))
    estimator = FrechetMean(space)
    if isinstance(estimator, FrechetMean):  # else it is a closed form, which has no iteration to set
        start = array_layout.encode(M, _nearest_point(M, jnp.mean(p, axis=0)))
        estimator.set(max_iter=_MEAN_STEPS, epsilon=(1e-12 * size) ** 2, init_point=np.array(start))
    try:
        with quiet():
            found = np.real(estimator.fit(p).estimate_)
        mean = _nearest_point(M, jnp.asarray(found).reshape(space.shape))
        xi = _logarithm(owner, M, space, mean, points)
    except ValueError as error:
        raise ArgumentError(f"{owner} found no mean: some point is opposite to it. {_NEARER}") from error
    defect = float(jnp.linalg.norm(jnp.mean(xi, axis=0)))
    if not defect <= _ACCURACY * size:
        steps = f"after {_MEAN_STEPS} steps the mean of the logarithms has length {defect:.3g}"
        raise ArgumentError(f"{owner} found no mean: {steps}. {_NEARER}")
    return mean, xi


@eqx.filter_jit
def _nearest_point(M: Manifold, p: Array) -> Point:
    return M.project(array_layout.decode(M, p))


def _logarithm(owner: str, M: Manifold, space: Any, x: Point, y: Point) -> Array:
    """The frame coordinates at x of geomstats' logarithm of y, checked by its exponential."""
    p, q = (np.array(array_layout.encode_points(owner, M, point)) for point in (x, y))
    try:
        with quiet():
            v = np.real(space.metric.log(q, p))
            back = space.metric.exp(v, p)
    except ValueError as error:
        raise CutLocusError(f"{owner} has no value here: {error}") from error
    gap = np.max(np.abs(back - q) / np.maximum(1.0, np.maximum(np.abs(p), np.abs(q))))
    if not gap <= _ACCURACY:
        raise CutLocusError(
            f"{owner} has no value here: geomstats' logarithm misses the point by {gap:.3g}, for it is on "
            f"the cut locus or next to it. Take a nearer point, or split the arc by a point in between."
        )
    return array_layout.decode_vectors(owner, M, x, v)
