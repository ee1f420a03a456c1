r"""Methods from cotangent lifts are Poisson maps of :math:`A^*G`, symplectic on :math:`T^*Q`: on drawn Hamiltonians, by exact derivatives.

The Hamiltonians mix points and momenta and are not quadratic. On curved spaces they are functions of the momentum in ambient form, as frames
jump. Their coefficients are data, and so are θ and the weights of compositions: one program for all draws.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import dot
from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.poisson_map import poisson_defect

EXACT = 1e-12
WRONG = 1e-6
DRAWS = 4
DT = 0.1

R2, S2, SO3, CAYLEY = gm.Euclidean(2), gm.Sphere(2), gm.SO3(), gm.SO3(tau="cayley")
SPACES = {
    "T*R2": PairGroupoid(R2),
    "T*S2": PairGroupoid(S2),
    "T*SO3": PairGroupoid(SO3),
    "T*SO3 cayley": PairGroupoid(CAYLEY),
    "so3*": gm.GroupGroupoid(SO3),
    "so3* cayley": gm.GroupGroupoid(CAYLEY),
}


class Drawn(eqx.Module):
    """The Hamiltonian ½p² + ⅖uw + u²w²/10 + w³/10 + u/2 of a drawn u, linear in the point, and w, linear in the momentum in ambient form."""

    numbers: Any
    manifold: Manifold | None

    def __call__(self, q, p):
        return dot(p, p) / 2 + waves(self.numbers, q, p if self.manifold is None else self.manifold.to_ambient(q, p))


def waves(numbers, q, p):
    x, P = jnp.ravel(q), jnp.ravel(p)
    u = dot(numbers[0, : x.size], x) if x.size else 0.7
    w = dot(numbers[1, : P.size], P)
    return 0.4 * u * w + 0.1 * (u * w) ** 2 + 0.1 * w**3 + 0.5 * u


def drawn(numbers, G):
    return Drawn(numbers, G.base if isinstance(G, PairGroupoid) else None)


class DrawnLagrangian(eqx.Module):
    """The same function of velocities, less of it."""

    function: Drawn

    def __call__(self, q, v):
        return dot(v, v) / 3 + self.function(q, v) / 3


class Growing(eqx.Module):
    """A kinetic energy that is not quadratic: a function of |p|² alone, which no turn of a frame changes."""

    numbers: Any

    def __call__(self, p):
        square = dot(p, p)
        return square * (0.5 + 0.1 * self.numbers[1, 0] + 0.1 * square)


class Potential(eqx.Module):
    numbers: Any

    def __call__(self, q):
        return waves(self.numbers, q, jnp.ones(1))


# ------------------------------------------------------------------------------------------ methods

THETAS = jnp.array([0.5, 0.3, 0.0, 0.5])
WEIGHTS = jnp.stack(
    [jnp.asarray(row) for row in (gm.triple_jump(4), [0.2, 0.5, 0.3], gm.triple_jump(4), [0.6, -0.5, 0.9])]
)


def of_map(make):
    return lambda numbers, G, k: gm.hamiltonian_integrator(drawn(numbers, G), make(G, k), DT)


def theta(G, k):
    return eqx.tree_at(lambda R: R.theta, gm.ThetaMap(G, 0.5), THETAS[k])


def verlet(numbers, G, k):
    return gm.stormer_verlet(drawn(numbers, G), G, DT)


def composed(numbers, G, k):
    """The triple jump of the midpoint rule and other symplectic diagonally implicit methods."""
    return gm.symplectic_dirk(drawn(numbers, G), G, WEIGHTS[k], DT)


def split(numbers, G, k):
    return gm.splitting(gm.Separable(Growing(numbers), Potential(numbers)), G, gm.splitting_weights(4), DT)


def galerkin(numbers, G, k):
    return gm.SystemIntegrator(gm.galerkin_system(DrawnLagrangian(drawn(numbers, G)), G, DT, stages=2))


def hilly(q):
    """A metric of the plane that is not flat."""
    return jnp.array([[1.0, 0.2], [0.2, 1.5]]) * (1 + 0.3 * q[0] ** 2)


def swollen(q):
    """A metric of the sphere that is not round: the same in all directions, as frames jump."""
    return (1 + 0.3 * q[0] ** 2) * jnp.eye(2)


def inertia(q):
    """A metric of SO(3) that turns with the rotation, and is not the same everywhere."""
    return jnp.diag(jnp.array([1.0, 1.5, 2.0])) * (1 + 0.1 * q[0, 1])


# On a group as many that the Runge–Kutta steps do not leave it by more than round-off: logarithms are differentiated as on the group.
GEODESICS = {
    R2: gm.GeodesicMap(R2, hilly, steps=4),
    S2: gm.GeodesicMap(S2, swollen, steps=4),
    SO3: gm.GeodesicMap(SO3, inertia, steps=32),
}


METHODS = {
    "theta": of_map(theta),
    "adjoint": of_map(lambda G, k: gm.theta_map(G, 1)),
    "midpoint": of_map(lambda G, k: MidpointMap(G.base)),
    "projection": of_map(lambda G, k: gm.ProjectionMap(G.base)),
    "projection, in the middle": of_map(lambda G, k: gm.ThetaMap(gm.ProjectionMap(G.base), 0.5)),
    "geodesics": of_map(lambda G, k: GEODESICS[G.base]),
    "round geodesics": of_map(lambda G, k: gm.GeodesicMap(G.base, steps=4)),
    "geodesics, in the middle": of_map(lambda G, k: gm.ThetaMap(GEODESICS[G.base], 0.5)),
    "verlet": verlet,
    "composed": composed,
    "splitting": split,
    "galerkin": galerkin,
}


def measured(P, make, G):
    """The defects for all draws of coefficients and of a point."""
    rng = np.random.default_rng(17)
    numbers, momenta = rng.uniform(-1, 1, (DRAWS, 2, 9)), rng.uniform(-1, 1, (DRAWS, G.rank))
    points = jax.vmap(G.base.random_point)(jax.random.split(jax.random.key(5), DRAWS))

    @eqx.filter_jit
    def defects(*draws):
        return jax.lax.map(lambda draw: poisson_defect(P, P, make(draw[0], G, draw[2]), draw[1]), draws)

    return np.asarray(defects(jnp.asarray(numbers), (points, jnp.asarray(momenta)), jnp.arange(DRAWS)))


# The laws check θ-maps on all of these spaces. Compilation is the cost: the default run has the further kinds on the plane, the slow one some
# on curved spaces.
DEFAULT = {"T*R2": ("composed", "splitting", "galerkin")}
SLOW = {"T*S2": ("projection", "composed"), "T*SO3": ("composed",)}
EXTENDED = {
    "T*R2": ("theta", "adjoint", "verlet", "geodesics", "geodesics, in the middle"),
    "T*S2": (
        "theta",
        "adjoint",
        "midpoint",
        "projection, in the middle",
        "verlet",
        "splitting",
        "galerkin",
        "geodesics",
        "geodesics, in the middle",
        "round geodesics",
    ),
    "T*SO3": ("theta", "adjoint", "verlet", "splitting", "galerkin", "geodesics"),
    "T*SO3 cayley": ("theta", "verlet", "composed", "galerkin"),
    "so3*": ("theta", "verlet", "composed"),
    "so3* cayley": ("theta", "composed", "galerkin"),
}
CASES = [
    pytest.param(space, name, marks=marks)
    for spaces, marks in ((DEFAULT, ()), (SLOW, pytest.mark.slow), (EXTENDED, pytest.mark.extended))
    for space, names in spaces.items()
    for name in names
]


@pytest.mark.parametrize(("space", "name"), CASES)
def test_methods_of_cotangent_lifts_are_poisson(space, name):
    G = SPACES[space]
    on_bundle = isinstance(G, PairGroupoid)
    P = CanonicalPoisson(gm.CotangentBundle(G.base)) if on_bundle else LinearPoisson(gm.GroupoidAlgebroid(G))
    defects = measured(P, METHODS[name], G)
    assert np.all(defects <= EXACT), defects


@pytest.mark.parametrize(
    "space",
    ["T*R2", pytest.param("T*S2", marks=pytest.mark.extended), pytest.param("T*SO3", marks=pytest.mark.extended)],
)
def test_fields_at_both_ends_are_not_symplectic(space):
    """BM Remark 5.5: with the same cotangent lift, symmetric and of order 2."""
    G = SPACES[space]
    P = CanonicalPoisson(gm.CotangentBundle(G.base))

    def at_both_ends(numbers, G, k):
        H = drawn(numbers, G)
        return gm.EndpointIntegrator(P.hamiltonian_field(lambda x: H(*x)), gm.CotangentLift(gm.theta_map(G, 0.5)), DT)

    defects = measured(P, at_both_ends, G)
    assert np.all(defects > 100 * EXACT), defects
    assert np.median(defects) > WRONG, defects
