"""What the examples of the papers speak about, for the laws that state them, and broken ones."""

import jax
import jax.numpy as jnp
from laws.discretization_controls import PLANE, PROJECTED, ROTATIONS, SPHERE, at_theta, by_newton, without_involution
from laws.integrator_controls import DT, Kinetic, Spinning
from laws.subjects import broken, unchecked

import groupoid_mech as gm
from groupoid_mech.discretization.integrator import explicit
from groupoid_mech.discretization.midpoint_map import MidpointMap

R1, R2, S2, SO3 = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2), gm.SO3(tau="cayley")
MIDPOINT = at_theta(PLANE, 0.5)
LINE = gm.ThetaMap(R1, 0.3)
MIDDLE = at_theta(LINE, 0.5)
EULER, IMPLICIT = gm.ChartMap(R1), gm.ChartMap(R1).adjoint()
FALLING = gm.Separable(lambda p: jnp.sum(p * p) / 2, lambda q: q[0])


def pulled(q, v):
    return -q


def turning(x):
    return jnp.concatenate([x[1], -x[0]])


def newmark(space):
    R = unchecked(lambda: gm.newmark_map(space, 0.2, 0.6, DT))
    return gm.EndpointIntegrator(gm.SecondOrderField(pulled), R, DT)


def second_order(R):
    """Both methods of the tangent lift of a map: with the field at the ends, and in the middle."""
    field, lift = gm.SecondOrderField(pulled), gm.TangentLift(R)
    return gm.EndpointIntegrator(field, lift, DT), gm.FieldIntegrator(field, lift, DT)


def on_momenta(R):
    return gm.EndpointIntegrator(turning, gm.CotangentLift(R), DT)


def on_velocities(R):
    Q = R.groupoid.base
    return gm.FieldIntegrator(gm.LagrangianField(Spinning(), Q), gm.LagrangianLift(R, Spinning()), DT)


def hamiltonian(R):
    return gm.SystemIntegrator(gm.hamiltonian_system(Kinetic(0.0), R, DT))


def lagrangian(R):
    return gm.SystemIntegrator(gm.lagrangian_system(Spinning(), R, DT))


def with_inner_node(space):
    halves = [gm.lagrangian_system(Spinning(), gm.theta_map(space, theta), DT / 2) for theta in (0, 1)]
    return gm.SystemIntegrator(gm.compose_systems(*halves))


AT_THE_ENDS, IN_THE_MIDDLE = second_order(MIDDLE)
INNER_NODE, PROJECTION = with_inner_node(R1), hamiltonian(gm.ProjectionMap(S2))

EXAMPLES = {
    "example 2.7": PLANE,
    "example 2.8": MidpointMap(S2),
    "example 2.8 projection": gm.ProjectionMap(S2),
    "example 2.9": unchecked(lambda: gm.ThetaMap(gm.SO3(), 0.5)),
    "example 3.10": gm.TangentLift(PLANE),
    "example 3.10 cotangent": gm.CotangentLift(PLANE),
    "example 3.11": gm.TangentLift(gm.ChartMap(S2)),
    "example 3.11 cotangent": gm.CotangentLift(gm.ChartMap(S2)),
    "example 3.12": gm.TangentLift(gm.ChartMap(SO3)),
    "example 3.12 cotangent": gm.CotangentLift(gm.ChartMap(SO3)),
    "example 4.1 ends": AT_THE_ENDS,
    "examples 4.1, 5.9": IN_THE_MIDDLE,
    "newmark": newmark(R1),
    "example 5.4": gm.CotangentLift(gm.ProjectionMap(S2)),
    "example 5.4 method": PROJECTION,
    "remark 5.5": on_momenta(MIDDLE),
    "example 5.10": lagrangian(MIDDLE),
    "inner node": INNER_NODE,
}

# The same formulas for other θ, groups and dimensions.
SLOW_EXAMPLES = {
    "example 2.7 explicit": EULER,
    "example 2.7 implicit": IMPLICIT,
    "example 2.7 midpoint": MIDPOINT,
    "example 2.8 theta": SPHERE,
    "example 2.8 exp": gm.ChartMap(S2),
    "example 2.8 S3": unchecked(lambda: gm.ThetaMap(gm.Sphere(3), 0.7)),
    "example 2.8 projected": PROJECTED,
    "example 2.9 cayley": ROTATIONS,
    "example 2.9 SE2": by_newton(gm.SE2(), 0.5),
    "example 2.9 SE3": by_newton(gm.SE3(tau="cayley"), 0.3),
    "example 2.9 Heisenberg": gm.ChartMap(gm.Heisenberg()),
    "example 3.10 midpoint": gm.TangentLift(MIDPOINT),
    "example 3.10 implicit": gm.CotangentLift(gm.ChartMap(R2).adjoint()),
    "example 3.11 S3": gm.TangentLift(gm.ChartMap(gm.Sphere(3))),
    "example 3.11 S3 cotangent": gm.CotangentLift(gm.ChartMap(gm.Sphere(3))),
    "example 4.1 ends R2": second_order(MIDPOINT)[0],
    "examples 4.1, 5.9 R2": second_order(MIDPOINT)[1],
    "newmark R2": newmark(R2),
    "example 5.2": hamiltonian(MIDPOINT),
    "example 5.3": hamiltonian(gm.ChartMap(R2).adjoint()),
    "example 5.3 explicit": gm.hamiltonian_integrator(FALLING, gm.ChartMap(R2).adjoint(), DT),
    "example 5.4 method S3": hamiltonian(gm.ProjectionMap(gm.Sphere(3))),
    "remark 5.5 R2": on_momenta(MIDPOINT),
    "example 5.9 by the Lagrangian": on_velocities(MIDPOINT),
    "example 5.10 R2": lagrangian(PLANE),
    "example 6.1 R1": gm.stormer_verlet(Kinetic(), R1, DT),
    "example 6.1 R2": gm.stormer_verlet(Kinetic(), R2, DT),
    "example 6.1 separable": gm.stormer_verlet(FALLING, R2, DT),
    "inner node R2": with_inner_node(R2),
}

