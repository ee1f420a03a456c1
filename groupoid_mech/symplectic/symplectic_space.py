r"""Linear symplectic algebra: subspaces and their symplectic orthogonals.

Convention: a subspace is a matrix whose columns span it; they may be dependent. A column or a direction counts as zero when its
singular value is below ``TOLERANCE`` times the largest one. MMS Lemma 2.15.
"""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import describe, is_concrete
from groupoid_mech._types import Matrix, Scalar
from groupoid_mech.errors import ArgumentError

TOLERANCE = 1e-10


@final
class SymplecticSpace(eqx.Module):
    r"""A symplectic vector space :math:`(Z, \omega)`, with :math:`\omega(u, v) = u^T \omega v`.

    .. math:: V^\omega = \{z : \omega(v, z) = 0 \text{ for all } v \in V\}, \qquad \dim V + \dim V^\omega = \dim Z .

    Dimensions are read off singular values, so subspaces must be concrete: none of the methods can be traced by JAX. A
    defect is 0 for an isotropic (coisotropic, Lagrangian) subspace and at most 1 if ω is orthogonal.

    Args:
        omega: The matrix of :math:`\omega`, antisymmetric and invertible.

    Example:
        >>> Z = SymplecticSpace(jnp.array([[0.0, 1.0], [-1.0, 0.0]]))
        >>> line = jnp.array([[1.0], [2.0]])
        >>> Z.dimension(line), Z.dimension(Z.orthogonal(line)), float(Z.lagrangian_defect(line)) < 1e-15
        (1, 1, True)
    """

    omega: Matrix

    def __init__(self, omega: Matrix):
        owner = "SymplecticSpace"
        _require_concrete_matrix(owner, "omega", omega)
        form = np.asarray(omega, dtype=float)
        size = np.max(np.abs(form), initial=0.0)
        if form.shape[0] != form.shape[1] or np.max(np.abs(form + form.T), initial=0.0) > TOLERANCE * size:
            raise ArgumentError(f"{owner} needs omega to be antisymmetric and square; got {describe(omega)}: {form}.")
        if _rank(form) < form.shape[0]:
            raise ArgumentError(f"{owner} needs omega to be invertible; its rank is {_rank(form)} of {form.shape[0]}.")
        self.omega = jnp.asarray(form)

    @property
    def dim(self) -> int:
        """The dimension of the space, an even number."""
        return int(self.omega.shape[0])

    def dimension(self, V: Matrix) -> int:
        """The dimension of the subspace: the rank of its columns."""
        return _rank(self._columns("dimension", "V", V))

    def basis(self, V: Matrix) -> Matrix:
        """An orthonormal basis of the subspace, as columns."""
        return jnp.asarray(_range(self._columns("basis", "V", V)))

    def orthogonal(self, V: Matrix) -> Matrix:
        r"""The symplectic orthogonal :math:`V^\omega`, by an orthonormal basis as columns."""
        return jnp.asarray(self._orthogonal(_range(self._columns("orthogonal", "V", V))))

    def sum(self, V: Matrix, W: Matrix) -> Matrix:
        r"""The subspace :math:`V + W`, by an orthonormal basis as columns."""
        return jnp.asarray(_range(self._bases("sum", V, W)))

    def intersection_dimension(self, V: Matrix, W: Matrix) -> int:
        r"""The dimension of :math:`V \cap W`, that is :math:`\dim V + \dim W - \dim(V + W)`."""
        both = self._bases("intersection_dimension", V, W)
        return int(both.shape[1]) - _rank(both)

    def isotropic_defect(self, V: Matrix) -> Scalar:
        r"""The norm of :math:`\omega|_V` on unit vectors: 0 if :math:`V \subset V^\omega`."""
        basis = _range(self._columns("isotropic_defect", "V", V))
        return jnp.asarray(_norm(basis.T @ np.asarray(self.omega) @ basis))

    def coisotropic_defect(self, V: Matrix) -> Scalar:
        r"""The norm of :math:`\omega|_{V^\omega}` on unit vectors: 0 if :math:`V^\omega \subset V`."""
        basis = self._orthogonal(_range(self._columns("coisotropic_defect", "V", V)))
        return jnp.asarray(_norm(basis.T @ np.asarray(self.omega) @ basis))

    def lagrangian_defect(self, V: Matrix) -> Scalar:
        r"""The sine of the largest angle between :math:`V` and :math:`V^\omega`: 0 if they agree, 1 if dimensions differ."""
        basis = _range(self._columns("lagrangian_defect", "V", V))
        other = self._orthogonal(basis)
        return jnp.asarray(_norm(basis @ basis.T - other @ other.T))

    def _orthogonal(self, basis: np.ndarray) -> np.ndarray:
        _, _, rows = np.linalg.svd(basis.T @ np.asarray(self.omega))
        return rows[basis.shape[1] :].T

    def _bases(self, method: str, V: Matrix, W: Matrix) -> np.ndarray:
        return np.hstack([_range(self._columns(method, name, S)) for name, S in (("V", V), ("W", W))])

    def _columns(self, method: str, name: str, V: Any) -> np.ndarray:
        owner = f"SymplecticSpace.{method}"
        _require_concrete_matrix(owner, name, V)
        if V.shape[0] != self.dim:
            raise ArgumentError(f"{owner} needs {name} as columns of length {self.dim}; got {describe(V)}.")
        return np.asarray(V, dtype=float)


def _require_concrete_matrix(owner: str, name: str, V: Any) -> None:
    if not is_concrete(V):
        raise ArgumentError(
            f"{owner} reads dimensions off the values of {name}: call it outside of jit, grad and vmap."
        )
    if not isinstance(V, (np.ndarray, jnp.ndarray)) or V.ndim != 2 or not np.all(np.isfinite(np.asarray(V))):
        raise ArgumentError(f"{owner} needs {name} to be a finite matrix; got {describe(V)}.")


def _rank(A: np.ndarray) -> int:
    values = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(values > TOLERANCE * np.max(values, initial=0.0)))


def _range(A: np.ndarray) -> np.ndarray:
    left, values, _ = np.linalg.svd(A, full_matrices=False)
    return left[:, values > TOLERANCE * np.max(values, initial=0.0)]


def _norm(A: np.ndarray) -> float:
    return float(np.max(np.linalg.svd(A, compute_uv=False), initial=0.0))
