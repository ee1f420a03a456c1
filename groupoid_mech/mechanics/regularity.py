r"""Regularity of a discrete system: ranks and kernels of both Legendre transformations, and the Morse condition of its family.

At a point of :math:`\Sigma_L`, the kernel of :math:`TF^-` consists of the changes (e, s) of the arrow :math:`g\,c(q', e)` and of the
auxiliary variables that keep :math:`F^-` and :math:`\partial_s L`; that of :math:`TF^+` of changes of :math:`c(q, b)^{-1} g` that keep
:math:`F^+`. MMS Theorem 2.16 says that both have the same dimension, Corollary 3.4 that one transformation is a local
diffeomorphism exactly when the other is.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._types import Matrix, Point, Vector
from groupoid_mech.mechanics.step import variation
from groupoid_mech.numerics.quick_jit import quick_jit

if TYPE_CHECKING:
    from groupoid_mech.mechanics.system import DiscreteSystem

# Below this part of the largest singular value, a smaller one counts as zero.
RANK_TOLERANCE = 1e-11
# Below this part of it, one is a rounded zero: for what has a value as long as it can be computed.
ROUNDED_ZERO = 1e-15


@final
@dataclass(frozen=True)
class Regularity:
    r"""What the two Legendre transformations and the family do at one point.

    Args:
        minus: The Jacobian of :math:`(F^-, \partial_sL)` in the changes (e, s) of :math:`g\,c(q', e)`.
        plus: The Jacobian of :math:`(F^+, \partial_sL)` in the changes (b, s) of :math:`c(q, b)^{-1} g`.
        morse: The derivative of :math:`\partial_s L` in all directions of :math:`G \times R^k`: the family is Morse, and the
            constraints are independent, where it has full rank.
        rank: The rank of the algebroid: how many of the columns are those of the arrow.
    """

    minus: np.ndarray
    plus: np.ndarray
    morse: np.ndarray
    rank: int

    @property
    def finite(self) -> bool:
        """Whether all derivatives are finite."""
        return bool(
            np.all(np.isfinite(self.minus)) and np.all(np.isfinite(self.plus)) and np.all(np.isfinite(self.morse))
        )

    @property
    def kernel_minus(self) -> np.ndarray:
        r"""An orthonormal basis of :math:`\ker TF^-`, as columns."""
        return null_space(self.minus)

    @property
    def kernel_plus(self) -> np.ndarray:
        r"""An orthonormal basis of :math:`\ker TF^+`, as columns."""
        return null_space(self.plus)

    @property
    def rank_minus(self) -> int:
        r"""The rank of :math:`TF^-` on the fibre, at most the number of unknowns."""
        return int(self.minus.shape[1] - self.kernel_minus.shape[1])

    @property
    def rank_plus(self) -> int:
        r"""The rank of :math:`TF^+` on the fibre."""
        return int(self.plus.shape[1] - self.kernel_plus.shape[1])

    @property
    def condition_minus(self) -> float:
        r"""The condition number of the equations of a step forwards."""
        return float(np.linalg.cond(self.minus))

    @property
    def condition_plus(self) -> float:
        r"""The condition number of the equations of a step backwards."""
        return float(np.linalg.cond(self.plus))

    @property
    def condition(self) -> float:
        """The condition number of the equations of a step forwards."""
        return self.condition_minus

    @property
    def singular(self) -> bool:
        """Whether the Legendre transformations lose rank."""
        return self.kernel_minus.shape[1] > 0

    @property
    def regular(self) -> bool:
        """Whether both Legendre transformations are local diffeomorphisms here."""
        return not self.singular and self.kernel_plus.shape[1] == 0

    @property
    def dependent(self) -> bool:
        """Whether the constraints are dependent, or the family is not Morse."""
        return null_space(self.morse.T).shape[1] > 0

    @property
    def degeneracy(self) -> str:
        """The directions that the Legendre transformation does not see, in words."""
        kernel = self.kernel_minus
        return _directions(kernel, [*(f"a{i + 1}" for i in range(self.rank)), *_auxiliary_names(kernel, self.rank)])

    @property
    def dependence(self) -> str:
        """The combinations of constraints whose differentials vanish, in words."""
        combinations = null_space(self.morse.T)
        return _directions(combinations, [f"dφ{i + 1}" for i in range(combinations.shape[0])])

    def __str__(self) -> str:
        unknowns = self.minus.shape[1]
        lines = [
            f"F⁻: rank {self.rank_minus} of {unknowns}, condition {self.condition_minus:.3g}",
            f"F⁺: rank {self.rank_plus} of {unknowns}, condition {self.condition_plus:.3g}",
        ]
        if self.morse.shape[0]:
            rank = self.morse.shape[0] - null_space(self.morse.T).shape[1]
            lines.append(f"∂L/∂s: rank {rank} of {self.morse.shape[0]}")
        lines.append("regular" if self.regular else f"singular along {self.degeneracy}")
        return "\n".join(lines)


def regularity(system: "DiscreteSystem", g: Point, s: Vector | None = None) -> Regularity:
    r"""Ranks, condition numbers and kernels of both Legendre transformations at an arrow; MMS Theorem 2.16, Corollary 3.4.

    Args:
        system: The discrete system.
        g: The arrow.
        s: The auxiliary variables and multipliers; zero if not given.

    Example:
        >>> from groupoid_mech import DiscreteSystem, Euclidean, PairGroupoid
        >>> half = DiscreteSystem(PairGroupoid(Euclidean(2)), lambda g: (g[1][0] - g[0][0]) ** 2)
        >>> print(regularity(half, (jnp.zeros(2), jnp.ones(2))))
        F⁻: rank 1 of 2, condition inf
        F⁺: rank 1 of 2, condition inf
        singular along a2
    """
    g, a, s = system._arguments("regularity", g, s)
    return _report(system, g, a, s)


def regularity_of(system: "DiscreteSystem", q: Point, x: Vector) -> Regularity:
    """The regularity at the unknowns x = (a, s) of a step from the base point q."""
    a, s = x[: system.groupoid.rank], x[system.groupoid.rank :]
    return _report(system, _arrow(system, q, a), a, s)


def null_space(A: np.ndarray, tolerance: float = RANK_TOLERANCE) -> np.ndarray:
    """An orthonormal basis of the kernel, as columns."""
    if 0 in A.shape:
        return np.eye(A.shape[1])
    _, values, rows = np.linalg.svd(A)
    return rows[int(np.sum(values > tolerance * max(values[0], 1e-300))) :].T


def _report(system: "DiscreteSystem", g: Point, a: Vector, s: Vector) -> Regularity:
    minus, plus, morse = (np.asarray(part) for part in _jacobians(system, g, a, s))
    return Regularity(minus, plus, morse, system.groupoid.rank)


@quick_jit
def _arrow(system: "DiscreteSystem", q: Point, a: Vector) -> Point:
    return system.groupoid.fiber_chart(q, a)


@quick_jit
def _jacobians(system: "DiscreteSystem", g: Point, a: Vector, s: Vector) -> tuple[Matrix, Matrix, Matrix]:
    G, r = system.groupoid, system.groupoid.rank
    q, q_next = G.source(g), G.target(g)

    def varied(h: Point, s: Vector) -> Any:
        return variation(G, system.family, h, a, s)

    def forwards(x: Vector) -> Vector:
        found = varied(G.multiply(g, G.fiber_chart(q_next, x[:r])), x[r:])
        return jnp.concatenate([found.minus, found.stationarity])

    def backwards(x: Vector) -> Vector:
        found = varied(G.multiply(G.inverse(G.fiber_chart(q, x[:r])), g), x[r:])
        return jnp.concatenate([found.plus, found.stationarity])

    def anywhere(x: Vector) -> Vector:
        h, t = G.space.retract(g, x[: G.space.dim]), x[G.space.dim :]
        return jax.grad(lambda t: system.family(h, a, t))(t)

    at = jnp.concatenate([jnp.zeros(r), s])
    everywhere = jnp.concatenate([jnp.zeros(G.space.dim), s])
    return jax.jacfwd(forwards)(at), jax.jacfwd(backwards)(at), jax.jacfwd(anywhere)(everywhere)


def _auxiliary_names(kernel: np.ndarray, rank: int) -> list[str]:
    return [f"s{i + 1}" for i in range(kernel.shape[0] - rank)]


def _directions(basis: np.ndarray, names: list[str]) -> str:
    """The columns of a basis as sums of names, small parts left out."""
    described = []
    for column in basis.T:
        column = column / column[np.argmax(np.abs(column))]
        parts = [(c, name) for c, name in zip(column, names, strict=True) if abs(c) > 1e-6]
        terms = [name if abs(c - 1) < 1e-6 else f"{c:.3g}·{name}" for c, name in parts]
        described.append(" + ".join(terms).replace("+ -", "− "))
    return ", ".join(described)