# ------------------------------------------------------------------------------- broken ones


def _from_the_start(self, x, v):
    """The retraction itself, where the point should be in the middle."""
    return x, self.groupoid.base.retract(x, v)


def _from_the_left(self, A, v):
    return SO3.cayley(-v / 2) @ A, SO3.cayley(v / 2) @ A


def _momenta_kept(self, x, w):
    (q, p), u = x, w[: self.manifold.dim]
    q0, q1 = self.map.arrow(q, u)
    return (q0, p), (q1, p)


def _force_by_difference(self, g):
    """The inverse of a lift with p₁ and p₁ − p₀ in the frames where they are."""
    (q0, p0), (q1, p1) = g
    return (q0, p1), jnp.concatenate([self.map.inverse((q0, q1))[1], p1 - p0])


def _explicit_euler(self, x, memory):
    (q, v), w = x, self.dt * self.field(x)
    return explicit((q + w[: q.size], v + w[q.size :])), memory


def _explicit_hamiltonian(self, x, memory):
    force, speed = jax.grad(self.system.lagrangian.hamiltonian, argnums=(0, 1))(*x)
    return explicit((x[0] + self.dt * speed, x[1] - self.dt * force)), memory


def _free(self, x, memory):
    q, p = x
    return explicit((self.space.base.retract(q, self.dt * p), p)), memory


def _nothing(self, x):
    return ()


def _at_once(self, x, memory):
    """All parts from the same point, the changes added."""
    ends = [part.advance(x, part.begin(x))[0].point for part in self.methods]
    return explicit(jax.tree.map(lambda a, *b: sum(b, (1 - len(b)) * a), x, *ends)), memory


def _stepping(system, advance):
    return broken(gm.SystemIntegrator, system, advance=advance, begin=_nothing)


def _euler_instead(method):
    return broken(type(method), method.field, method.map, DT, advance=_explicit_euler, begin=_nothing)


ON_THE_LEFT, EXPLICIT = broken(MidpointMap, gm.SO3(), arrow=_from_the_left), _euler_instead(IN_THE_MIDDLE)

EXAMPLE_CONTROLS = {
    "vector_space_map": broken(MidpointMap, R2, arrow=_from_the_start),
    "sphere_map": broken(MidpointMap, S2, arrow=_from_the_start),
    # The exponential is another retraction.
    "sphere_projection_map": broken(gm.ProjectionMap, S2, arrow=_from_the_start),
    "group_map": ON_THE_LEFT,
    "rotations_map": ON_THE_LEFT,
    "vector_space_tangent_lift": broken(gm.TangentLift, PLANE, arrow=without_involution),
    # The momenta of the tangent lift are taken at the same θ, not at 1 − θ.
    "vector_space_cotangent_lift": broken(
        gm.CotangentLift, PLANE, arrow=lambda self, x, w: gm.TangentLift(self.map).arrow(x, w)
    ),
    "sphere_tangent_lift": broken(gm.TangentLift, gm.ChartMap(S2), arrow=without_involution),
    "sphere_cotangent_lift": broken(gm.CotangentLift, gm.ChartMap(S2), arrow=_momenta_kept),
    "sphere_projection_cotangent_lift": broken(gm.CotangentLift, gm.ProjectionMap(S2), inverse=_force_by_difference),
    "rotations_tangent_lift": broken(gm.TangentLift, gm.ChartMap(SO3), arrow=without_involution),
    "rotations_cotangent_lift": broken(gm.CotangentLift, gm.ChartMap(SO3), arrow=_momenta_kept),
    "second_order_at_the_ends": _euler_instead(AT_THE_ENDS),
    "second_order_in_the_middle": EXPLICIT,
    "newmark": _euler_instead(EXAMPLES["newmark"]),
    "hamiltonian_at_the_ends": _euler_instead(EXAMPLES["remark 5.5"]),
    "lagrangian_midpoint_rule": EXPLICIT,
    "hamiltonian_theta_method": _stepping(hamiltonian(MIDDLE).system, _explicit_hamiltonian),
    "separable_euler": broken(
        gm.Composition, gm.hamiltonian_integrator(FALLING, EULER, DT).methods, DT, advance=_at_once
    ),
    "sphere_projection_method": _stepping(PROJECTION.system, _free),
    "lagrangian_theta_method": _stepping(EXAMPLES["example 5.10"].system, _free),
    "stormer_verlet": broken(gm.Composition, gm.stormer_verlet(FALLING, R1, DT).methods, DT, advance=_at_once),
    "lagrangian_with_inner_node": _stepping(INNER_NODE.system, _free),
}
