r"""Discrete gradients on manifolds. BM §7.2.

.. math:: \langle\bar dH(x, x'), v\rangle = H(x') - H(x), \qquad \bar dH(x, x) = dH(x), \qquad (y, v) = R^{-1}(x, x') .

Convention: :math:`\bar dH(x, x')` is a covector at y, in the dual frame. For short v the difference of the two values is round-off, and its
quotient by v is noise; then the rise is the integral of the derivative (`Displacement.difference`).
"""

from abc import abstractmethod
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from groupoid_mech._arguments import (
    require_instances,
    require_positive_integer,
)
from groupoid_mech._types import Covector, Function, Matrix, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.displacement import Displacement, difference, difference_quotient
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import (
    has_tangent_fibres,
    smooth_components,
    smooth_coordinates,
    smooth_retract,
)
from groupoid_mech.numerics.matrix import dot, matmul, matvec, unit_matrix


class DiscreteGradient(eqx.Module):
    r"""A discrete gradient of functions on a manifold M, for a discretization map R of M.

    Subclasses give :math:`\bar dH` for a `Displacement`, and are then used by the method `EnergyIntegrator`; `defect` tells how far they are from
    the first property.
    """

    map: eqx.AbstractVar[DiscretizationMap]

    def __check_init__(self) -> None:
        require_instances(type(self).__name__, "map", (self.map,), DiscretizationMap)

    @abstractmethod
    def along(self, H: Function, way: Displacement) -> Covector:
        r"""The covector :math:`\bar dH(x, x')` at y, for a displacement with the ends :math:`(x, x') = R(y, v)`."""

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        r"""The covector :math:`\bar dH(x, x')` at y, for :math:`(x, x') = R(y, v)`."""
        return self.along(H, Displacement.by(self.map, y, v))

    def defect(self, H: Function, y: Point, v: Vector) -> Scalar:
        r"""The number :math:`\langle\bar dH(x, x'), v\rangle - H(x') + H(x)`: 0 for a discrete gradient."""
        return dot(self.at(H, y, v), v) - difference(H, self.map.arrow(y, v))


@final
class GonzalezGradient(DiscreteGradient):
    r"""The midpoint discrete gradient :math:`dH(y) + \frac{H(x') - H(x) - \langle dH(y), v\rangle}{|v|^2}\,v^\flat` of Gonzalez.

    Symmetric with a symmetric map R, and then of order 2. The metric is that in which the frame is orthonormal; on TQ and T*Q that of
    Sasaki, of a vector and its covariant derivative, which does not jump with the frame.

    Args:
        map: The discretization map R.
    """

    map: DiscretizationMap

    def along(self, H: Function, way: Displacement) -> Covector:
        M = self.map.groupoid.base
        return _corrected(M, frame_derivatives(M, H, way.point), way.difference(H), way)


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

    def along(self, H: Function, way: Displacement) -> Covector:
        places, weights = np.polynomial.legendre.leggauss(self.nodes)
        slope = jax.jacfwd(lambda u: difference(H, self.map.arrow(way.point, u)))
        slopes = jax.vmap(lambda s: slope(s * way.velocity))(jnp.asarray((1 + places) / 2))
        mean = matvec(slopes.T, jnp.asarray(weights / 2))
        return _corrected(self.map.groupoid.base, mean, way.difference(H), way)


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

    def along(self, H: Function, way: Displacement) -> Covector:
        M, y = self.map.groupoid.base, way.point

        def coordinates(x: Point) -> Vector:
            return smooth_coordinates(M, y, x)

        components, edges = _axes(M, y)
        lengths = matvec(components, way.difference(coordinates))
        corners = coordinates(way.ends[0]) + matmul(jnp.asarray(np.tri(lengths.size, k=-1)), lengths[:, None] * edges)

        def increment(corner: Vector, edge: Vector, length: Scalar) -> Scalar:
            return difference_quotient(lambda t: H(smooth_retract(M, y, corner + t * edge)), length)

        increments = jax.vmap(increment)(corners, edges, lengths)
        (slope,) = jax.vjp(lambda u: smooth_components(M, y, u), way.velocity)[1](matvec(components.T, increments))
        return _corrected(M, slope, dot(increments, lengths), way)


@final
class AdjointGradient(DiscreteGradient):
    r"""The discrete gradient :math:`\bar dH^*(x, x') = \bar dH(x', x)`, for the adjoint map.

    Args:
        gradient: The discrete gradient.
        map: The adjoint of its map.
    """

    gradient: DiscreteGradient
    map: DiscretizationMap

    def along(self, H: Function, way: Displacement) -> Covector:
        return self.gradient.along(H, way.reversed())


def _corrected(M: Manifold, slope: Covector, rise: Scalar, way: Displacement) -> Covector:
    """The covector nearest to ``slope`` whose value on the velocity is the given one, with smooth components for orthonormal ones."""
    v = way.velocity
    u, transpose = jax.vjp(lambda v: smooth_components(M, way.point, v), v)
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
