r"""Isomorphisms of Lie groupoids, and those between gauge groupoids and others.

Convention: an isomorphism keeps its inverse beside it, both as a `Morphism`; they go from ``domain`` to ``codomain`` and back.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import is_concrete, require_instances
from groupoid_mech._types import Point, Scalar
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groupoids.canonical_morphisms import gauge_to_product, product_to_gauge, turn_back
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.groupoids.morphism import Morphism
from groupoid_mech.groupoids.sameness import require_same_groupoid
from groupoid_mech.groupoids.sphere_gauge import SphereGaugeGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.manifolds.drawn_points import a_few_points
from groupoid_mech.manifolds.manifold import ON_MANIFOLD, Manifold
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.numerics.matrix import matvec
from groupoid_mech.numerics.quick_jit import quick_jit


@final
class Isomorphism(eqx.Module):
    r"""An isomorphism of Lie groupoids :math:`\Phi: G \to G'` with its inverse :math:`\Psi: G' \to G`.

    .. math:: \Psi\circ\Phi = \mathrm{id}_G, \qquad \Phi\circ\Psi = \mathrm{id}_{G'}, \qquad \Psi_0 = \Phi_0^{-1}, \qquad
        A\Psi = (A\Phi)^{-1} .

    On drawn arrows the construction checks that the two are inverse to each other.

    Args:
        forward: The morphism :math:`\Phi`.
        backward: The morphism :math:`\Psi`.

    Example:
        >>> from groupoid_mech import Euclidean, Translations
        >>> same = gauge_isomorphism(Euclidean(1), Translations(1))
        >>> same.backward(same.forward((jnp.zeros(1), jnp.ones(1), jnp.array([2.0]))))
        (Array([0.], dtype=float64), Array([1.], dtype=float64), Array([2.], dtype=float64))
    """

    forward: Morphism
    backward: Morphism

    def __init__(self, forward: Morphism, backward: Morphism):
        require_instances("Isomorphism", "forward", (forward,), Morphism)
        require_instances("Isomorphism", "backward", (backward,), Morphism)
        ends = (forward.domain, backward.codomain), (forward.codomain, backward.domain)
        for (there, back), names in zip(ends, (("domain", "codomain"), ("codomain", "domain")), strict=True):
            require_same_groupoid("Isomorphism", f"forward.{names[0]}", there, f"backward.{names[1]}", back)
        self.forward = forward
        self.backward = backward
        if is_concrete((forward, backward)):
            _require_inverse("backward(forward(g)) == g", forward, backward)
            _require_inverse("forward(backward(g)) == g", backward, forward)

    @property
    def domain(self) -> LieGroupoid:
        """The groupoid :math:`G`."""
        return self.forward.domain

    @property
    def codomain(self) -> LieGroupoid:
        """The groupoid :math:`G'`."""
        return self.forward.codomain

    def inverse(self) -> "Isomorphism":
        r"""The isomorphism :math:`\Psi` with inverse :math:`\Phi`."""
        return Isomorphism(self.backward, self.forward)


def gauge_isomorphism(base: Manifold, H: LieGroup) -> Isomorphism:
    r"""The gauge groupoid of a trivial bundle is pairs times the group: :math:`((B \times H) \times (B \times H))/H \cong (B \times B) \times H`.

    Example:
        >>> from groupoid_mech import SO2, Sphere
        >>> gauge_isomorphism(Sphere(2), SO2()).codomain.rank
        3
    """
    return Isomorphism(gauge_to_product(base, H), product_to_gauge(base, H))


def sphere_isomorphism() -> Isomorphism:
    r"""The gauge groupoid of :math:`SO(3) \to S^2` is that of the action of rotations: :math:`(SO(3) \times SO(3))/SO(2) \cong S^2 \rtimes SO(3)`.

    .. math:: \Phi(x, R) = (R x, R), \qquad \Psi(q, R) = (R^T q, R) .

    Example:
        >>> same = sphere_isomorphism()
        >>> same.forward.base_map(jnp.array([0.0, 0.0, 1.0]))
        Array([0., 0., 1.], dtype=float64)
    """
    gauge, action = SphereGaugeGroupoid(), ActionGroupoid(Sphere(2), SO3(), turn_back)
    return Isomorphism(Morphism(gauge, action, _start_and_turn), Morphism(action, gauge, _end_and_turn))


def _start_and_turn(g: Point) -> Point:
    x, R = g
    return matvec(R, x), R


def _end_and_turn(g: Point) -> Point:
    q, R = g
    return matvec(R.T, q), R


def _require_inverse(condition: str, first: Morphism, second: Morphism) -> None:
    distance = float(_round_trip(first, second, a_few_points(first.domain.space)))
    if not distance <= ON_MANIFOLD:
        raise ArgumentError(
            f"Isomorphism needs {condition}; on drawn arrows it is off by {distance:.3g}. Give the inverse of forward as "
            f"backward."
        )


@quick_jit
def _round_trip(first: Morphism, second: Morphism, arrows: Point) -> Scalar:
    return jnp.max(jax.vmap(lambda g: point_distance(second.map(first.map(g)), g))(arrows))
