r"""Integrable discrete constraints: whether the constraint submanifold :math:`N \subset G` is a subgroupoid.

Convention: defects are distances from N in first order, :math:`|D\varphi^+\,\varphi|` in the frame of G, whatever the scale of
:math:`\varphi`. MMS Remark 3.6.
"""

from dataclasses import dataclass
from typing import cast, final

import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import require_instances, require_positive_integer
from groupoid_mech._types import Array, Key, Matrix, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.mechanics.increment import ArrowFunction, evaluate
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.quick_jit import quick_jit

# Gauss–Newton steps onto N; from draws of moderate size it arrives in five or six.
_ITERATIONS = 20
_ON_N = 1e-10
# Singular values of Dφ below this part of its size on N are zero: constraints may repeat each other, or lose rank at units.
_RANK = 1e-8


@final
@dataclass(frozen=True)
class Integrability:
    """How far units, inverses and products of arrows of N are from N, at the worst of the drawn arrows.

    Args:
        unit_defect: The distance from N of the units at the ends of arrows of N.
        inverse_defect: The distance from N of inverses.
        product_defect: The distance from N of products of composable arrows of N.
        examples: On how many composable pairs.
        tolerance: Up to this a distance is round-off.
    """

    unit_defect: float
    inverse_defect: float
    product_defect: float
    examples: int
    tolerance: float

    @property
    def integrable(self) -> bool:
        """Whether N is a subgroupoid, as far as the drawn arrows show: then the constraints are integrable."""
        return max(self.unit_defect, self.inverse_defect, self.product_defect) <= self.tolerance

    def __str__(self) -> str:
        defects = {"units": self.unit_defect, "inverses": self.inverse_defect, "products": self.product_defect}
        listed = ", ".join(f"{name} {value:.1e}" for name, value in defects.items())
        verdict = "integrable: N is a subgroupoid" if self.integrable else "not integrable: N is no subgroupoid"
        return f"{verdict} (distance from N of {listed}; {self.examples} pairs)"


def integrability(
    system: DiscreteSystem, *, key: Key | None = None, samples: int = 32, size: float = 0.3, tolerance: float = 1e-9
) -> Integrability:
    r"""Whether the constraints of a system are integrable: N is closed under units, inverses and products, on drawn arrows.

    .. math:: g \in N \;\Rightarrow\; \epsilon(\alpha(g)),\, \epsilon(\beta(g)),\, g^{-1} \in N, \qquad
        g, h \in N,\; \beta(g) = \alpha(h) \;\Rightarrow\; g h \in N .

    If so, the dynamics is that of an unconstrained system on the groupoid N. If not, the constraints are non-integrable.

    Args:
        system: The discrete system, with constraints on arrows alone.
        key: The JAX random key of the draws; ``jax.random.key(0)`` if not given.
        samples: How many composable pairs are drawn.
        size: Drawn arrows have fibre coordinates up to this size.
        tolerance: Up to this a distance from N is round-off.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> def kinetic(g):
        ...     return jnp.sum((g[1] - g[0]) ** 2)
        >>> level = DiscreteSystem(PairGroupoid(Euclidean(2)), kinetic, lambda g: (g[1] - g[0])[:1])
        >>> integrability(level).integrable
        True
        >>> forward = DiscreteSystem(PairGroupoid(Euclidean(2)), kinetic, lambda g: (g[1] - g[0])[:1] - 0.1)
        >>> integrability(forward).integrable
        False
    """
    require_instances("integrability", "system", (system,), DiscreteSystem)
    require_positive_integer("integrability", "samples", samples)
    if system.constraints is None or system.auxiliary:
        need = "this one has none" if system.constraints is None else "these depend on auxiliary variables"
        raise ArgumentError(f"integrability needs a system with constraints on arrows alone; {need}.")
    keys = jax.random.split(jax.random.key(0) if key is None else key, samples)
    found, *distances = (np.asarray(part) for part in _distances(system, keys, jnp.asarray(size)))
    if not np.any(found):
        raise ArgumentError(
            f"integrability found no composable arrows of N near {samples} drawn ones of size {size:g}. Give a size near that of "
            f"the arrows of N, or another key."
        )
    unit, inverse, product = (float(np.max(part[found])) for part in distances)
    return Integrability(unit, inverse, product, int(np.sum(found)), tolerance)


@quick_jit
def _distances(system: DiscreteSystem, keys: Key, size: Scalar) -> tuple[Array, Array, Array, Array]:
    G = system.groupoid

    def one(key: Key) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        at, along, further = jax.random.split(key, 3)

        def drawn(k: Key) -> Vector:
            return size * jax.random.uniform(k, (G.rank,), minval=-1.0)

        g = _onto_constraints(system, G.fiber_chart(G.base.random_point(at), drawn(along)))
        q = G.target(g)
        h = G.fiber_chart(q, _fiber_onto_constraints(system, q, drawn(further)))
        slope = jnp.linalg.norm(_slopes(system, g))
        candidates = G.unit(G.source(g)), G.unit(q), G.inverse(g), G.multiply(g, h)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *candidates)
        off = jax.vmap(lambda k: _distance(system, k, slope))(stacked)
        both = jnp.maximum(_size(_constraints(system, g)), _size(_constraints(system, h))) <= _ON_N * slope
        return both, jnp.maximum(off[0], off[1]), off[2], off[3]

    return jax.vmap(one)(keys)


def _constraints(system: DiscreteSystem, g: Point) -> Vector:
    return evaluate(cast(ArrowFunction, system.constraints), g, system.increment(g), ())


def _onto_constraints(system: DiscreteSystem, g: Point) -> Point:
    """An arrow of N near g, by Gauss–Newton steps of least size in the frame of G."""
    M = system.groupoid.space

    def step(_: Array, g: Point) -> Point:
        return M.retract(g, -_least_change(_slopes(system, g), _constraints(system, g)))

    return jax.lax.fori_loop(0, _ITERATIONS, step, g)


def _fiber_onto_constraints(system: DiscreteSystem, q: Point, a: Vector) -> Vector:
    """The fibre coordinates near a of an arrow of N with source q."""

    def constraints(a: Vector) -> Vector:
        return _constraints(system, system.groupoid.fiber_chart(q, a))

    def step(_: Array, a: Vector) -> Vector:
        return a - _least_change(jax.jacfwd(constraints)(a), constraints(a))

    return jax.lax.fori_loop(0, _ITERATIONS, step, a)


def _distance(system: DiscreteSystem, g: Point, slope: Scalar) -> Scalar:
    """The distance from N in first order; slopes far below those on N are none, and what is then left of φ counts too."""
    D, value = _slopes(system, g), _constraints(system, g)
    change = _least_change(D, value, slope)
    return _size(change) + _size(value - D @ change) / slope


def _slopes(system: DiscreteSystem, g: Point) -> Matrix:
    return frame_derivatives(system.groupoid.space, lambda h: _constraints(system, h), g).T


def _least_change(D: Matrix, value: Vector, slope: Scalar | None = None) -> Vector:
    """The least x with D x = φ, where singular values far below the slope are zero."""
    U, values, rows = jnp.linalg.svd(D, full_matrices=False)
    seen = values > _RANK * (values[0] if slope is None else slope)
    return rows.T @ jnp.where(seen, U.T @ value / jnp.where(seen, values, 1.0), 0.0)


def _size(v: Vector) -> Scalar:
    return jnp.sqrt(jnp.sum(v * v))
