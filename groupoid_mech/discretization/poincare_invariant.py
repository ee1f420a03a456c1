r"""The first integral invariant of Poincaré, :math:`\oint p\,dq` around a loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import describe, is_concrete, is_finite, require_instances, same_structure
from groupoid_mech._types import Array, Point, Scalar
from groupoid_mech.errors import ArgumentError, OffManifoldError
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold


def poincare_invariant(manifold: Manifold, points: Point) -> Scalar:
    r"""The integral :math:`\oint p\,dq` around a loop in :math:`T^*Q`: a symplectic map does not change it.

    The loop is given by its points at equal steps of a parameter that runs once around; the derivative is that of the trigonometric
    polynomial through them, so that for a smooth loop the error falls faster than any power of their number. Loops may wind around: which
    of the angles of a torus stands for a point does not matter, as each is continued to the next by ``local``. For that each point must
    be in the chart of the one before.

    Args:
        manifold: The manifold Q.
        points: The points ``(q, p)``, stacked, with ``q`` on the manifold and ``p`` in the frame at ``q``.

    Example:
        >>> from groupoid_mech import Euclidean, Torus
        >>> angle = 2 * jnp.pi * jnp.arange(16) / 16
        >>> circle = jnp.cos(angle)[:, None], -jnp.sin(angle)[:, None]
        >>> float(jnp.abs(poincare_invariant(Euclidean(1), circle) - jnp.pi)) < 1e-14
        True
        >>> float(jnp.abs(poincare_invariant(Torus(1), (angle[:, None], jnp.ones((16, 1)))) - 2 * jnp.pi)) < 1e-14
        True
    """
    require_instances("poincare_invariant", "manifold", (manifold,), Manifold)
    count = _count(manifold, points)
    value, gap = _invariant(manifold, points)
    if is_concrete(gap) and float(gap) > ON_MANIFOLD:
        raise OffManifoldError(
            f"poincare_invariant needs every q on {type(manifold).__name__}; one is off by {float(gap):.3g} (allowed {ON_MANIFOLD:g}). "
            f"Use jax.vmap(manifold.project)(q) to move them onto the manifold."
        )
    if is_concrete(value) and not is_finite(value):
        raise ArgumentError(
            f"poincare_invariant needs finite points, each in the chart of {manifold} at the one before; got {count} points where that fails. "
            f"Take more points on the loop."
        )
    return value


def _count(M: Manifold, points: Point) -> int:
    """The number of points, if there are enough and their arrays have the shapes of ``(q, p)``."""
    like = M.point_like(), jax.ShapeDtypeStruct((M.dim,), np.dtype(float))
    shapes, single = ([np.shape(leaf) for leaf in jax.tree.leaves(tree)] for tree in (points, like))
    count = max((shape[0] for shape in shapes if shape), default=0)
    if not (same_structure(points, like) and count >= 3 and shapes == [(count, *shape) for shape in single]):
        needed = ", ".join(str(("n", *shape)).replace("'", "") for shape in single)
        raise ArgumentError(
            f"poincare_invariant needs at least 3 points (q, p), stacked, with {M.dim} components of p and as many momenta as points q: "
            f"a tuple of arrays of the shapes {needed} with n ≥ 3; got {describe(points)}. "
            f"Stack the points of one loop along the first axis; for several loops use jax.vmap."
        )
    return count


@eqx.filter_jit
def _invariant(M: Manifold, points: Point) -> tuple[Scalar, Scalar]:
    """The integral, and how far the points are from the manifold."""
    q, p = points
    velocities = jax.tree.map(_spectral_derivative, _continued(M, q))
    rates = jax.vmap(M.from_ambient)(q, velocities)
    return 2 * jnp.pi * jnp.mean(jnp.sum(p * rates, axis=1)), jnp.max(jax.vmap(M.violation)(q))


def _continued(M: Manifold, loop: Point) -> Point:
    """The points of a loop and the first one again at its end, each written near the one before it."""
    first = jax.tree.map(lambda leaf: leaf[0], loop)

    def follow(x: Point, y: Point) -> tuple[Point, Point]:
        moved = M.retract(x, M.local(x, y))
        return moved, moved

    onward = jax.lax.scan(follow, first, jax.tree.map(lambda leaf: jnp.roll(leaf, -1, axis=0), loop))[1]
    return jax.tree.map(lambda start, rest: jnp.concatenate([start[None], rest]), first, onward)


def _spectral_derivative(values: Array) -> Array:
    """The derivative at all points but the last, which repeats the first or, on a loop that winds around, is a period away from it."""
    n = values.shape[0] - 1
    winding = (values[-1] - values[0]) / (2 * jnp.pi)
    waves = np.fft.fftfreq(n, 1 / n)
    if n % 2 == 0:
        waves[n // 2] = 0  # the highest wave of an even number of points has no derivative there
    shape = (n, *(1,) * (values.ndim - 1))
    periodic = values[:-1] - winding * jnp.asarray(2 * np.pi * np.arange(n) / n).reshape(shape)
    return winding + jnp.real(jnp.fft.ifft(1j * waves.reshape(shape) * jnp.fft.fft(periodic, axis=0), axis=0))
