r"""Poisson tensors in components that do not jump with the frame of a base: those of `smooth_components`.

.. math:: \Pi_s = S\,\Pi\,S^T, \qquad S \text{ the matrix of smooth components.}
"""

from functools import singledispatch

import jax
import jax.numpy as jnp

from groupoid_mech._types import Covector, Point, Vector
from groupoid_mech.groups.metric_frame import has_metric_frame
from groupoid_mech.manifolds.smooth_chart import smooth_components
from groupoid_mech.numerics.matrix import matvec
from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold


@singledispatch
def smooth_hamiltonian_vector(poisson: PoissonManifold, x: Point, slope: Covector) -> Vector:
    r"""The smooth components of the vector :math:`\Pi\,\sigma` at ``x``, for a covector σ with components dual to these.

    Open for further structures: ``@smooth_hamiltonian_vector.register`` adds a shorter form of one.

    Args:
        poisson: The Poisson manifold.
        x: A point.
        slope: The covector σ, as from `smooth_derivatives`.

    Example:
        >>> from groupoid_mech import CotangentBundle, Sphere
        >>> poisson, x = CanonicalPoisson(CotangentBundle(Sphere(2))), (jnp.array([0.0, 0.6, 0.8]), jnp.array([0.3, 0.4]))
        >>> smooth_hamiltonian_vector(poisson, x, jnp.array([1.0, 2.0, 3.0, 4.0]))
        Array([ 3.,  4., -1., -2.], dtype=float64)
    """
    return _by_tensor(poisson, x, slope)


@smooth_hamiltonian_vector.register
def _(poisson: CanonicalPoisson, x: Point, slope: Covector) -> Vector:
    # ω = e^a ∧ ∇p_a for a connection without torsion that keeps the pairing.
    Q = poisson.manifold.base
    if not has_metric_frame(Q):
        return _by_tensor(poisson, x, slope)
    return jnp.concatenate([slope[Q.dim :], -slope[: Q.dim]])


def _by_tensor(poisson: PoissonManifold, x: Point, slope: Covector) -> Vector:
    M = poisson.manifold
    _, transpose = jax.vjp(lambda v: smooth_components(M, x, v), jnp.zeros(M.dim))
    (covector,) = transpose(slope)
    return smooth_components(M, x, matvec(poisson.tensor(x), covector))
