r"""Methods for vector fields on a manifold from its discretization maps. BM (1.1), (4.1), (4.2)."""

from typing import Any, Self, final

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike

from groupoid_mech._arguments import as_pytree, describe, name_of, number, time_step, traced_shape
from groupoid_mech._types import Point, Scalar, Vector, VectorField
from groupoid_mech.discretization.discretization_map import DiscretizationMap, manifold_of
from groupoid_mech.discretization.integrator import Integrator, Taken, explicit
from groupoid_mech.discretization.keeps_point import keeps_point
from groupoid_mech.discretization.loose_ends import LooseEnds, loose_ends
from groupoid_mech.discretization.map_at_step import map_at_step
from groupoid_mech.discretization.step_search import StepSearch
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.smooth_chart import smooth_retract
from groupoid_mech.mechanics.system import parameters_as_arrays


class MapIntegrator(Integrator):
    r"""A method for a vector field X on M that a discretization map of M gives; subclasses give the equation of the step.

    Args:
        field: The vector field X, with values in the frame at the point.
        map: A discretization map of M; one that depends on the time step is taken at that of the method.
        dt: The time step.
    """

    field: VectorField
    map: DiscretizationMap
    dt: Scalar
    space: Manifold

    def __init__(self, field: VectorField, map: DiscretizationMap, dt: ArrayLike):
        owner = type(self).__name__
        self.space = manifold_of(owner, map, "of the manifold", "hamiltonian_integrator for Hamiltonian systems")
        self.field = require_field(owner, field, self.space)
        self.map = map
        self.dt = time_step(owner, dt)

    def with_step(self, dt: ArrayLike) -> Self:
        return eqx.tree_at(lambda method: method.dt, self, number(f"{type(self).__name__}.with_step", "dt", dt))

    def adjoint(self) -> Self:
        return eqx.tree_at(lambda method: method.map, self, self.map.adjoint())

    def arrow(self, x: Point) -> tuple[Point, Point]:
        r"""The pair :math:`R(x, dt\,X(x))`."""
        return map_at_step(self.map, self.dt).arrow(x, self.dt * self.field(x))

    def ends(self, x: Point) -> LooseEnds:
        """The ends of the arrows near x: what would have to be searched for them is searched with the step."""
        return loose_ends(map_at_step(self.map, self.dt), x)


@final
class FieldIntegrator(MapIntegrator):
    r"""The method :math:`(x_k, x_{k+1}) = R(y, dt\,X(y))` for a vector field X on M; BM (1.1).

    The equivalent :math:`dt\,X(y) = v`, :math:`(y, v) = R^{-1}(x_k, x_{k+1})` is BM (4.2) for second-order equations, where M = TQ, and BM (5.2)
    for a Hamiltonian field on T*Q. Euler's methods, the midpoint rule and the θ-method are cases. No inverse of R is needed: the unknown is
    the point y. For a retraction y is :math:`x_k`: the step is explicit. With a `LagrangianLift` it is BM (5.3): :math:`R^1` is compared with
    :math:`x_k` by momenta, and the velocity of :math:`x_{k+1}` is sought with y.

    Args:
        field: The vector field X, with values in the frame at the point.
        map: A discretization map of M.
        dt: The time step.

    Example:
        >>> import groupoid_mech as gm
        >>> turn = lambda x: jnp.array([-x[1], x[0]])
        >>> midpoint = FieldIntegrator(turn, gm.theta_map(gm.Euclidean(2), 0.5), dt=0.1)
        >>> end = midpoint.run(jnp.array([1.0, 0.0]), 1000).end
        >>> bool(jnp.abs(end @ end - 1) < 1e-13)
        True
    """

    def begin(self, x: Point) -> StepSearch | None:
        return None if keeps_point(self.map) else StepSearch(jnp.zeros(self.space.dim + self.ends(x).searched))

    def advance(self, x: Point, memory: Any) -> tuple[Taken, Any]:
        if keeps_point(self.map):
            return explicit(self.arrow(x)[1]), memory
        ends, n = self.ends(x), self.space.dim
        image = ends.image(x)

        def equations(unknowns: Vector) -> tuple[Vector, Point]:
            y = smooth_retract(self.space, x, unknowns[:n])
            start, end = ends.arrow(y, self.dt * self.field(y))
            point, off = ends.point(end, unknowns[n:])
            return jnp.concatenate([ends.gap(image, start), off]), point

        # Remembered are the coordinates of y at the last point, and what was searched for the end: they change little from step to step.
        found, known = memory.solve(equations, self.space, x)
        taken = Taken(found.values, found.residual, found.iterations, found.converged)
        return taken, known.carried(self.space, x, taken.point)


@final
class EndpointIntegrator(MapIntegrator):
    r"""The method :math:`R^2(x_k, dt\,X(x_k)) = R^1(x_{k+1}, dt\,X(x_{k+1}))` for a vector field X on M; BM (4.1).

    The field is evaluated at the ends of the step: the trapezoidal rule on :math:`R^n`, the method of Newmark with `newmark_map`. For a
    retraction, where :math:`R^1(x_{k+1}, \cdot) = x_{k+1}`, the step is explicit. For a Hamiltonian field the method is not symplectic, even
    with a cotangent lift (BM Remark 5.5).

    Args:
        field: The vector field X, with values in the frame at the point.
        map: A discretization map of M.
        dt: The time step.

    Example:
        >>> import groupoid_mech as gm
        >>> trapezoid = EndpointIntegrator(lambda x: -x, gm.theta_map(gm.Euclidean(1), 0.5), dt=0.2)
        >>> trapezoid(jnp.ones(1)).round(12) == jnp.round(0.9 / 1.1, 12)
        Array([ True], dtype=bool)
    """

    def begin(self, x: Point) -> StepSearch | None:
        return None if keeps_point(self.map) else StepSearch(self.dt * self.field(x))

    def advance(self, x: Point, memory: Any) -> tuple[Taken, Any]:
        if keeps_point(self.map):
            return explicit(self.arrow(x)[1]), memory
        ends = self.ends(x)
        middle = ends.arrow(x, self.dt * self.field(x))[1]

        def equations(w: Vector) -> tuple[Vector, Point]:
            end = smooth_retract(self.space, x, w)
            return ends.gap(middle, ends.arrow(end, self.dt * self.field(end))[0]), end

        found, known = memory.solve(equations, self.space, x)
        taken = Taken(found.values, found.residual, found.iterations, found.converged)
        return taken, known.carried(self.space, x, taken.point)


@final
class SecondOrderField(eqx.Module):
    r"""The second-order field :math:`\Gamma(q, v) = (v, f(q, v))` on TQ: :math:`\dot q = v,\ \dot v = f(q, v)`, in the frame of Q.

    Args:
        acceleration: The function ``f(q, v)``; on a manifold the derivative of the frame components of the velocity.
    """

    acceleration: Any

    def __init__(self, acceleration: Any):
        self.acceleration = parameters_as_arrays(as_pytree(acceleration))

    def __call__(self, x: Point) -> Vector:
        q, v = x
        return jnp.concatenate([v, self.acceleration(q, v)])


def require_field(owner: str, field: VectorField, M: Manifold) -> Any:
    """The vector field as a pytree; refused if its value is not a vector in the frame of M."""
    shape = traced_shape(field, M.point_like())
    if getattr(shape, "shape", None) != (M.dim,):
        raise ArgumentError(
            f"{owner} needs field(x) to return the {M.dim} components in the frame of {M}; {name_of(field)} returns {describe(shape)}."
        )
    return parameters_as_arrays(as_pytree(field))
