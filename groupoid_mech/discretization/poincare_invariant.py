r"""The first integral invariant of Poincaré, :math:`\oint p\,dq` around a loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Array, Point, Scalar
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.manifold import Manifold


def poincare_invariant(manifold: Manifold, points: Point) -> Scalar:
    r"""The integral :math:`\oint p\,dq` around a loop in :math:`T^*Q`: a symplectic map does not change it.

    The loop is given by its points at equal steps of a parameter that runs once around; the derivative is that of the trigonometric
    polynomial through them, so that for a smooth loop the error falls faster than any power of their number.

    Args:
        manifold: The manifold Q.
        points: The points ``(q, p)``, stacked, with ``p`` in the frame at ``q``.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> angle = 2 * jnp.pi * jnp.arange(16) / 16
        >>> circle = jnp.cos(angle)[:, None], -jnp.sin(angle)[:, None]
        >>> float(jnp.abs(poincare_invariant(Euclidean(1), circle) - jnp.pi)) < 1e-14
        True
    """
    require_instances("poincare_invariant", "manifold", (manifold,), Manifold)
    count = points[1].shape[0]
    if count < 3 or points[1].shape[1:] != (manifold.dim,):
        raise ArgumentError(
            f"poincare_invariant needs at least 3 points (q, p), stacked, with {manifold.dim} components of p; "
            f"got momenta of shape {points[1].shape}."
        )
    return _invariant(manifold, points)


@eqx.filter_jit
def _invariant(M: Manifold, points: Point) -> Scalar:
    q, p = points
    velocities = jax.tree.map(_spectral_derivative, q)
    rates = jax.vmap(M.from_ambient)(q, velocities)
    return 2 * jnp.pi * jnp.mean(jnp.sum(p * rates, axis=1))


def _spectral_derivative(values: Array) -> Array:
    n = values.shape[0]
    waves = np.fft.fftfreq(n, 1 / n)
    if n % 2 == 0:
        waves[n // 2] = 0  # the highest wave of an even number of points has no derivative there
    shape = (n, *(1,) * (values.ndim - 1))
    return jnp.real(jnp.fft.ifft(1j * waves.reshape(shape) * jnp.fft.fft(values, axis=0), axis=0))
