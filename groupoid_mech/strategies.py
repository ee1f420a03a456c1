"""Hypothesis strategies for the data of the laws: points, vectors, group elements, functions, fields and forms.

Every strategy draws a seed and numbers in [−1, 1] and builds the same pytrees as `groupoid_mech.laws`: one compilation serves
all examples, and what fails shrinks towards seed 0 and numbers 0. Needs the extra ``groupoid-mech[verify]``.
"""

from typing import Any

import equinox as eqx
import jax
import numpy as np

try:
    import hypothesis
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as st_numpy
except ImportError as error:
    raise ImportError("groupoid_mech.strategies needs hypothesis: pip install 'groupoid-mech[verify]'.") from error

from groupoid_mech.algebroids.algebroid import LieAlgebroid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.laws import groupoid_kinds, kinds
from groupoid_mech.laws.law import Examples, Law, build_batch
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.symplectic.immersion import Immersion, differential_graph

_SEEDS = st.integers(min_value=0, max_value=2**31 - 1)
_NUMBERS = st.floats(min_value=-1.0, max_value=1.0, allow_subnormal=False)


def drawn(kind: kinds.Kind, subject: Any) -> st.SearchStrategy[Any]:
    """Objects of a kind on a subject."""

    def build(seed: int, numbers: np.ndarray) -> Any:
        batch = build_batch(kind, subject, np.array([seed]), numbers[None, :])
        return jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, batch)

    return st.builds(build, _SEEDS, _vector_of_numbers(kind.size(subject)))


def points(M: Manifold) -> st.SearchStrategy[Any]:
    """Points of a manifold."""
    return drawn(kinds.A_POINT, M)


def vectors(M: Manifold, scale: float = 1.0) -> st.SearchStrategy[Any]:
    """Coordinate vectors with entries in [−scale, scale]."""
    return drawn(kinds.AVector(scale), M)


def group_elements(G: LieGroup) -> st.SearchStrategy[Any]:
    """Elements of a Lie group: its points."""
    return drawn(kinds.A_POINT, G)


def algebra_elements(G: LieGroup, scale: float = 1.7) -> st.SearchStrategy[Any]:
    """Elements of the Lie algebra; with the default scale, rotation vectors shorter than π."""
    return drawn(kinds.AVector(scale), G)


def functions(M: Manifold) -> st.SearchStrategy[kinds.Polynomial]:
    """Smooth functions: polynomials in the ambient coordinates."""
    return drawn(kinds.A_FUNCTION, M)


def vector_fields(M: Manifold) -> st.SearchStrategy[kinds.Polynomial]:
    """Vector fields, by their components in the frame."""
    return drawn(kinds.A_FIELD, M)


def one_forms(M: Manifold) -> st.SearchStrategy[kinds.Polynomial]:
    """One-forms, by their components in the frame."""
    return drawn(kinds.A_ONE_FORM, M)


def two_forms(M: Manifold) -> st.SearchStrategy[kinds.Polynomial]:
    """Two-forms, by their antisymmetric components in the frame."""
    return drawn(kinds.A_TWO_FORM, M)


def self_maps(M: Manifold) -> st.SearchStrategy[kinds.Displacement]:
    """Smooth maps of a manifold to itself near the identity."""
    return drawn(kinds.A_SELF_MAP, M)


def arrows(G: LieGroupoid) -> st.SearchStrategy[Any]:
    """Arrows of a groupoid."""
    return chains(G, 1).map(lambda chain: chain[0])


def chains(G: LieGroupoid, length: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """Tuples of composable arrows; of length 2, composable pairs."""
    return drawn(groupoid_kinds.AChain(length), G)


def algebroid_vectors(G: LieGroupoid | LieAlgebroid, scale: float = 1.0) -> st.SearchStrategy[Any]:
    """Coordinates in a fibre of the algebroid, or of its dual."""
    return drawn(groupoid_kinds.AnAlgebroidVector(scale), G)


def sections(G: LieGroupoid | LieAlgebroid) -> st.SearchStrategy[kinds.Polynomial]:
    """Sections of the algebroid."""
    return drawn(groupoid_kinds.A_SECTION, G)


def lagrangian_submanifolds(M: Manifold) -> st.SearchStrategy[Immersion]:
    """Lagrangian submanifolds dL(M) of the cotangent bundle, of drawn functions L."""
    return functions(M).map(lambda L: differential_graph(M, L))


def law_examples(law: Law, subject: Any) -> st.SearchStrategy[Examples]:
    """Single examples of a law on a subject, for ``law.defects`` and ``law.data``."""

    def example(seeds: list[int], numbers: np.ndarray) -> Examples:
        return Examples(np.array([seeds], dtype=int), numbers[None, :])

    count = len(law.draws)
    return st.builds(
        example, st.lists(_SEEDS, min_size=count, max_size=count), _vector_of_numbers(sum(law.sizes(subject)))
    )


def smallest_failure(law: Law, subject: Any, *, max_examples: int = 500) -> Examples:
    """The simplest example that hypothesis finds on which a law fails.

    Raises ``hypothesis.errors.NoSuchExample`` if the law holds on all that it tries.
    """
    settings = hypothesis.settings(
        max_examples=max_examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    return hypothesis.find(
        law_examples(law, subject),
        lambda example: bool(law.defects(subject, example)[0] > law.tolerance),
        settings=settings,
    )


def _vector_of_numbers(size: int) -> st.SearchStrategy[np.ndarray]:
    return st_numpy.arrays(float, (size,), elements=_NUMBERS)
