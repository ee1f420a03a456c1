"""The groupoids that the laws of bisections are checked on, and the broken ones that they must reject."""

import jax.numpy as jnp
from laws.subjects import broken, unchecked

import groupoid_mech as gm


def turned(q, R):
    return R.T @ q


PLANE = gm.Euclidean(2)

BISECTION_SUBJECTS = {
    "pair(R2)": gm.PairGroupoid(PLANE),
    "pair(S2)": gm.PairGroupoid(gm.Sphere(2)),
    "SO3": gm.GroupGroupoid(gm.SO3()),
    "S2:SO3": unchecked(lambda: gm.ActionGroupoid(gm.Sphere(2), gm.SO3(tau="cayley"), turned)),
    "gauge(R2,SO2)": gm.GaugeGroupoid(PLANE, gm.SO2()),
    "pair(R2)xSO3": gm.ProductGroupoid(gm.PairGroupoid(PLANE), gm.GroupGroupoid(gm.SO3(tau="cayley"))),
    "time(pair(R2))": gm.TimeExtended(gm.PairGroupoid(PLANE)),
}

# Coordinates that are not centred: Newton's method solves for another point than the one asked for.
shifted_coordinates = gm.PairGroupoid(broken(gm.Euclidean, 2, local=lambda self, x, y: y - x + 0.1))

# A retraction that does not start at the arrow: the submanifold passes beside it.
shifted_retraction = gm.PairGroupoid(broken(gm.Euclidean, 2, retract=lambda self, x, xi: x + xi + 0.1 * jnp.sin(x)))

# A product that is neither associative nor has two-sided units.
subtraction = broken(gm.GroupGroupoid, gm.Translations(2), multiply=lambda self, g, h: g - h)

no_inverse = broken(gm.GroupGroupoid, gm.Translations(2), inverse=lambda self, g: g)

wandering_product = broken(gm.PairGroupoid, PLANE, multiply=lambda self, g, h: (g[0] + 0.1 * g[1], h[1]))

doubled_tangent = broken(
    gm.PairGroupoid, PLANE, tangent_target=lambda self, g: 2 * gm.PairGroupoid(PLANE).tangent_target(g)
)

BISECTION_CONTROLS = {
    "bisection_through_arrow": shifted_retraction,
    "bisection_sections": shifted_coordinates,
    "bisection_base_map": shifted_coordinates,
    "bisection_actions_inverse": no_inverse,
    "bisection_product": wandering_product,
    "bisections_associate": subtraction,
    "bisection_inverse": no_inverse,
    "left_actions_compose": subtraction,
    "right_actions_compose": subtraction,
    "bisection_actions_commute": subtraction,
    "tangent_of_multiplication": doubled_tangent,
}
