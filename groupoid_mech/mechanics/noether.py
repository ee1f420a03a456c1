r"""Noether symmetries of a discrete system: their defect and conserved quantity.

Convention: a section X of AG is a callable from base points to coordinates in the frame of the algebroid, as everywhere; L is
*invariant* where :math:`f = 0` and *quasi-invariant* otherwise. MMS Def. 4.8, Theorem 4.9.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import as_pytree, describe, is_concrete, name_of, require_instances, traced_shape
from groupoid_mech._types import Array, Covector, Function, Point, Scalar, Vector, VectorField
from groupoid_mech.errors import ArgumentError, NotASymmetryError
from groupoid_mech.mechanics.lagrangian_submanifold import LagrangianSubmanifold
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.mechanics.trajectory import Trajectory
from groupoid_mech.numerics.quick_jit import quick_jit

# Relative to the momenta, a larger defect is no round-off.
SYMMETRY_TOLERANCE = 1e-9
_CHECKED_POINTS = 16


@final
class NoetherSymmetry(eqx.Module):
    r"""A section X of AG, with a function f on Q, that is a Noether symmetry of a discrete system.

    .. math:: \langle F^-(\mu), X(\alpha(g))\rangle + f(\alpha(g)) = \langle F^+(\mu), X(\beta(g))\rangle + f(\beta(g)) \qquad
        (\mu \in \Sigma_L) .

    Either side is the conserved quantity :math:`F_X`. On drawn points of :math:`\Sigma_L` the construction checks that X is a symmetry,
    and raises ``NotASymmetryError`` with its defect if not.

    Args:
        system: The discrete system.
        section: The section X, from a base point to coordinates in the frame of AG.
        function: The function f of quasi-invariance; none if the Lagrangian is invariant.
        points: Points ``(arrows, s)`` of :math:`\Sigma_L`, stacked, on which to check; drawn if not given.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> def falling(g):
        ...     q, r = g
        ...     return jnp.sum((r - q) ** 2) / 2 - (q[1] + r[1]) / 2
        >>> system = DiscreteSystem(PairGroupoid(Euclidean(2)), falling)
        >>> sideways = NoetherSymmetry(system, lambda q: jnp.array([1.0, 0.0]))
        >>> sideways.quantity((jnp.zeros(2), jnp.array([3.0, 4.0])))
        Array(3., dtype=float64)
        >>> symmetry_defect(system, lambda q: jnp.array([0.0, 1.0]), (jnp.zeros(2), jnp.array([3.0, 4.0])))
        Array(1., dtype=float64)
    """

    system: DiscreteSystem
    section: VectorField
    function: Function | None

    def __init__(
        self,
        system: DiscreteSystem,
        section: VectorField,
        function: Function | None = None,
        points: tuple[Point, Vector] | None = None,
    ):
        require_section("NoetherSymmetry", system, section, function)
        self.system = system
        self.section = as_pytree(section)
        self.function = None if function is None else as_pytree(function)
        if is_concrete((system, section, function, points)):
            _require_symmetry(self, points)

    def defect(self, g: Point, s: Vector | None = None) -> Scalar:
        r"""The difference of the two sides at a point ``(g, s)`` of :math:`\Sigma_L`: zero."""
        return symmetry_defect(self.system, self.section, g, s, self.function)

    def quantity(self, g: Point, s: Vector | None = None) -> Scalar:
        r"""The conserved quantity :math:`F_X(\mu) = \langle F^-(\mu), X(\alpha(g))\rangle + f(\alpha(g))`; MMS Theorem 4.9."""
        p = self.system.legendre_minus(g, s)
        return _quantity(self.section, self.function, self.system.groupoid.source(g), p)

    def along(self, trajectory: Trajectory) -> Array:
        r"""The quantity :math:`F_X` at the base points of a trajectory: constant."""
        return trajectory.noether(self.section, self.function)


def known_symmetry(system: DiscreteSystem, section: VectorField, function: Function | None) -> NoetherSymmetry:
    """A symmetry that was found as one: it is not checked again."""
    symmetry = object.__new__(NoetherSymmetry)
    for name, value in (("system", system), ("section", section), ("function", function)):
        object.__setattr__(symmetry, name, value)
    return symmetry


def symmetry_defect(
    system: DiscreteSystem, X: VectorField, g: Point, s: Vector | None = None, f: Function | None = None
) -> Scalar:
    r"""The defect :math:`\langle F^-, X(\alpha)\rangle + f(\alpha) - \langle F^+, X(\beta)\rangle - f(\beta)` at ``(g, s)``; MMS Def. 4.8.

    It is how much :math:`\langle p, X\rangle + f` falls along the arrow; zero on all of :math:`\Sigma_L` if X is a Noether symmetry with f.

    Args:
        system: The discrete system.
        X: A section of AG, from a base point to coordinates.
        g: The arrow.
        s: The auxiliary variables and multipliers; zero if not given.
        f: A function on the base; none for zero.
    """
    require_section("symmetry_defect", system, X, f)
    minus, plus = system.legendre_minus(g, s), system.legendre_plus(g, s)
    G, X, f = system.groupoid, as_pytree(X), None if f is None else as_pytree(f)
    return _quantity(X, f, G.source(g), minus) - _quantity(X, f, G.target(g), plus)


@eqx.filter_jit
def _quantity(X: VectorField, f: Function | None, q: Point, p: Covector) -> Scalar:
    value = jnp.sum(p * X(q))
    return value if f is None else value + f(q)


@quick_jit
def _sizes(symmetry: NoetherSymmetry, points: tuple[Point, Vector]) -> tuple[Array, Array]:
    """The defect at every point, and the size of what cancels in it."""

    def one(g: Point, s: Vector) -> tuple[Scalar, Scalar]:
        system = symmetry.system
        q, p = system.groupoid.source(g), system.legendre_minus(g, s)
        size = jnp.max(jnp.abs(p)) * jnp.max(jnp.abs(symmetry.section(q)))
        size = size if symmetry.function is None else size + jnp.abs(symmetry.function(q))
        return symmetry.defect(g, s), size

    return jax.vmap(one)(*points)


def _require_symmetry(symmetry: NoetherSymmetry, points: tuple[Point, Vector] | None) -> None:
    drawn = points or LagrangianSubmanifold(symmetry.system).draw(jax.random.key(0), _CHECKED_POINTS)
    defects, sizes = (np.asarray(part) for part in _sizes(symmetry, drawn))
    finite = np.isfinite(defects) & np.isfinite(sizes)
    if not np.any(finite):
        raise ArgumentError(
            "NoetherSymmetry found no point of Σ_L at which the Lagrangian, X and f are finite. Give points=(arrows, s), "
            "stacked, for instance the arrows and multipliers of a trajectory."
        )
    worst, size = float(np.max(np.abs(defects[finite]))), float(np.max(sizes[finite]))
    if not worst <= SYMMETRY_TOLERANCE * (1e-3 + size):
        hint = (
            ""
            if symmetry.function is not None
            else " With a function f it may be quasi-invariant: see discover_symmetries."
        )
        raise NotASymmetryError(
            f"NoetherSymmetry needs ⟨F⁻, X(α)⟩ + f(α) == ⟨F⁺, X(β)⟩ + f(β) on Σ_L; for {name_of(symmetry.section)} the two sides differ "
            f"by {worst:.3g} on drawn points, with momenta of size {size:.3g}.{hint}"
        )


def require_section(owner: str, system: DiscreteSystem, X: VectorField, f: Function | None) -> None:
    """Refuse what is no section of the algebroid of a system, or no function on its base."""
    require_instances(owner, "system", (system,), DiscreteSystem)
    G = system.groupoid
    shape = traced_shape(X, G.base.point_like())
    if getattr(shape, "shape", None) != (G.rank,):
        raise ArgumentError(
            f"{owner} needs a section with values of shape ({G.rank},), coordinates in the frame of the algebroid; "
            f"{name_of(X)} returns {describe(shape)}."
        )
    if f is not None and getattr(traced_shape(f, G.base.point_like()), "shape", None) != ():
        raise ArgumentError(
            f"{owner} needs a function f on the base with numbers as values, of shape (); {name_of(f)} returns "
            f"{describe(traced_shape(f, G.base.point_like()))}."
        )
