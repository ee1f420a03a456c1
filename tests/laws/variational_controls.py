"""Broken discrete systems for the laws of the action principle."""

import jax.numpy as jnp
from laws.mechanics_controls import ON_SO3, _losing_momentum, _shrunk_momentum, broken_copy
from laws.mechanics_subjects import SYSTEMS, Chordal
from laws.subjects import broken

import groupoid_mech as gm


def _on_the_plane(**methods):
    """A system on a broken pair groupoid of the plane."""
    G = broken(gm.PairGroupoid, gm.Euclidean(2), **methods)
    return gm.DiscreteSystem(G, Chordal(G))


def _doubled(self, g):
    return 2 * gm.PairGroupoid.left_frame(self, g)


def _flattened(self, g):
    return gm.PairGroupoid.left_frame(self, g) @ jnp.diag(jnp.array([1.0, 0.0]))


def _no_way_back():
    G = broken(gm.GroupGroupoid, gm.Translations(2), inverse=lambda self, g: g)
    return gm.DiscreteSystem(G, Chordal(G))


VARIATIONAL_CONTROLS = {
    "variation_admissible": _on_the_plane(left_frame=_doubled),
    "variations_exhaust": _on_the_plane(left_frame=_flattened),
    "vary_keeps_product": _no_way_back(),
    "action_derivative": broken_copy(ON_SO3, legendre_minus=_shrunk_momentum),
    "flow_critical": broken_copy(SYSTEMS["system on pair(R2)"], step=_losing_momentum),
}
