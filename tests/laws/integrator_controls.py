"""Methods and discrete gradients for the laws, and broken ones."""

import equinox as eqx
import jax.numpy as jnp
from laws.discretization_controls import at_theta
from laws.subjects import broken
from laws.symplectic_controls import TOP

import groupoid_mech as gm
from groupoid_mech.discretization.integrator import Taken
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.symplectic.linear_poisson import LinearPoisson

R1, R2, S2 = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2)
SO3, GROUP = gm.SO3(tau="cayley"), gm.GroupGroupoid(gm.SO3())
DT = 0.1


class Kinetic(eqx.Module):
    """A kinetic energy, with different masses where the frame does not jump, and a potential of the first coordinate."""

    spread: float = 0.5

    def __call__(self, q, p):
        x = jnp.concatenate([jnp.ravel(q), jnp.zeros(1)])
        return 0.5 * jnp.sum(p * p / (1 + self.spread * jnp.arange(p.size))) + 0.2 * jnp.sin(x[0])


class Spinning(eqx.Module):
    """A Lagrangian with different masses and a potential of the first coordinate."""

    def __call__(self, q, v):
        x = jnp.concatenate([jnp.ravel(q), jnp.zeros(1)])
        return 0.5 * jnp.sum(v * v * (1 + 0.5 * jnp.arange(v.size))) - 0.2 * jnp.sin(x[0])


def method(space, theta, spread=0.5):
    return gm.SystemIntegrator(gm.hamiltonian_system(Kinetic(spread), gm.theta_map(space, theta), DT))


def canonical(x):
    return Kinetic()(*x)


def on_sphere(x):
    return Kinetic(0.0)(*x)


def turning(x):
    """A vector field on the sphere; written in ambient form, as the frame jumps at the equator."""
    axis = jnp.stack([0.5 + x[0] ** 2, jnp.cos(x[1] + x[2]), 1.0 + x[2]])
    return S2.from_ambient(x, jnp.cross(axis, x))


T_R2, T_S2, DUAL = gm.CotangentBundle(R2), gm.CotangentBundle(S2), LinearPoisson(gm.GroupoidAlgebroid(GROUP))
PENDULUM = gm.Separable(lambda p: 0.5 * p[0] ** 2, lambda q: -jnp.cos(q[0]))
FALLING = gm.Separable(lambda p: 0.5 * jnp.sum(p * p), lambda q: q[2])
MIDPOINTS = {
    "T*R2": gm.ThetaMap(T_R2, 0.5),
    "T*S2": gm.CotangentLift(gm.ThetaMap(S2, 0.5)),
    "so3*": gm.ThetaMap(DUAL.manifold, 0.5),
}

HAMILTONIAN_METHODS = {
    "method R2": method(R2, 0.3),
    "method S2": method(S2, 0.5, spread=0.0),
    "method SO3 cayley": method(SO3, 0.5),
    "method so3*": method(GROUP, 0.5),
    "method SO3": method(gm.SO3(), 0.3),
    "method S2:SO3": method(TOP, 0.3),
    "method gauge": method(gm.GaugeGroupoid(R1, gm.SO3(tau="cayley")), 0.5),
}

OTHER_METHODS = {
    "field S2": gm.FieldIntegrator(turning, gm.ThetaMap(S2, 0.3), DT),
    "endpoint S2": gm.EndpointIntegrator(turning, gm.ThetaMap(S2, 0.3), DT),
    "verlet": gm.stormer_verlet(PENDULUM, R1, DT),
    "euler": gm.hamiltonian_integrator(PENDULUM, gm.theta_map(R1, 0), DT),
    "split": gm.splitting(PENDULUM, R1, gm.splitting_weights(4), DT),
    "galerkin": gm.SystemIntegrator(
        gm.galerkin_system(lambda q, v: jnp.sum(v * v) / 2 + jnp.cos(q[0]), R1, DT, stages=2)
    ),
    "galerkin so3*": gm.SystemIntegrator(gm.galerkin_system(Spinning(), GROUP, DT, stages=2)),
    "verlet S2": gm.stormer_verlet(Kinetic(0.0), S2, DT),
    "verlet SO3": gm.stormer_verlet(Kinetic(), SO3, DT),
    "split S2": gm.splitting(FALLING, S2, gm.splitting_weights(4), DT),
    "triple jump S2": gm.raise_order(method(S2, 0.5, spread=0.0), gm.triple_jump(4)),
    "dirk so3*": gm.symplectic_dirk(Kinetic(), GROUP, [0.3, 0.7], DT),
}

