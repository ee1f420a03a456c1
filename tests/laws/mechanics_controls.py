"""Symmetries and morphisms of discrete systems for the laws, and broken systems, symmetries and morphisms."""

import equinox as eqx
import jax.numpy as jnp
from laws.mechanics_subjects import DT, PLANE_PAIR, SPACE_PAIR, SYSTEMS, Chordal, Contact, forced
from laws.morphism_controls import MORPHISM_SUBJECTS
from laws.subjects import broken, unchecked

import groupoid_mech as gm


def reduction(Phi, constraints=None):
    """The quotient of a system by a morphism."""

    def build():
        reduced = gm.DiscreteSystem(Phi.codomain, Chordal(Phi.codomain), constraints)
        return gm.SystemMorphism(Phi, gm.pulled_back(reduced, Phi), reduced)

    return unchecked(build)


class TurnConstraint(eqx.Module):
    """A constraint on a gauge groupoid over the plane with group SO(2): the turn depends on the place."""

    def __call__(self, g):
        x, _, h = g
        return (h[1, 0] - 0.1 * (1 + x[0]))[None]


TO_GAUGE = MORPHISM_SUBJECTS["pair(R2xSO2)->gauge"]

REDUCTIONS = {
    "reduction pair(SO3)->SO3": reduction(MORPHISM_SUBJECTS["pair(SO3)->SO3"]),
    "reduction pair(R2xSO2)->gauge, constrained": reduction(TO_GAUGE, TurnConstraint()),
    "reduction pair(R2xSO2)->gauge": reduction(TO_GAUGE),
    "reduction S2:SO3->SO3": reduction(MORPHISM_SUBJECTS["S2:SO3->SO3"]),
    "reduction pair(SO3)->S2:SO3": reduction(MORPHISM_SUBJECTS["pair(SO3)->S2:SO3"]),
    "reduction pair(R2)xSO3->SO3": reduction(MORPHISM_SUBJECTS["pair(R2)xSO3->SO3"]),
}

SLOW_REDUCTIONS = {
    "reduction pair(R2xSO2)->gauge",
    "reduction S2:SO3->SO3",
    "reduction pair(SO3)->S2:SO3",
    "reduction pair(R2)xSO3->SO3",
}


class Magnetic(eqx.Module):
    """A charged particle in the plane in a homogeneous magnetic field."""

    field: float = 1.3
    dt: float = DT

    def __call__(self, g):
        q, r = g
        return jnp.sum((r - q) ** 2) / (2 * self.dt) + self.field / 2 * (q[0] * r[1] - q[1] * r[0])


def sideways(q):
    return jnp.array([1.0, 0.0])


def boundary_term(q):
    return -0.65 * q[1]


def shift_of_contact(q):
    """Translations along x and z, and (0, 1, x): the symmetries of the contact form."""
    return jnp.stack([jnp.zeros_like(q[0]), jnp.ones_like(q[0]), q[0]])


def turn_about_vertical(q):
    return gm.Sphere(2).from_ambient(q, jnp.stack([-q[1], q[0], jnp.zeros_like(q[0])]))


class Flat(eqx.Module):
    """A Lagrangian that contact transformations keep: it depends on the increments of x and y alone."""

    dt: float = DT

    def __call__(self, g):
        step = g[1] - g[0]
        return jnp.sum(step[:2] ** 2) / (2 * self.dt)


def symmetry(system, X, f=None):
    return unchecked(lambda: gm.NoetherSymmetry(system, X, f))


SYMMETRIES = {
    "quasi-symmetry of a magnetic field": symmetry(gm.DiscreteSystem(PLANE_PAIR, Magnetic()), sideways, boundary_term),
    "symmetry on pair(S2)": symmetry(SYSTEMS["system on pair(S2)"], turn_about_vertical),
    "symmetry of contact": symmetry(gm.DiscreteSystem(SPACE_PAIR, Flat(), Contact()), shift_of_contact),
}

# ------------------------------------------------------------------------------- broken ones

ON_SO3 = SYSTEMS["system on SO3"]
ON_PLANE = SYSTEMS["system on pair(R2)"]
ON_CONTACT = SYSTEMS["system on pair(R3), contact"]


def broken_copy(system, **methods):
    return broken(gm.DiscreteSystem, system.groupoid, system.lagrangian, system.constraints, **methods)


def _losing_momentum(self, start):
    following, step = gm.DiscreteSystem.step(self, start)
    return eqx.tree_at(lambda s: s.momentum, following, 0.99 * following.momentum), step


def _shrunk_momentum(self, g, s=None):
    return 0.9 * gm.DiscreteSystem.legendre_minus(self, g, s)


def _squared_multipliers(self, g, a, s):
    return self.lagrangian(g) + jnp.sum((s + s**2) * self.constraints(g))


def _wrong_reduction():
    Phi = MORPHISM_SUBJECTS["pair(R2)xSO3->pair(R2)"]
    upstairs = gm.pulled_back(gm.DiscreteSystem(Phi.codomain, Chordal(Phi.codomain)), Phi)
    return gm.SystemMorphism(Phi, upstairs, gm.DiscreteSystem(Phi.codomain, Chordal(Phi.codomain, 0.12)))


wrong_reduction = unchecked(_wrong_reduction)
# A magnetic field without the boundary term: L is not invariant.
wrong_symmetry = symmetry(gm.DiscreteSystem(PLANE_PAIR, Magnetic()), sideways)

MECHANICS_CONTROLS = {
    "legendre_restricts": broken_copy(ON_SO3, legendre_minus=_shrunk_momentum),
    "sigma_lagrangian": forced,
    "legendre_kernels_agree": forced,
    "flow": broken_copy(ON_PLANE, step=_losing_momentum),
    "hamiltonian_map_poisson": forced,
    "reversed_inverts": broken_copy(ON_PLANE, reversed=lambda self: self),
    "noether_balance": broken_copy(ON_PLANE, legendre_minus=_shrunk_momentum),
    "affine_structure": broken_copy(ON_CONTACT, family=_squared_multipliers),
    "symmetry": wrong_symmetry,
    "noether_conserved": wrong_symmetry,
    "image_in_sigma": wrong_reduction,
    "legendre_momenta_related": wrong_reduction,
    "lifted_flow": wrong_reduction,
    "equations_related": wrong_reduction,
}
