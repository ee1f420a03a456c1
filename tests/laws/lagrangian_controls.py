"""Cotangent bundles for the laws of Lagrangian submanifolds and relations, and broken ones."""

import jax.numpy as jnp
from laws.subjects import broken
from laws.symplectic_controls import CANONICAL, ROTATIONS, without_twist

import groupoid_mech as gm

PLANE = gm.Euclidean(2)

COTANGENT_BUNDLES = {
    "T*R2 bundle": gm.CotangentBundle(PLANE),
    "T*SO3 bundle": gm.CotangentBundle(ROTATIONS),
}


def _weighted(weights):
    """A form that pairs positions and momenta with different weights."""
    form = jnp.kron(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), jnp.diag(weights))
    return lambda self, x: form


def _shifted(x):
    """μ + θ with a left-invariant one-form θ, which is not closed: dL(G) becomes the graph of dL + θ."""
    return x[0], x[1] + jnp.array([1.0, 2.0, 3.0])


graph_of_a_form_that_is_not_closed = broken(
    gm.CotangentGroupoid,
    CANONICAL.groupoid,
    source=lambda self, x: CANONICAL.source(_shifted(x)),
    target=lambda self, x: CANONICAL.target(_shifted(x)),
)

LAGRANGIAN_CONTROLS = {
    "differential_graph_lagrangian": broken(gm.CotangentBundle, ROTATIONS, symplectic_form=without_twist),
    "constrained_graph_lagrangian": broken(
        gm.CotangentBundle, ROTATIONS, symplectic_form=_weighted(jnp.array([1.0, 2.0, 3.0]))
    ),
    "differential_kernels_agree": graph_of_a_form_that_is_not_closed,
    "constrained_kernels_agree": graph_of_a_form_that_is_not_closed,
    "composition_lagrangian": broken(gm.CotangentBundle, PLANE, symplectic_form=_weighted(jnp.array([1.0, 2.0]))),
    # Coordinates that are not centred: a pair is not found again by its own.
    "composition_transposes": gm.CotangentBundle(broken(gm.Euclidean, 2, local=lambda self, x, y: y - x + 0.1)),
}
