r"""Poisson and anti-Poisson maps.

Convention: :math:`f: P \to P'` is Poisson if :math:`\{u \circ f, v \circ f\} = \{u, v\}' \circ f`, anti-Poisson with a minus.
"""

from collections.abc import Callable

import jax.numpy as jnp

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Matrix, Point, Scalar
from groupoid_mech.manifolds.calculus import value_and_push_forward
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold

PointMap = Callable[[Point], Point]


def poisson_defect(P: PoissonManifold, P2: PoissonManifold, f: PointMap, x: Point) -> Scalar:
    r"""The size of :math:`T_xf\, \Pi(x)\, T_xf^T - \Pi'(f(x))`: 0 everywhere if :math:`f: P \to P'` is a Poisson map.

    The largest entry, relative to 1 + the largest entry of the two tensors.

    Example:
        >>> from groupoid_mech import CotangentBundle, Euclidean
        >>> from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson
        >>> P = CanonicalPoisson(CotangentBundle(Euclidean(1)))
        >>> turn = lambda x: (x[1], -x[0])
        >>> poisson_defect(P, P, turn, (jnp.ones(1), jnp.zeros(1)))
        Array(0., dtype=float64)
    """
    moved, there = _tensors("poisson_defect", P, P2, f, x)
    return _relative_size(moved - there, moved, there)


def anti_poisson_defect(P: PoissonManifold, P2: PoissonManifold, f: PointMap, x: Point) -> Scalar:
    r"""The size of :math:`T_xf\, \Pi(x)\, T_xf^T + \Pi'(f(x))`: 0 everywhere if :math:`f: P \to P'` is anti-Poisson.

    The largest entry, relative to 1 + the largest entry of the two tensors.

    Example:
        >>> from groupoid_mech import CotangentBundle, Euclidean
        >>> from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson
        >>> P = CanonicalPoisson(CotangentBundle(Euclidean(1)))
        >>> swap = lambda x: (x[1], x[0])
        >>> anti_poisson_defect(P, P, swap, (jnp.ones(1), jnp.zeros(1)))
        Array(0., dtype=float64)
    """
    moved, there = _tensors("anti_poisson_defect", P, P2, f, x)
    return _relative_size(moved + there, moved, there)


def _tensors(owner: str, P: PoissonManifold, P2: PoissonManifold, f: PointMap, x: Point) -> tuple[Matrix, Matrix]:
    require_instances(owner, "P", (P,), PoissonManifold)
    require_instances(owner, "P2", (P2,), PoissonManifold)
    P.check_point(x, owner=owner)
    y, Tf = value_and_push_forward(P.manifold, P2.manifold, f, x)
    return Tf @ P.tensor(x) @ Tf.T, P2.tensor(y)


def _relative_size(difference: Matrix, left: Matrix, right: Matrix) -> Scalar:
    scale = 1 + jnp.maximum(jnp.max(jnp.abs(left), initial=0.0), jnp.max(jnp.abs(right), initial=0.0))
    return jnp.max(jnp.abs(difference), initial=0.0) / scale