ENERGY_METHODS = {
    "energy T*R2": gm.EnergyIntegrator(
        canonical, gm.CanonicalPoisson(T_R2), gm.GonzalezGradient(MIDPOINTS["T*R2"]), DT
    ),
    "energy T*S2": gm.EnergyIntegrator(
        on_sphere, gm.CanonicalPoisson(T_S2), gm.GonzalezGradient(MIDPOINTS["T*S2"]), DT
    ),
    "energy so3*": gm.EnergyIntegrator(canonical, DUAL, gm.MeanGradient(MIDPOINTS["so3*"]), DT),
    "energy Itoh-Abe": gm.EnergyIntegrator(
        canonical, gm.CanonicalPoisson(T_R2), gm.ItohAbeGradient(at_theta(MIDPOINTS["T*R2"], 0.0)), DT
    ),
}

GRADIENTS = {
    f"{name} {kind.__name__}": kind(gm.ThetaMap(M, 0.5))
    for name, M in (("R2", R2), ("S2", S2), ("SO3", gm.SO3()))
    for kind in (gm.GonzalezGradient, gm.MeanGradient, gm.ItohAbeGradient)
}

DIFFERENCE_EQUATIONS = {
    "second order R2": gm.ThetaMap(R2, 0.3),
    "second order S2": gm.ChartMap(S2),
    "second order S2 projected": gm.ProjectionMap(S2),
    "second order SO3": gm.ChartMap(SO3),
}

# ------------------------------------------------------------------------------- broken ones


def _at_the_ends(self, x, memory):
    """BM Remark 5.5: the field at the ends of the step, with the cotangent lift; symmetric, of order 2, and not symplectic."""
    family = self.system.lagrangian
    bundle = gm.CotangentBundle(self.system.groupoid.base)
    field = gm.CanonicalPoisson(bundle).hamiltonian_field(lambda y: family.hamiltonian(*y))
    other = gm.EndpointIntegrator(field, gm.CotangentLift(family.map), self.dt)
    return other.advance(x, other.begin(x))[0], memory


def _by_the_adjoint(self, x, memory):
    return gm.SystemIntegrator(self.system).adjoint().advance(x, memory)


def _pushed(self, x, memory):
    taken, memory = gm.SystemIntegrator(self.system).advance(x, memory)
    return Taken((taken.point[0], 1.01 * taken.point[1]), *taken[1:]), memory


def _theta_arrow(self, x, v):
    return gm.ChartMap(S2).arrow(x, -0.3 * v)[1], gm.ChartMap(S2).arrow(x, 0.7 * v)[1]


def _plain(self, H, way):
    return frame_derivatives(self.map.groupoid.base, H, way.point)


def wavy(q, p):
    return 0.5 * jnp.sum(p * p) + jnp.sin(2 * q[0] + q[1]) * p[0]


PLANE = HAMILTONIAN_METHODS["method R2"].system
WAVY = gm.hamiltonian_system(wavy, gm.theta_map(R2, 0.5), 0.2)
UNCORRECTED = broken(gm.GonzalezGradient, MIDPOINTS["T*R2"], along=_plain)

INTEGRATOR_CONTROLS = {
    "method_poisson": broken(gm.SystemIntegrator, WAVY, advance=_at_the_ends),
    "family_is_lift": broken(gm.SystemIntegrator, PLANE, advance=_by_the_adjoint),
    "method_of_adjoint": broken(gm.SystemIntegrator, PLANE, adjoint=lambda self: self),
    "method_symmetric": gm.SystemIntegrator(PLANE),
    "routes_agree": broken(gm.SystemIntegrator, PLANE, advance=_by_the_adjoint),
    "composed_systems": broken(gm.SystemIntegrator, PLANE, advance=_pushed),
    "adjoint_inverts": broken(gm.FieldIntegrator, turning, gm.ThetaMap(S2, 0.3), DT, adjoint=lambda self: self),
    "second_order_commutes": broken(gm.ChartMap, S2, arrow=_theta_arrow),
    "discrete_gradient_rise": broken(gm.GonzalezGradient, gm.ThetaMap(S2, 0.5), along=_plain),
    "discrete_gradient_consistent": broken(
        gm.GonzalezGradient,
        MIDPOINTS["T*R2"],
        along=lambda self, H, way: 1.1 * gm.GonzalezGradient(self.map).along(H, way),
    ),
    "energy_kept": gm.EnergyIntegrator(lambda x: wavy(*x), gm.CanonicalPoisson(T_R2), UNCORRECTED, 0.2),
}
