"""Symplectic groupoids for the laws, and broken ones."""

import jax.numpy as jnp
from laws.subjects import broken, unchecked

import groupoid_mech as gm


def area(x):
    return jnp.array([[0.0, 1.0], [-1.0, 0.0]])


def turn_back(q, R):
    return R.T @ q


# The Cayley chart: a third derivative of exp is a far larger program, and only the chart differs.
TOP = unchecked(lambda: gm.ActionGroupoid(gm.Sphere(2), gm.SO3(tau="cayley"), turn_back))
PLANE_PAIR = gm.PairGroupoid(gm.Euclidean(2))
PLATE_BALL = gm.ProductGroupoid(PLANE_PAIR, gm.GroupGroupoid(gm.SO3(tau="cayley")))

COTANGENT_GROUPOIDS = {
    "T*pair(R2)": gm.CotangentGroupoid(PLANE_PAIR),
    "T*pair(S2)": gm.CotangentGroupoid(gm.PairGroupoid(gm.Sphere(2))),
    "T*SO3": gm.CotangentGroupoid(gm.GroupGroupoid(gm.SO3())),
    "T*SE3": gm.CotangentGroupoid(gm.GroupGroupoid(gm.SE3(tau="cayley"))),
    "T*(S2xSO3)": gm.CotangentGroupoid(TOP),
    "T*gauge": gm.CotangentGroupoid(gm.GaugeGroupoid(gm.Euclidean(2), gm.SO2(tau="cayley"))),
    "T*plate-ball": gm.CotangentGroupoid(PLATE_BALL),
    "T*time": gm.CotangentGroupoid(gm.TimeExtended(gm.PairGroupoid(gm.Euclidean(1)))),
}

SYMPLECTIC_GROUPOIDS = {
    **COTANGENT_GROUPOIDS,
    "pair(T*S2)": gm.SymplecticPair(gm.CotangentBundle(gm.Sphere(2))),
    "pair(S2, area)": gm.SymplecticPair(gm.Sphere(2), area),
    "so3*": gm.CoadjointGroupoid(gm.SO3()),
    "se3*": gm.CoadjointGroupoid(gm.SE3()),
}

# On these the laws of Lie groupoids are checked too, the cotangent groupoid being one like any other: on the first ones in the
# default run, on all in ``make test-extended``.
AS_LIE_GROUPOIDS = ("T*pair(R2)", "so3*")
SLOW_AS_LIE_GROUPOIDS = ("T*gauge", "T*pair(S2)", "T*SO3", "T*SE3", "T*(S2xSO3)", "T*plate-ball", "T*time")

ROTATIONS = gm.SO3(tau="cayley")
SO3_DUAL = gm.CoadjointGroupoid(ROTATIONS)
CANONICAL = gm.CotangentGroupoid(gm.GroupGroupoid(ROTATIONS))


def _sum_of_forms(self, g):
    """The form of P × P instead of P⁻ × P."""
    return jnp.kron(jnp.eye(2), area(g[0]))


def without_twist(self, g):
    """dq ∧ dp in the frame, as if the frame were one of coordinates."""
    return jnp.kron(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), jnp.eye(3))


def _opposite_source(self, x):
    """The momentum of the first end with the sign of a derivative."""
    q, p = CANONICAL.source(x)
    return q, -p


CONTROLS = {
    "symplectic_antisymmetric": broken(
        gm.CoadjointGroupoid, ROTATIONS, symplectic_form=lambda self, g: SO3_DUAL.symplectic_form(g) + jnp.eye(6)
    ),
    "multiplication_symplectic": broken(gm.SymplecticPair, gm.Sphere(2), area, symplectic_form=_sum_of_forms),
    "fibers_orthogonal": broken(gm.CotangentGroupoid, gm.GroupGroupoid(ROTATIONS), symplectic_form=without_twist),
    "units_lagrangian": broken(gm.SymplecticPair, gm.Sphere(2), area, symplectic_form=_sum_of_forms),
    "target_poisson": broken(
        gm.CoadjointGroupoid, ROTATIONS, poisson_tensor=lambda self, p: -SO3_DUAL.poisson_tensor(p)
    ),
    "source_anti_poisson": broken(
        gm.CoadjointGroupoid, ROTATIONS, poisson_tensor=lambda self, p: -SO3_DUAL.poisson_tensor(p)
    ),
    "anchor_is_poisson": broken(
        gm.CoadjointGroupoid, ROTATIONS, poisson_tensor=lambda self, p: -SO3_DUAL.poisson_tensor(p)
    ),
    "kernels_agree": broken(gm.CotangentGroupoid, gm.GroupGroupoid(ROTATIONS), symplectic_form=without_twist),
    "orthogonals_meet": broken(
        gm.CoadjointGroupoid, ROTATIONS, symplectic_form=lambda self, g: SO3_DUAL.symplectic_form(g).at[:3].set(0.0)
    ),
    "end_momenta": broken(gm.CotangentGroupoid, gm.GroupGroupoid(ROTATIONS), source=_opposite_source),
    "cotangent_product": broken(
        gm.CotangentGroupoid,
        gm.GroupGroupoid(ROTATIONS),
        multiply=lambda self, x, y: (CANONICAL.multiply(x, y)[0], x[1]),
    ),
}
