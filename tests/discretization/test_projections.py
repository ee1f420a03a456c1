"""Retractions by the nearest point: their inverses on every kind of manifold, steps as long as they reach, and what is refused beside them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.projected_vectors import projected_coordinates

EXACT = 1e-14

S2, R1, CIRCLE = gm.Sphere(2), gm.Euclidean(1), gm.Torus(1)
SO3, CAYLEY = gm.SO3(), gm.SO3(tau="cayley")
NORTH, FAR = jnp.array([0.0, 0.0, 1.0]), jnp.array([0.6, 0.0, -0.8])


class Spheroid(eqx.Module):
    """The function x² + 10y² + 10z² − 1."""

    def __call__(self, x):
        return x[0] ** 2 + 10 * x[1] ** 2 + 10 * x[2] ** 2 - 1


SPHEROID = gm.LevelSet(Spheroid(), 3)


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) for a, b in pairs)


def velocity(R, g):
    """That of the inverse, NaN where there is none."""
    return np.asarray(eqx.filter_jit(lambda R, g: R.inverse(g)[1])(R, g))


# ------------------------------------------------------------------------------------ angles

ANGLES = {
    "circle": (CIRCLE, jnp.array([3.0]), jnp.array([0.3])),
    "product": (gm.ProductManifold(S2, CIRCLE), (NORTH, jnp.array([-3.0])), jnp.array([0.3, 0.2, -0.5])),
    "bundle": (gm.TangentBundle(CIRCLE), (jnp.array([3.0]), jnp.array([0.4])), jnp.array([0.3, 4.0])),
}


@pytest.mark.parametrize("name", ANGLES)
def test_angles_are_taken_the_short_way(name):
    M, x, v = ANGLES[name]
    R = gm.ProjectionMap(M)
    y, u = R.inverse(R.arrow(x, v))
    assert distance(y, x) == 0
    assert distance(u, v) <= EXACT


GROUPS = [gm.SE2(), gm.SE3(), gm.UnitQuaternions(), gm.Heisenberg(), gm.ProductGroup(gm.SO2(), gm.Translations(2))]


@pytest.mark.few(2)
@pytest.mark.parametrize("M", GROUPS, ids=lambda M: type(M).__name__)
def test_projections_of_groups_are_inverted(M):
    R, v = gm.ProjectionMap(M), 0.5 * jnp.sin(1.0 + jnp.arange(M.dim))
    x = M.random_point(jax.random.key(3))
    assert distance(R.inverse(R.arrow(x, v))[1], v) <= EXACT


# ------------------------------------------------------------------- points that are not the nearest


@pytest.mark.extended
def test_a_critical_point_that_is_not_the_nearest_is_not_reached():
    """Of this spheroid the point x is farther from x + v than y is, and yet y is not the nearest one."""
    x, y = (SPHEROID.project(jnp.array(p)) for p in ([-0.0362, -0.2671, -0.1689], [0.7522, 0.1394, 0.1549]))
    R = gm.ProjectionMap(SPHEROID)
    assert np.all(np.isnan(velocity(R, (x, y))))
    v = jnp.array([0.1, 0.05])
    assert distance(velocity(R, R.arrow(x, v)), v) <= EXACT


def turned(angle):
    return SO3.exp(jnp.array([angle, 0.0, 0.0]))


SHIFTED = {
    "product": (gm.ProductManifold(S2, R1), (NORTH, jnp.zeros(1)), (FAR, 5 * jnp.ones(1))),
    "SE3": (gm.SE3(), (jnp.eye(3), jnp.zeros(3)), (turned(2.0), 5 * jnp.ones(3))),
}


@pytest.mark.parametrize("name", SHIFTED)
def test_a_long_translation_reaches_no_point_beyond_the_horizon(name):
    M, x, y = SHIFTED[name]
    assert np.all(np.isnan(velocity(gm.ProjectionMap(M), (x, y))))


@pytest.mark.parametrize("angle", [0.5, 1.5, 1.65, 2.5])
def test_rotations_are_reached_up_to_a_quarter_turn(angle):
    """I + v̂ is projected to the rotation by arctan |v|; nothing has to be projected to know it."""
    v = velocity(gm.ProjectionMap(SO3), (jnp.eye(3), turned(angle)))
    if angle < np.pi / 2:
        # The tangent magnifies round-off by 1 + |v|², here 200.
        assert distance(v, jnp.array([np.tan(angle), 0.0, 0.0])) <= EXACT * (1 + np.tan(angle) ** 2)
    else:
        assert np.all(np.isnan(v))


# ------------------------------------------------------------------------------------ long steps


def energy(q, p):
    return p @ p / 2 + 0.1 * q[2]


def lagrangian(q, v):
    return v @ v / 2 - 0.1 * q[2]


PROJECTION = gm.ProjectionMap(S2)
START = jnp.array([0.6, 0.0, 0.8]), jnp.array([1.0, 0.3])
IN_THE_MIDDLE = gm.ThetaMap(PROJECTION, 0.5)
LONG = {
    "retraction": (PROJECTION, 1.6),
    "retraction, longer": (PROJECTION, 2.0),
    "middle": (IN_THE_MIDDLE, 2.2),
    "middle, longer": (IN_THE_MIDDLE, 2.6),
}


def families(R, dt):
    return {
        "hamiltonian": gm.hamiltonian_system(energy, R, dt),
        "pontryagin": gm.hamiltonian_system(gm.LegendreHamiltonian(lagrangian), R, dt),
        "lagrangian": gm.lagrangian_system(lagrangian, R, dt),
    }


@pytest.mark.parametrize(
    ("name", "family"),
    [
        *(pytest.param(name, "hamiltonian", marks=pytest.mark.extended if "middle" in name else ()) for name in LONG),
        *(
            pytest.param(name, family, marks=pytest.mark.extended)
            for name in ("retraction, longer", "middle, longer")
            for family in ("pontryagin", "lagrangian")
        ),
    ],
)
def test_long_steps_are_found_by_families_as_by_lifts(name, family):
    """Velocities of more than a quarter turn: as coordinates of the chart they are beyond the horizon."""
    R, dt = LONG[name]
    end = gm.SystemIntegrator(families(R, dt)[family])(START)
    assert distance(end, gm.lifted_step(R, energy, dt, *START)) <= EXACT


def test_the_guess_is_the_velocity_where_the_retraction_is_the_chart():
    v = 0.1 * START[1]
    maps = gm.ChartMap(S2), gm.ChartMap(S2).adjoint(), gm.theta_map(S2, 0.5), gm.theta_map(S2, 0.3)
    for R in maps:
        assert distance(gm.hamiltonian_system(energy, R, 0.1).first_guess(*START)[:2], v) == 0
    size = np.linalg.norm(v)
    projected = gm.hamiltonian_system(energy, PROJECTION, 0.1).first_guess(*START)[:2]
    assert distance(projected, v * np.arctan(size) / size) <= EXACT


@pytest.mark.few(2)
@pytest.mark.parametrize("M", [S2, SO3, CAYLEY, gm.ProductManifold(S2, R1)], ids=["sphere", "exp", "cayley", "product"])
def test_coordinates_of_projected_vectors(M):
    """The closed forms are the coordinates of the point, up to long vectors."""
    x, long = M.random_point(jax.random.key(1)), 2 * jnp.sin(1.0 + jnp.arange(M.dim))
    R = gm.ProjectionMap(M)
    for v in (0 * long, 1e-9 * long, long):
        assert distance(projected_coordinates(M, x, v), R.groupoid.fiber_local(x, R.arrow(x, v))) <= EXACT


@pytest.mark.parametrize("theta", [0.3, 0.5])
def test_the_middle_of_projections_is_found_beyond_the_horizon(theta):
    """From |v| = 2 on, for θ = ½, both ends are more than a quarter turn apart; on the way there the tangent of the angle has no bound."""
    R = gm.ThetaMap(PROJECTION, theta)
    for size in (0.1, 1.0, 1.99, 2.0, 2.1, 3.0):
        v = size * jnp.array([0.6, 0.8])
        assert distance(R.inverse(R.arrow(START[0], v)), (START[0], v)) <= EXACT


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("theta", [0, 0.3, 1])
@pytest.mark.parametrize(
    "R",
    [gm.ThetaMap(S2, 0.3), MidpointMap(S2), gm.ChartMap(S2).adjoint()],
    ids=lambda R: type(R).__name__,
)
def test_theta_maps_are_made_of_retractions(R, theta):
    with pytest.raises(gm.ArgumentError, match=f"needs a retraction.*{type(R).__name__} is off by"):
        gm.theta_map(R, theta)


def test_other_retractions_have_their_ends_too():
    """Over a point every map is a retraction, and the end of an adjoint is the map."""
    over_a_point = gm.ChartMap(gm.GroupGroupoid(SO3)).adjoint()
    assert gm.theta_map(over_a_point, 0) is over_a_point
    assert gm.theta_map(over_a_point, 1) is over_a_point.map


def not_to_be_called(*arguments):
    raise AssertionError("compiled for nothing")


def test_known_retractions_are_not_tried(monkeypatch):
    monkeypatch.setattr("groupoid_mech.discretization.surveyed_form._source_gap", not_to_be_called)
    for space in (S2, CAYLEY, PROJECTION, gm.GeodesicMap(S2)):
        for theta in (0, 1):
            gm.theta_map(space, theta)
    with pytest.raises(AssertionError):
        gm.theta_map(MidpointMap(S2), 0)


@pytest.mark.parametrize(
    "M", [CAYLEY, SPHEROID, gm.ProductManifold(S2, CAYLEY)], ids=["cayley", "level set", "product"]
)
def test_midpoint_maps_need_geodesics(M):
    with pytest.raises(
        gm.ArgumentError, match=rf"along geodesics.*{type(M).__name__} is not.*theta_map\(manifold, 0.5\)"
    ):
        MidpointMap(M)


class Unnamed(gm.Manifold):
    """The sphere, without a name by which it is known."""

    dim: int = 2

    def retract(self, x, xi):
        return S2.retract(x, xi)

    def local(self, x, y):
        return S2.local(x, y)

    def to_ambient(self, x, xi):
        return S2.to_ambient(x, xi)

    def from_ambient(self, x, v):
        return S2.from_ambient(x, v)

    def project(self, y):
        return S2.project(y)

    def violation(self, y):
        return S2.violation(y)

    def random_point(self, key):
        return S2.random_point(key)


def test_what_is_known_of_a_midpoint_map_is_not_found_out_again(monkeypatch):
    found_out = MidpointMap(Unnamed())
    v = jnp.array([0.3, 0.4])
    assert distance(found_out.inverse(found_out.arrow(NORTH, v)), (NORTH, v)) <= EXACT
    monkeypatch.setattr("groupoid_mech.discretization.midpoint_map.surveyed_form", not_to_be_called)
    for M in (S2, SO3, CIRCLE, gm.ProductManifold(S2, R1)):
        MidpointMap(M)
    assert isinstance(gm.theta_map(Unnamed(), 0.5), MidpointMap), "which the θ-map has found out"
    with pytest.raises(AssertionError):
        MidpointMap(Unnamed())


def test_a_manifold_without_a_name_is_projected():
    """Where nothing is known of critical points, the vector is projected to see whether it leads to y."""
    R, v = gm.ProjectionMap(Unnamed()), jnp.array([1.0, 2.0])
    assert distance(velocity(R, R.arrow(NORTH, v)), v) <= EXACT
    assert np.all(np.isnan(velocity(R, (NORTH, FAR))))
