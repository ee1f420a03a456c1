r"""The velocity of a curve of arrows with fixed source, carried to the algebroid: :math:`\overleftarrow\xi(g) = \dot g`."""

import jax
import jax.numpy as jnp

from groupoid_mech._types import Point, Vector
from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.groupoids.time_extended import TimeExtended


def left_velocity(G: LieGroupoid, g: Point, rate: Point) -> Vector:
    r"""The vector :math:`\xi \in A_{\beta(g)}G` with :math:`\overleftarrow\xi(g) = \dot g`, for an α-vertical ambient vector :math:`\dot g`.

    In general the derivative of :math:`c^{-1}(g^{-1} g(t))`. On pair and action groupoids and Lie groups, and their products, it is the
    velocity in the frame of the manifold: without logarithms, Galerkin methods on SO(3) compile in a third of the time.

    Args:
        G: The groupoid.
        g: The arrow.
        rate: The vector :math:`\dot g`, in the ambient form of an arrow.
    """
    if isinstance(G, PairGroupoid):
        return G.base.from_ambient(g[1], rate[1])
    if isinstance(G, GroupGroupoid):
        return G.group.from_ambient(g, rate)
    if isinstance(G, ActionGroupoid):
        return G.group.from_ambient(g[1], rate[1])
    if isinstance(G, TimeExtended):
        return left_velocity(G.product, g, rate)
    if isinstance(G, ProductGroupoid):
        return jnp.concatenate([left_velocity(*part) for part in zip(G.factors, g, rate, strict=True)])
    return left_velocity_by_autodiff(G, g, rate)


def left_velocity_by_autodiff(G: LieGroupoid, g: Point, rate: Point) -> Vector:
    r"""The same from the multiplication and the fibre chart alone."""
    q = G.target(g)
    return jax.jvp(lambda h: G.fiber_local(q, G.multiply(G.inverse(g), h)), (g,), (rate,))[1]
