r"""Displacements on a manifold, and differences between their ends that have more digits than the values.

.. math:: (x, x') = R(y, v), \qquad f(x') - f(x) .

Convention: y is a point between the ends, v in smooth components there: on bundles of tangent vectors the part in the base and the covariant
derivative (`smooth_components`), elsewhere in the frame.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from groupoid_mech._types import Array, Point, Scalar, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.manifolds.smooth_chart import frame_components
from groupoid_mech.numerics.matrix import weighted_sum

# A difference that is further off, relative to the values, is no round-off.
_LARGEST_ROUND_OFF = 1e-6
# Shorter edges have no rise at all, and the square of such a length is no number any more.
_NO_LENGTH = 1e-150


class Displacement(NamedTuple):
    r"""Two points x, x' of a manifold, as they are seen from a point between them: :math:`(x, x') = R(y, v)`.

    Args:
        ends: The points ``(x, x')``.
        point: The point y.
        velocity: The velocity v at y, in smooth components.
        part: Pairs of points ``part(s)`` that part with s: the same point twice for s = 0, the ends for s = 1.

    Example:
        >>> from groupoid_mech import Euclidean, theta_map
        >>> way = Displacement.by(theta_map(Euclidean(1), 0.5), jnp.ones(1), jnp.full(1, 1e-9))
        >>> bool(abs(way.difference(lambda x: x[0] ** 2) - 2e-9) < 1e-24)
        True
    """

    ends: Point
    point: Point
    velocity: Vector
    part: Callable[[Scalar], Point]

    @classmethod
    def by(cls, R: DiscretizationMap, y: Point, v: Vector) -> "Displacement":
        r"""The displacement with the ends :math:`R(y, v)`, and the parts :math:`R(y, s v)`; v in smooth components, like `velocity`."""
        in_frame = frame_components(R.groupoid.base, y, v)
        return cls(R.arrow(y, in_frame), y, v, lambda s: R.arrow(y, s * in_frame))

    def reversed(self) -> "Displacement":
        """The displacement from x' to x."""
        x, following = self.ends
        return Displacement((following, x), self.point, -self.velocity, lambda s: self.part(s)[::-1])

    def difference(self, f: Callable[[Point], Array]) -> Array:
        r"""The difference :math:`f(x') - f(x)`, as an integral over the parts where round-off would hide it. Its derivative is that of the two
        values, which has all digits.
        """
        one, between = jnp.asarray(1.0), difference(f, self.ends)
        # Without derivatives in what is closed over, which would be computed and dropped.
        parted, constants = jax.closure_convert(lambda s: difference(f, self.part(s)), one)
        constants = lax.stop_gradient(constants)
        exact = difference_quotient(lambda s: parted(s, *constants), one)
        return between + lax.stop_gradient(exact - between)


def difference(f: Callable[[Point], Array], ends: Point) -> Array:
    """The difference of the two values of a function at a pair of points, the second less the first."""
    x, following = ends
    return f(following) - f(x)


def difference_quotient(f: Callable[[Scalar], Array], length: Scalar) -> Array:
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
