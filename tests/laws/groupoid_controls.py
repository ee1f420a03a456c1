"""Lie groupoids for the laws, and broken ones."""

from laws.subjects import broken
from laws.symplectic_controls import PLANE_PAIR, PLATE_BALL, TOP

import groupoid_mech as gm

GROUPOIDS = {
    "pair(R2)": PLANE_PAIR,
    "pair(S2)": gm.PairGroupoid(gm.Sphere(2)),
    "group SO3": gm.GroupGroupoid(gm.SO3()),
    "group SE3": gm.GroupGroupoid(gm.SE3(tau="cayley")),
    "S2xSO3": TOP,
    "gauge": gm.GaugeGroupoid(gm.Sphere(2), gm.SO3()),
    "sphere gauge": gm.SphereGaugeGroupoid(),
    "plate-ball": PLATE_BALL,
    "time": gm.TimeExtended(TOP),
    "checked": gm.Checked(TOP),
}

S2 = gm.Sphere(2)
PLANE, LINE = gm.Euclidean(2), gm.GroupGroupoid(gm.Translations(2))


def _on_the_plane(**methods):
    return broken(gm.PairGroupoid, PLANE, **methods)


def _on_the_line(**methods):
    return broken(gm.GroupGroupoid, gm.Translations(2), **methods)


overshooting = _on_the_plane(multiply=lambda self, g, h: (g[0], 2 * h[1] - h[0]))
undershooting = _on_the_plane(multiply=lambda self, g, h: (2 * g[0] - g[1], h[1]))
forgetful = _on_the_plane(inverse=lambda self, g: (g[1], 2 * g[0]))
bent_left = _on_the_line(multiply=lambda self, g, h: g + h + g * h**2)
bent_right = _on_the_line(multiply=lambda self, g, h: g + h + g**2 * h)
subtracting = _on_the_line(multiply=lambda self, g, h: g - h)

CONTROLS = {
    "product_ends": _on_the_plane(multiply=lambda self, g, h: (h[0], g[1])),
    "product_stays": broken(gm.PairGroupoid, S2, multiply=lambda self, g, h: (1.01 * g[0], h[1])),
    "arrows_associate": subtracting,
    "unit_ends": broken(gm.PairGroupoid, S2, unit=lambda self, q: (q, -q)),
    "unit_multiply": subtracting,
    "inverse_arrow": _on_the_line(inverse=lambda self, g: g),
    "translations": _on_the_line(inverse=lambda self, g: g),
    "fiber_chart": _on_the_plane(fiber_local=lambda self, q, g: q - g[1]),
    "left_field_invariant": bent_left,
    "right_field_invariant": bent_right,
    "anchor_of_left_field": overshooting,
    "anchor_of_right_field": undershooting,
    "fields_at_unit": overshooting,
    "inverse_swaps_fields": forgetful,
    "tangent_inverse_at_unit": _on_the_plane(inverse=lambda self, g: (2 * g[1] - g[0], g[0])),
    "variation_in_between": bent_left,
}
