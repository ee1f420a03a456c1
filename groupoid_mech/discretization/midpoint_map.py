r"""The midpoint map of a manifold that is retracted along geodesics. BM Example 2.8."""

from typing import final

from groupoid_mech._arguments import is_concrete, require_instances
from groupoid_mech._types import Point, Vector
from groupoid_mech.discretization.discretization_map import DiscretizationMap
from groupoid_mech.discretization.retraction import ChartMap
from groupoid_mech.discretization.surveyed_form import surveyed_form
from groupoid_mech.errors import ArgumentError
from groupoid_mech.groupoids.chart_form import Form, known_form
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.known_coordinates import point_in_the_middle
from groupoid_mech.manifolds.manifold import Manifold


@final
class MidpointMap(DiscretizationMap):
    r"""The map :math:`R(x, v) = (\operatorname{retract}(x, -v/2), \operatorname{retract}(x, v/2))`, its own adjoint.

    The `ThetaMap` with θ = ½. Its inverse, the middle of a geodesic and the velocity there, is in closed form on spheres (`point_in_the_middle`),
    and shorter than for a θ that is known only when the step is taken. `theta_map` makes one where it finds the retraction straight.

    Args:
        manifold: The manifold Q, retracted along geodesics or one-parameter groups: :math:`\operatorname{retract}(x, t\xi)` is one.
        form: What is known about its chart (`known_form`); if nothing is, it is found out on a drawn arrow.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Sphere
        >>> east, north = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 0.0, 1.0])
        >>> MidpointMap(Sphere(2)).inverse((east, north))[0].round(6)
        Array([0.707107, 0.      , 0.707107], dtype=float64)
    """

    manifold: Manifold
    groupoid: PairGroupoid

    def __init__(self, manifold: Manifold, *, form: Form | None = None):
        require_instances("MidpointMap", "manifold", (manifold,), Manifold)
        self.manifold = manifold
        self.groupoid = PairGroupoid(manifold)
        known = form if form is not None else known_form(manifold)
        if known is None and is_concrete(manifold):
            known = surveyed_form(ChartMap(manifold))
        if known is not None and not known.straight:
            raise ArgumentError(
                f"MidpointMap needs a manifold that is retracted along geodesics or one-parameter groups; the chart of "
                f"{type(manifold).__name__} is not. Take theta_map(manifold, 0.5), which finds the middle by Newton's method."
            )

    def arrow(self, x: Point, v: Vector) -> Point:
        return self.manifold.retract(x, -0.5 * v), self.manifold.retract(x, 0.5 * v)

    def inverse(self, g: Point) -> tuple[Point, Vector]:
        x, y = g
        return point_in_the_middle(self.manifold, x, y, self.manifold.local(x, y))

    def adjoint(self) -> "MidpointMap":
        return self
