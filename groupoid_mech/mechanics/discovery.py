r"""Discovery of Noether symmetries: the null space of a defect that is linear in the section and the function.

With sections :math:`X = c^i X_i` and functions :math:`f = d^j f_j`, the symmetry defect at a point of :math:`\Sigma_L` is linear in (c, d); its
null space over many points consists of the symmetries in the span. MMS Def. 4.8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import as_pytree, require_positive_integer
from groupoid_mech._types import Array, Function, Key, Point, Scalar, Vector, VectorField
from groupoid_mech.errors import ArgumentError
from groupoid_mech.mechanics.lagrangian_submanifold import LagrangianSubmanifold
from groupoid_mech.mechanics.noether import SYMMETRY_TOLERANCE, NoetherSymmetry, known_symmetry, require_section
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.quick_jit import quick_jit

# Combinations of the basis whose values are this part of the largest ones are zero: a basis may be dependent.
_DEPENDENT = 1e-10


@final
@dataclass(frozen=True)
class DiscoveredSymmetries:
    r"""The Noether symmetries of a system in the span of a basis.

    Args:
        symmetries: A basis of them, each with its section X and function f.
        section_coefficients: The coefficients of the basis sections, one row for each symmetry.
        function_coefficients: The coefficients of the basis functions.
        singular_values: The root mean square of the defect over the sampled points, in the worst directions of the span first, relative
            to the terms that cancel in it: a symmetry has round-off, anything else does not.
        tolerance: Up to this a singular value is that of a symmetry.
    """

    symmetries: tuple[NoetherSymmetry, ...]
    section_coefficients: np.ndarray
    function_coefficients: np.ndarray
    singular_values: np.ndarray
    tolerance: float

    def __len__(self) -> int:
        """The number of independent symmetries."""
        return len(self.symmetries)

    @property
    def gap(self) -> float:
        """The smallest singular value that is not of a symmetry over the largest one that is: how clearly they separate."""
        null = self.singular_values <= self.tolerance
        rest = np.min(self.singular_values[~null], initial=np.inf)
        return float(rest / max(np.max(self.singular_values[null], initial=0.0), np.finfo(float).tiny))

    def __str__(self) -> str:
        null = self.singular_values <= self.tolerance
        values = "  ".join(f"{value:.1e}" for value in self.singular_values)
        lines = [f"{len(self)} of {len(null)} independent directions are symmetries", f"singular values: {values}"]
        for X, f in zip(self.section_coefficients, self.function_coefficients, strict=True):
            parts = [f"{c:+.4g} X{i + 1}" for i, c in enumerate(X) if abs(c) > _SHOWN]
            parts += [f"{c:+.4g} f{j + 1}" for j, c in enumerate(f) if abs(c) > _SHOWN]
            lines.append("  " + " ".join(parts))
        return "\n".join(lines)


def discover_symmetries(
    system: DiscreteSystem,
    sections: Sequence[VectorField],
    functions: Sequence[Function] = (),
    *,
    points: tuple[Point, Vector] | None = None,
    key: Key | None = None,
    samples: int | None = None,
    size: float = 0.3,
    tolerance: float = SYMMETRY_TOLERANCE,
) -> DiscoveredSymmetries:
    r"""All Noether symmetries :math:`X = c^iX_i` with :math:`f = d^jf_j` in the span of given sections and functions.

    .. math:: c^i\bigl(\langle F^-, X_i(\alpha)\rangle - \langle F^+, X_i(\beta)\rangle\bigr) + d^j\bigl(f_j(\alpha) - f_j(\beta)\bigr) = 0
        \qquad\text{at sampled points of } \Sigma_L .

    Combinations that are nothing, :math:`X = 0` with f constant, are not counted: the basis may be dependent and contain constants.
    Samples of a constrained system lie on N, with drawn multipliers.

    Args:
        system: The discrete system.
        sections: The basis sections, from base points to coordinates in the frame of AG; `monomial_sections` makes one.
        functions: The basis functions on Q; `monomial_functions` makes one. None: only symmetries with :math:`f = 0` are found.
        points: Points ``(arrows, s)`` of :math:`\Sigma_L`, stacked, to use as samples; drawn if not given.
        key: The JAX random key of the draws; ``jax.random.key(0)`` if not given.
        samples: How many points are drawn; four for each member of the basis, at least 64, if not given.
        size: Drawn arrows have fibre coordinates up to this size.
        tolerance: Singular values up to this are zero.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid, monomial_sections
        >>> G = PairGroupoid(Euclidean(2))
        >>> free = DiscreteSystem(G, lambda g: jnp.sum((g[1] - g[0]) ** 2))
        >>> found = discover_symmetries(free, monomial_sections(G, degree=1))
        >>> len(found), found.gap > 1e6
        (3, True)
    """
    owner = "discover_symmetries"
    sections, functions = tuple(sections), tuple(functions)
    if not sections:
        raise ArgumentError(f"{owner} needs at least one section to combine; got none.")
    for X in sections:
        require_section(owner, system, X, None)
    for f in functions:
        require_section(owner, system, sections[0], f)
    count = max(64, 4 * (len(sections) + len(functions))) if samples is None else samples
    require_positive_integer(owner, "samples", count)
    if points is None:
        points = LagrangianSubmanifold(system).draw(jax.random.key(0) if key is None else key, count, size)
    basis = _Basis(tuple(as_pytree(X) for X in sections), tuple(as_pytree(f) for f in functions))
    table = _Table(*(np.asarray(part) for part in _table(system, basis, points)))
    coefficients, values = _null_space(_Table(*(part[table.finite] for part in table)), len(sections), tolerance)
    k = len(sections)
    found = tuple(
        known_symmetry(
            system,
            Combination(basis.sections, jnp.asarray(row[:k])),
            Combination(basis.functions, jnp.asarray(row[k:])) if functions else None,
        )
        for row in coefficients
    )
    return DiscoveredSymmetries(found, coefficients[:, :k], coefficients[:, k:], values, tolerance)


@final
class Combination(eqx.Module):
    r"""The function :math:`q \mapsto c^i f_i(q)` of functions with numbers or vectors as values."""

    basis: tuple[Function, ...]
    coefficients: Array

    def __call__(self, q: Point) -> Array:
        return jnp.tensordot(self.coefficients, jnp.stack([f(q) for f in self.basis]), axes=1)


_SHOWN = 1e-8


@final
class _Basis(eqx.Module):
    sections: tuple[VectorField, ...]
    functions: tuple[Function, ...]

    def sections_at(self, q: Point) -> Array:
        return jnp.stack([X(q) for X in self.sections])

    def functions_at(self, q: Point) -> Array:
        return jnp.stack([f(q) for f in self.functions]) if self.functions else jnp.zeros(0)


class _Table(NamedTuple):
    """At each sample: values of the basis at both ends, the two sides of the defect of each section, and the size of the momenta."""

    sections: np.ndarray
    functions: np.ndarray
    sides: np.ndarray
    momenta: np.ndarray

    @property
    def finite(self) -> np.ndarray:
        return np.all([np.isfinite(part.reshape(len(part), -1)).all(axis=1) for part in self], axis=0)


@quick_jit
def _table(system: DiscreteSystem, basis: _Basis, points: tuple[Point, Vector]) -> tuple[Array, ...]:
    G = system.groupoid

    def one(g: Point, s: Vector) -> tuple[Array, Array, Array, Scalar]:
        ends = jax.tree.map(lambda *leaves: jnp.stack(leaves), G.source(g), G.target(g))
        momenta = jnp.stack([system.legendre_minus(g, s), system.legendre_plus(g, s)])
        X, f = jax.vmap(basis.sections_at)(ends), jax.vmap(basis.functions_at)(ends)
        return X, f, jnp.einsum("eir,er->ei", X, momenta), jnp.sum(momenta[0] ** 2)

    return jax.vmap(one)(*points)


def _null_space(table: _Table, sections: int, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of coefficients that span the symmetries, and the singular values of the defect."""
    count, size = len(table.momenta), sections + table.functions.shape[2]
    if count < size:
        raise ArgumentError(
            f"discover_symmetries needs at least as many finite samples as the basis has members, {size}; got {count}. "
            f"Give points=(arrows, s) on which the Lagrangian is finite, more samples, or another size."
        )
    momentum = np.sqrt(np.mean(table.momenta)) or 1.0
    functions = (table.functions - np.mean(table.functions, axis=(0, 1))) / momentum
    # Everything in units of momentum. The values of a combination say how large it is: nothing, where they vanish.
    values = np.zeros((2 * count, table.sections.shape[3] + 1, size))
    values[:, :-1, :sections] = np.moveaxis(table.sections, 3, 2).reshape(2 * count, -1, sections)
    values[:, -1, sections:] = functions.reshape(2 * count, -1)
    sides = np.concatenate([table.sides / momentum, functions], axis=2)
    _, sizes, directions = np.linalg.svd(values.reshape(-1, size) / np.sqrt(2 * count), full_matrices=False)
    kept = sizes > _DEPENDENT * sizes[0]
    to_coefficients = directions[kept].T / sizes[kept]
    terms = np.linalg.svd(sides.reshape(-1, size) @ to_coefficients / np.sqrt(2 * count), compute_uv=False)
    _, defects, rows = np.linalg.svd(
        (sides[:, 0] - sides[:, 1]) @ to_coefficients / np.sqrt(count), full_matrices=False
    )
    defects = defects / max(np.max(terms, initial=0.0), np.finfo(float).tiny)
    return _echelon((to_coefficients @ rows[defects <= tolerance].T).T), defects


def _echelon(rows: np.ndarray) -> np.ndarray:
    """The reduced echelon form of rows: the same span, each row with a 1 where the others have 0."""
    rows, pivots = rows.copy(), []
    for k in range(len(rows)):
        at, column = divmod(int(np.argmax(np.abs(rows[k:]))), rows.shape[1])
        rows[[k, k + at]] = rows[[k + at, k]]
        rows[k] /= rows[k, column]
        for other in range(len(rows)):
            if other != k:
                rows[other] -= rows[other, column] * rows[k]
        pivots.append(column)
    return rows[np.argsort(pivots)]
