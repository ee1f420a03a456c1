r"""Discrete gradients on manifolds. BM §7.2.

.. math:: \langle\bar dH(x, x'), v\rangle = H(x') - H(x), \qquad \bar dH(x, x) = dH(x), \qquad (y, v) = R^{-1}(x, x') .

Convention: :math:`\bar dH(x, x')` is a covector at y, in the dual frame. For short v the difference of the two values is round-off, and its
quotient by v is noise; then the rise is the integral of the derivative, see `_rise`.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree

from groupoid_mech._arguments import (
    require_instances,
    require_positive_integer,
)
from groupoid_mech._types import Array, Covector, Function, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import (
    has_tangent_fibres,
    smooth_components,
    smooth_coordinates,
    smooth_retract,
)
from groupoid_mech.numerics.matrix import dot, matmul, matvec, unit_matrix, weighted_sum

# A difference that is further off, relative to the values, is no round-off.
_LARGEST_ROUND_OFF = 1e-6
# Shorter edges have no rise at all, and the square of such a length is no number any more.
_NO_LENGTH = 1e-150


class DiscreteGradient(eqx.Module):
    r"""A discrete gradient of functions on a manifold M, for a discretization map R of M.

    Subclasses give :math:`\bar dH` as a function of the point and velocity :math:`(y, v) = R^{-1}(x, x')`, and are then used by the method
    `EnergyIntegrator`; `defect` tells how far they are from the first property.
    """

    map: eqx.AbstractVar[DiscretizationMap]

    def __check_init__(self) -> None:
        require_instances(type(self).__name__, "map", (self.map,), DiscretizationMap)

    @abstractmethod
    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        r"""The covector :math:`\bar dH(x, x')` at y, for :math:`(x, x') = R(y, v)`."""

    def defect(self, H: Function, y: Point, v: Vector) -> Scalar:
        r"""The number :math:`\langle\bar dH(x, x'), v\rangle - H(x') + H(x)`: 0 for a discrete gradient."""
        return dot(self.at(H, y, v), v) - _difference(self.map, H, y, v)


@final
class GonzalezGradient(DiscreteGradient):
    r"""The midpoint discrete gradient :math:`dH(y) + \frac{H(x') - H(x) - \langle dH(y), v\rangle}{|v|^2}\,v^\flat` of Gonzalez.

    Symmetric with a symmetric map R, and then of order 2. The metric is that in which the frame is orthonormal; on TQ and T*Q that of
    Sasaki, of a vector and its covariant derivative, which does not jump with the frame.

    Args:
        map: The discretization map R.
    """

    map: DiscretizationMap

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        M = self.map.groupoid.base
        return _corrected(M, frame_derivatives(M, H, y), _rise(self.map, H, y, v), y, v)


@final
class MeanGradient(DiscreteGradient):
    r"""The mean :math:`\int_0^1 dG(s v)\,ds` of the gradient on the way from y to both ends.

    .. math:: G(u) = H(x'_u) - H(x_u), \qquad (x_u, x'_u) = R(y, u) .

    With the θ-maps of the charts it is :math:`\int d\tilde H` along the chord from x to x' in the coordinates at y, and the method is that of the
    averaged vector field. The integral is taken by Gauss' quadrature, and corrected as that of Gonzalez is where this is not exact.
    Symmetric with a symmetric map R, and then of order 2.

    Args:
        map: The discretization map R.
        nodes: The number n of points of the quadrature: exact for polynomials of degree 2n in the coordinates.
    """

    map: DiscretizationMap
    nodes: int = eqx.field(static=True, default=4)

    def __check_init__(self) -> None:
        require_positive_integer("MeanGradient", "nodes", self.nodes)

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        places, weights = np.polynomial.legendre.leggauss(self.nodes)
        slope = jax.jacfwd(lambda u: _difference(self.map, H, y, u))
        slopes = jax.vmap(lambda s: slope(s * v))(jnp.asarray((1 + places) / 2))
        mean = matvec(slopes.T, jnp.asarray(weights / 2))
        return _corrected(self.map.groupoid.base, mean, _rise(self.map, H, y, v), y, v)


@final
class ItohAbeGradient(DiscreteGradient):
    r"""The increments :math:`\bar dH_k = (\tilde H(\zeta_k) - \tilde H(\zeta_{k-1}))/w_k` of Itoh and Abe, along the ambient axes at y.

    .. math:: \bar dH = \sum_k \bar dH_k\,\varepsilon^k, \qquad \zeta_k = \zeta_{k-1} + w_k c_k, \qquad w_k = \varepsilon^k(w) ,

    in coordinates at y, with :math:`\zeta_0` those of x, and w the way from there to those of x'. The k-th axis has the projection
    :math:`c_k` on the tangent space; :math:`\varepsilon^k(w)` is the k-th ambient component of w. On :math:`R^n` one coordinate follows the
    other. On a sphere there is an axis more than there are dimensions, but no frame that would have to jump; on TQ and T*Q the axes are
    taken for q and once more for the vector. For the θ-maps of the charts of other manifolds w = v; else the covector is corrected as
    that of Gonzalez is. Of order 1; on a short edge the mean of the derivative takes the place of the quotient.

    Args:
        map: The discretization map R.
    """

    map: DiscretizationMap

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        M = self.map.groupoid.base

        def coordinates(u: Vector) -> Matrix:
            # One copy of the chart in the program for both ends.
            ends = jax.tree.map(lambda *leaves: jnp.stack(leaves), *self.map.arrow(y, u))
            return jax.vmap(lambda end: smooth_coordinates(M, y, end))(ends)

        def displacement(s: Scalar) -> Vector:
            first, last = coordinates(s * lax.stop_gradient(v))
            return last - first

        first, last = coordinates(v)
        components, edges = _axes(M, y)
        lengths = matvec(components, _with_more_digits(last - first, displacement))
        corners = first + matmul(jnp.asarray(np.tri(lengths.size, k=-1)), lengths[:, None] * edges)

        def increment(corner: Vector, edge: Vector, length: Scalar) -> Scalar:
            return _quotient(lambda t: H(smooth_retract(M, y, corner + t * edge)), length)

        increments = jax.vmap(increment)(corners, edges, lengths)
        (slope,) = jax.vjp(lambda u: smooth_components(M, y, u), v)[1](matvec(components.T, increments))
        return _corrected(M, slope, dot(increments, lengths), y, v)


@final
class AdjointGradient(DiscreteGradient):
    r"""The discrete gradient :math:`\bar dH^*(x, x') = \bar dH(x', x)`, for the adjoint map.

    Args:
        gradient: The discrete gradient.
        map: The adjoint of its map.
    """

    gradient: DiscreteGradient
    map: DiscretizationMap

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        return self.gradient.at(H, y, -v)


def _difference(R: DiscretizationMap, H: Function, y: Point, v: Vector) -> Scalar:
    r"""The difference :math:`H(x') - H(x)`, :math:`(x, x') = R(y, v)`, of two values."""
    x, following = R.arrow(y, v)
    return H(following) - H(x)


def _rise(R: DiscretizationMap, H: Function, y: Point, v: Vector) -> Scalar:
    r"""The same to more digits, as :math:`G(1) - G(0)`, :math:`G(s) = H(x'_s) - H(x_s)`, :math:`(x_s, x'_s) = R(y, s v)`."""
    y_fixed, v_fixed = lax.stop_gradient((y, v))
    return _with_more_digits(_difference(R, H, y, v), lambda s: _difference(R, H, y_fixed, s * v_fixed))


def _with_more_digits(difference: Array, f: Callable[[Scalar], Array]) -> Array:
    """The difference f(1) − f(0), given by values, with the digits that they do not have. Its derivative is that of the values, which has all."""
    return difference + lax.stop_gradient(_quotient(f, jnp.asarray(1.0)) - difference)


def _quotient(f: Callable[[Scalar], Array], length: Scalar) -> Array:
    r"""The quotient :math:`(f(l) - f(0))/l` or, where round-off makes it the less exact, the mean of f' by Lobatto's quadrature with five points.

    The error of the mean is far less than its distance to that by Simpson's rule, on three of the points. If the quotient is further
    away than that, it is round-off that takes it there, unless it is much further: then f jumps, as charts do. So no size of round-off has to be
    known: that of H is hidden in its terms.
    """
    values, slopes = lax.map(lambda t: jax.jvp(f, (t,), (jnp.ones(()),)), length * jnp.asarray(_PLACES))
    mean, rough = (weighted_sum(jnp.asarray(weights), slopes) for weights in (_LOBATTO, _SIMPSON))
    rise = values[-1] - values[0]
    off, size = jnp.abs(rise - length * mean), 1 + jnp.max(jnp.abs(values), axis=0)
    noisy = (off >= jnp.abs(length * (mean - rough))) & (off <= _LARGEST_ROUND_OFF * size)
    # Not by ``where(noisy, 1.0, length)``: a compiler may compute the comparison once for either use and round differently, and near a tie the
    # answers differ. Then the rise was divided by 1: one step in some hundreds of optimized programs.
    return jnp.where(noisy, mean, rise / jnp.where(jnp.abs(length) < _NO_LENGTH, 1.0, length))


_PLACES = (1 + np.array([-1, -np.sqrt(3 / 7), 0, np.sqrt(3 / 7), 1])) / 2
_LOBATTO = np.array([9, 49, 64, 49, 9]) / 180
_SIMPSON = np.array([1, 0, 4, 0, 1]) / 6


def _corrected(M: Manifold, slope: Covector, rise: Scalar, y: Point, v: Vector) -> Covector:
    """The covector nearest to ``slope`` whose value on v is the given one, with smooth components for orthonormal ones."""
    u, transpose = jax.vjp(lambda v: smooth_components(M, y, v), v)
    (lowered,), size = transpose(u), dot(u, u)
    at_rest = size == 0
    return slope + jnp.where(at_rest, 0.0, (rise - dot(slope, v)) / jnp.where(at_rest, 1.0, size)) * lowered


def _axes(M: Manifold, y: Point) -> tuple[Matrix, Matrix]:
    """The rows that give the ambient components of coordinates at y, and the coordinates of the projected axes, as rows."""
    if has_tangent_fibres(M):
        components, edges = _axes(M.base, y[0])  # type: ignore[attr-defined]
        return jnp.kron(unit_matrix(2), components), jnp.kron(unit_matrix(2), edges)
    ambient, as_point = ravel_pytree(y)
    components = jax.vmap(lambda e: ravel_pytree(M.to_ambient(y, e))[0], out_axes=1)(unit_matrix(M.dim))
    return components, jax.vmap(lambda axis: M.from_ambient(y, as_point(axis)))(unit_matrix(ambient.size))
