r"""Discrete gradients on manifolds. BM §7.2.

.. math:: \langle\bar dH(x, x'), v\rangle = H(x') - H(x), \qquad \bar dH(x, x) = dH(x), \qquad (y, v) = R^{-1}(x, x') .

Convention: :math:`\bar dH(x, x')` is a covector at y. Along a `Displacement` vectors and covectors have smooth components, which on bundles of
tangent vectors do not jump with the frame of the base; `DiscreteGradient.at` has those of the frame. For short v the difference of the two
values is round-off, and its quotient by v is noise; then the rise is the integral of the derivative (`Displacement.difference`).
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
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import (
    has_tangent_fibres,
    smooth_components,
    smooth_coordinates,
    smooth_derivatives,
    smooth_retract,
)
from groupoid_mech.numerics.matrix import dot, matmul, matvec, unit_matrix, weighted_sum


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
        r"""The covector :math:`\bar dH(x, x')` at y, for a displacement with the ends :math:`(x, x') = R(y, v)`, in components dual to those of
        its velocity.
        """

    def at(self, H: Function, y: Point, v: Vector) -> Covector:
        r"""The covector :math:`\bar dH(x, x')` at y, for :math:`(x, x') = R(y, v)`, both in the frame at y and its dual."""
        smooth, transpose = jax.vjp(lambda v: smooth_components(self.map.groupoid.base, y, v), v)
        (covector,) = transpose(self.along(H, Displacement.by(self.map, y, smooth)))
        return covector

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
        return _corrected(smooth_derivatives(self.map.groupoid.base, H, way.point), way.difference(H), way)


@final
class MeanGradient(DiscreteGradient):
    r"""The mean :math:`\int_0^1 d\tilde H(\zeta + s w)\,ds` of the gradient along the chord from x to x' in coordinates at y.

    .. math:: \tilde H(\zeta) = H(\operatorname{retract}(y, \zeta)), \qquad x = \operatorname{retract}(y, \zeta), \quad
        x' = \operatorname{retract}(y, \zeta + w) .

    On :math:`R^n` the method is that of the averaged vector field. The integral is taken by Gauss' quadrature, and the covector is corrected as
    that of Gonzalez is where this is not exact, or where w, as for maps that are not those of the charts, is not v. Symmetric with a
    symmetric map R, and then of order 2.

    Args:
        map: The discretization map R.
        nodes: The number n of points of the quadrature: exact for polynomials of degree 2n in the coordinates.
    """

    map: DiscretizationMap
    nodes: int = eqx.field(static=True, default=4)

    def __check_init__(self) -> None:
        require_positive_integer("MeanGradient", "nodes", self.nodes)

    def along(self, H: Function, way: Displacement) -> Covector:
        M, y = self.map.groupoid.base, way.point
        start, end = (smooth_coordinates(M, y, x) for x in way.ends)
        places, weights = np.polynomial.legendre.leggauss(self.nodes)
        # One after the other: branches stay branches, and the program has one copy.
        slopes = jax.lax.map(
            lambda s: jax.grad(lambda zeta: H(smooth_retract(M, y, zeta)))((1 - s) * start + s * end),
            jnp.asarray((1 + places) / 2),
        )
        return _corrected(weighted_sum(jnp.asarray(weights / 2), slopes), way.difference(H), way)


@final
class ItohAbeGradient(DiscreteGradient):
    r"""The increments :math:`\bar dH_k = (\tilde H(\zeta_k) - \tilde H(\zeta_{k-1}))/w_k` of Itoh and Abe, along the ambient axes at y.

    .. math:: \bar dH = \sum_k \bar dH_k\,\varepsilon^k, \qquad \zeta_k = \zeta_{k-1} + w_k c_k, \qquad w_k = \varepsilon^k(v) ,

    in coordinates at y, with :math:`\zeta_0` those of x. The k-th axis has the projection :math:`c_k` on the tangent space;
    :math:`\varepsilon^k(v)` is the k-th ambient component of v. On :math:`R^n` one coordinate follows the other. On a sphere there is an axis more
    than there are dimensions, but no frame that would have to jump; on TQ and T*Q the axes are taken for q and once more for the vector. The
    last :math:`\zeta_k` are the coordinates of x' for the θ-maps of charts; for other maps the covector is corrected as that of Gonzalez is.
    Of order 1; on a short edge the mean of the derivative takes the place of the quotient.

    Args:
        map: The discretization map R.
    """

    map: DiscretizationMap

    def along(self, H: Function, way: Displacement) -> Covector:
        M, y = self.map.groupoid.base, way.point

        components, edges = _axes(M, y)
        lengths = matvec(components, way.velocity)
        start = smooth_coordinates(M, y, way.ends[0])
        corners = start + matmul(jnp.asarray(np.tri(lengths.size, k=-1)), lengths[:, None] * edges)

        def increment(of_edge: tuple[Vector, Vector, Scalar]) -> Scalar:
            corner, edge, length = of_edge
            return difference_quotient(lambda t: H(smooth_retract(M, y, corner + t * edge)), length)

        # One after the other: branches stay branches, and the program has one copy.
        increments = jax.lax.map(increment, (corners, edges, lengths))
        return _corrected(matvec(components.T, increments), way.difference(H), way)


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


def _corrected(slope: Covector, rise: Scalar, way: Displacement) -> Covector:
    """The covector nearest to ``slope`` whose value on the velocity is the given one, with smooth components for orthonormal ones."""
    v = way.velocity
    size = dot(v, v)
    at_rest = size == 0
    return slope + jnp.where(at_rest, 0.0, (rise - dot(slope, v)) / jnp.where(at_rest, 1.0, size)) * v


def _axes(M: Manifold, y: Point) -> tuple[Matrix, Matrix]:
    """The rows that give the ambient components of coordinates at y, and the coordinates of the projected axes, as rows."""
    if has_tangent_fibres(M):
        components, edges = _axes(M.base, y[0])  # type: ignore[attr-defined]
        return jnp.kron(unit_matrix(2), components), jnp.kron(unit_matrix(2), edges)
    ambient, as_point = ravel_pytree(y)
    components = jax.vmap(lambda e: ravel_pytree(M.to_ambient(y, e))[0], out_axes=1)(unit_matrix(M.dim))
    return components, jax.vmap(lambda axis: M.from_ambient(y, as_point(axis)))(unit_matrix(ambient.size))
