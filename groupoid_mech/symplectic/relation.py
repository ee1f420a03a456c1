r"""Linear relations between symplectic vector spaces: graphs, composition, transpose.

Convention: a relation :math:`R \subset Z_1 \times Z_2` is canonical when it is Lagrangian in :math:`Z_1^- \times Z_2`; arrows
compose left to right, ``R.then(S)``. Tangent spaces of Lagrangian submanifolds of a symplectic groupoid are such relations.
"""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import block_diag

from groupoid_mech._arguments import describe, is_concrete
from groupoid_mech._types import Matrix, Scalar
from groupoid_mech.errors import ArgumentError
from groupoid_mech.symplectic.symplectic_space import TOLERANCE, SymplecticSpace


@final
class LinearRelation(eqx.Module):
    r"""The relation :math:`R = \{(x, y)\} \subset Z_1 \times Z_2` spanned by the columns ``(first, second)``.

    .. math:: R;S = \{(x, z) : (x, y) \in R, (y, z) \in S \text{ for some } y\}, \qquad
        R^T = \{(y, x) : (x, y) \in R\} .

    The composition of canonical relations is canonical, transverse or not.

    Args:
        first: The components in :math:`Z_1` of spanning vectors, as columns.
        second: Their components in :math:`Z_2`, as columns.

    Example:
        >>> double = LinearRelation.graph(2 * jnp.eye(1))
        >>> double.then(double).distance(LinearRelation.graph(4 * jnp.eye(1))) < 1e-15
        True
    """

    first: Matrix
    second: Matrix

    def __init__(self, first: Matrix, second: Matrix):
        for name, value in (("first", first), ("second", second)):
            if not is_concrete(value) or np.ndim(value) != 2 or np.shape(value)[1] != np.shape(first)[1]:
                raise ArgumentError(
                    f"LinearRelation needs {name} to be a concrete matrix, with as many columns as the other; "
                    f"got {describe(value)}."
                )
        self.first = jnp.asarray(first)
        self.second = jnp.asarray(second)

    @staticmethod
    def graph(A: Matrix) -> "LinearRelation":
        r"""The graph :math:`\{(x, A x)\}` of a linear map: canonical exactly when A is symplectic."""
        return LinearRelation(jnp.eye(A.shape[1]), A)

    @property
    def dimension(self) -> int:
        """The dimension of the relation as a subspace."""
        return int(_range(self._columns()).shape[1])

    def transpose(self) -> "LinearRelation":
        r"""The relation :math:`R^T` read backwards."""
        return LinearRelation(self.second, self.first)

    def then(self, other: "LinearRelation") -> "LinearRelation":
        r"""The composition :math:`R;S`: first this relation, then the other."""
        if self.second.shape[0] != other.first.shape[0]:
            raise ArgumentError(
                f"LinearRelation.then needs a relation from a space of dimension {self.second.shape[0]}; "
                f"got one from dimension {other.first.shape[0]}."
            )
        mine, yours = _range(self._columns()), _range(other._columns())
        n, m = self.first.shape[0], other.first.shape[0]
        meeting = _null_space(np.concatenate([mine[n:], -yours[:m]], axis=1))
        left, right = meeting[: mine.shape[1]], meeting[mine.shape[1] :]
        spanned = _range(np.concatenate([mine[:n] @ left, yours[m:] @ right]))
        return LinearRelation(spanned[:n], spanned[n:])

    def canonical_defect(self, omega_first: Matrix, omega_second: Matrix) -> Scalar:
        r"""How far the relation is from Lagrangian in :math:`Z_1^- \times Z_2`: 0 for a canonical relation."""
        return SymplecticSpace(block_diag(-omega_first, omega_second)).lagrangian_defect(jnp.asarray(self._columns()))

    def distance(self, other: "LinearRelation") -> float:
        """The gap between the two relations as subspaces: the norm of the difference of their projectors."""
        mine, yours = _range(self._columns()), _range(other._columns())
        if mine.shape[0] != yours.shape[0]:
            raise ArgumentError("LinearRelation.distance needs relations between the same spaces.")
        return float(np.linalg.norm(mine @ mine.T - yours @ yours.T, ord=2))

    def _columns(self) -> Any:
        return np.concatenate([np.asarray(self.first), np.asarray(self.second)])


def _range(V: Any) -> Any:
    U, s, _ = np.linalg.svd(V, full_matrices=False)
    return U[:, s > TOLERANCE * max(s.max(initial=0.0), 1.0)]


def _null_space(A: Any) -> Any:
    _, s, Vt = np.linalg.svd(A, full_matrices=True)
    rank = int(np.sum(s > TOLERANCE * max(s.max(initial=0.0), 1.0)))
    return Vt[rank:].T
