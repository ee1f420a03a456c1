"""The morphisms that their laws are checked on, and the broken ones that the laws must reject."""

import jax.numpy as jnp
from laws.bisection_controls import BISECTION_SUBJECTS
from laws.subjects import broken, unchecked

import groupoid_mech as gm
from groupoid_mech.groupoids import canonical_morphisms as canonical
from groupoid_mech.groupoids.isomorphism import Isomorphism, gauge_isomorphism, sphere_isomorphism
from groupoid_mech.groupoids.morphism import Morphism

SPHERE_ACTION, PLATE_BALL = BISECTION_SUBJECTS["S2:SO3"], BISECTION_SUBJECTS["pair(R2)xSO3"]

ISOMORPHISMS = {
    "gauge(S2,SO2)=pair(S2)xSO2": unchecked(lambda: gauge_isomorphism(gm.Sphere(2), gm.SO2())),
    "(SO3xSO3):SO2=S2:SO3": unchecked(sphere_isomorphism),
}

MORPHISM_SUBJECTS = {
    "pair(SO3)->SO3": unchecked(lambda: canonical.pair_to_group(gm.SO3())),
    "pair(R2xSO2)->gauge": unchecked(lambda: canonical.pair_to_gauge(gm.Euclidean(2), gm.SO2())),
    "anchor of S2:SO3": unchecked(lambda: canonical.anchor_morphism(SPHERE_ACTION)),
    "pair(R2)xSO3->pair(R2)": unchecked(lambda: canonical.projection(PLATE_BALL, 0)),
    "pair(R2)xSO3->SO3": unchecked(lambda: canonical.projection(PLATE_BALL, 1)),
    "S3->SO3": unchecked(
        lambda: canonical.group_morphism(gm.UnitQuaternions(), gm.SO3(), gm.UnitQuaternions().adjoint)
    ),
    "S2:SO3->SO3": unchecked(lambda: canonical.action_morphism(SPHERE_ACTION)),
    "gauge(S2,SO2)->pair(S2)xSO2": unchecked(lambda: canonical.gauge_to_product(gm.Sphere(2), gm.SO2())),
    "pair(S2)xSO2->gauge(S2,SO2)": unchecked(lambda: canonical.product_to_gauge(gm.Sphere(2), gm.SO2())),
    "pair(SO3)->S2:SO3": unchecked(lambda: canonical.rotations_to_sphere()),
    "(SO3xSO3):SO2->S2:SO3": ISOMORPHISMS["(SO3xSO3):SO2=S2:SO3"].forward,
}

TO_GROUP = unchecked(lambda: canonical.pair_to_group(gm.SO3()))
ENDS = unchecked(lambda: canonical.anchor_morphism(SPHERE_ACTION))


def broken_copy(Phi, **methods):
    """A morphism that is right when it is built, with some methods replaced afterwards."""
    return unchecked(lambda: broken(Morphism, Phi.domain, Phi.codomain, Phi.map, **methods))


# (R0, R1) ↦ R1 R0⁻¹ reverses products, and takes left-invariant fields to right-invariant ones.
reversing = broken_copy(TO_GROUP, __call__=lambda self, g: g[1] @ g[0].T)

squaring = broken_copy(TO_GROUP, __call__=lambda self, g: g[0].T @ g[1] @ g[0].T @ g[1] @ g[0])

doubled = broken_copy(ENDS, algebroid_map=lambda self, q: 2 * ENDS.algebroid_map(q))

# −AΦ of a group: anchors over a point say nothing, brackets change their sign.
opposite = broken_copy(TO_GROUP, algebroid_map=lambda self, q: -TO_GROUP.algebroid_map(q))

# (x₀, x₁, h) ↦ ((x₀, x₁), h⁻¹): a morphism, since SO(2) commutes, with another inverse.
GAUGE = ISOMORPHISMS["gauge(S2,SO2)=pair(S2)xSO2"]
not_inverse = Isomorphism(broken_copy(GAUGE.forward, __call__=lambda self, g: ((g[0], g[1]), g[2].T)), GAUGE.backward)

MORPHISM_CONTROLS = {
    "morphism_ends": broken_copy(ENDS, base_map=lambda self, q: -q),
    "morphism_products": reversing,
    "morphism_units": squaring,
    "morphism_inverses": squaring,
    "algebroid_map_anchors": doubled,
    "algebroid_map_brackets": opposite,
    "morphism_relates_left_fields": doubled,
    "morphism_relates_right_fields": doubled,
    "related_covectors_have_related_momenta": broken_copy(
        ENDS, tangent=lambda self, g: ENDS.tangent(g) + jnp.ones((4, 5))
    ),
    "isomorphism": not_inverse,
}
