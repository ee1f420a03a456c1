"""Discretization maps: closed forms, what is known about their inverses, domains, refusals, derivatives and batches."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
from laws.subjects import unchecked

import groupoid_mech as gm
from groupoid_mech.discretization.midpoint_map import MidpointMap
from groupoid_mech.discretization.surveyed_form import surveyed_form
from groupoid_mech.groupoids.chart_form import known_form

EXACT = 1e-14
ROUNDED = 1e-12

R2, S2, TORUS = gm.Euclidean(2), gm.Sphere(2), gm.Torus(2)
SO3, CAYLEY = gm.SO3(), gm.SO3(tau="cayley")


def ellipsoid(x):
    return x[0] ** 2 + 2 * x[1] ** 2 + 3 * x[2] ** 2 - 1


ELLIPSOID = gm.LevelSet(ellipsoid, 3)
PLACE = S2.project(jnp.array([0.5, -0.3, 0.7]))
V2, V3 = jnp.array([0.4, -0.6]), jnp.array([0.4, -0.6, 0.3])


def distance(left, right):
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0)) for a, b in pairs)


@pytest.fixture(scope="module")
def maps():
    """Maps whose inverse is found in different ways, each with a point and a velocity."""
    start = ELLIPSOID.project(jnp.array([0.6, 0.4, 0.3]))
    return {
        "plane": (gm.ThetaMap(R2, 0.3), V2, V2[::-1]),
        "sphere": (gm.ThetaMap(S2, 0.3), PLACE, V2),
        "projected": (gm.ThetaMap(gm.ProjectionMap(S2), 0.3), PLACE, V2),
        "cayley": (gm.ThetaMap(CAYLEY, 0.3), CAYLEY.retract(jnp.eye(3), V3), V3[::-1]),
        "ellipsoid": (gm.ThetaMap(ELLIPSOID, 0.3), start, jnp.array([0.1, -0.15])),
        "group": (gm.ThetaMap(gm.GroupGroupoid(CAYLEY), 0.3), jnp.zeros(0), V3),
    }


MAPS = ["plane", "sphere", "projected", "cayley", "ellipsoid", "group"]


# ------------------------------------------------------------------------------ closed forms


@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("M", [R2, TORUS], ids=["plane", "torus"])
def test_flat_spaces(M, theta):
    """BM Example 2.7."""
    x, v = jnp.array([0.4, -1.2]), V2
    R = gm.theta_map(M, theta)
    pair = (x - theta * v, x + (1 - theta) * v)
    assert distance(R.arrow(x, v), pair) <= EXACT
    assert distance(R.inverse(pair), (x, v)) <= EXACT
    assert distance(R.adjoint().arrow(x, v), (x - (1 - theta) * v, x + theta * v)) <= EXACT


def test_a_matrix_takes_components_at_different_points():
    theta = jnp.array([[0.5, -0.2], [0.0, 1.0]])
    x, v = jnp.array([0.4, -1.2]), V2
    back = np.array([0.5 * 0.4 + 0.2 * 0.6, -0.6])
    R = gm.ThetaMap(R2, theta)
    assert distance(R.arrow(x, v), (x - back, x + v - back)) <= EXACT
    assert distance(R.inverse((x - back, x + v - back)), (x, v)) <= EXACT
    assert distance(R.adjoint().arrow(x, v), (x - v + back, x + back)) <= EXACT


def exponential(x, ambient):
    size = np.linalg.norm(ambient)
    return np.cos(size) * x + np.sin(size) * ambient / size


def projection(x, ambient):
    return (x + ambient) / np.linalg.norm(x + ambient)


@pytest.mark.parametrize("theta", [0.3, 0.5])
@pytest.mark.parametrize(
    ("R", "formula"), [(gm.ChartMap(S2), exponential), (gm.ProjectionMap(S2), projection)], ids=["slerp", "projection"]
)
def test_spheres(R, formula, theta):
    """BM Example 2.8, (2.3)."""
    x, ambient = np.asarray(PLACE), np.asarray(S2.to_ambient(PLACE, V2))
    assert distance(R.arrow(PLACE, V2), (x, formula(x, ambient))) <= EXACT
    assert distance(R.inverse((x, formula(x, ambient)))[1], V2) <= EXACT
    pair = formula(x, -theta * ambient), formula(x, (1 - theta) * ambient)
    between = gm.theta_map(R, theta)
    assert distance(between.arrow(PLACE, V2), pair) <= EXACT
    assert distance(between.inverse(pair), (PLACE, V2)) <= ROUNDED
    assert distance(R.adjoint().arrow(PLACE, V2), (formula(x, -ambient), x)) <= EXACT


def test_the_projection_has_its_inverse_in_closed_form():
    """BM Example 5.4: R⁻¹(x₀, x₁) = (x₀, x₁/(x₀·x₁) − x₀)."""
    y = np.asarray(S2.project(jnp.array([0.1, 0.2, 0.9])))
    x = np.asarray(PLACE)
    v = gm.ProjectionMap(S2).inverse((PLACE, y))[1]
    assert distance(S2.to_ambient(PLACE, v), y / (x @ y) - x) <= EXACT


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def cayley(xi):
    return np.linalg.solve(np.eye(3) - xi / 2, np.eye(3) + xi / 2)


@pytest.mark.parametrize(("group", "tau"), [(SO3, scipy.linalg.expm), (CAYLEY, cayley)], ids=["exponential", "cayley"])
def test_rotations(group, tau):
    """BM Example 2.9, (2.4), with AᵀX = hat(v)."""
    A = np.asarray(group.retract(jnp.eye(3), jnp.array([0.2, 0.5, -0.7])))
    xi = hat(np.asarray(V3))
    assert distance(gm.ChartMap(group).arrow(jnp.asarray(A), V3), (A, A @ tau(xi))) <= EXACT
    R = gm.theta_map(group, 0.5)
    pair = A @ tau(-xi / 2), A @ tau(xi / 2)
    assert distance(R.arrow(jnp.asarray(A), V3), pair) <= EXACT
    assert distance(R.inverse(pair), (A, V3)) <= ROUNDED
    if tau is cayley:
        one = np.eye(3)
        printed = (
            A @ np.linalg.inv(one + xi / 4) @ (one - xi / 4),
            A @ np.linalg.inv(one - xi / 4) @ (one + xi / 4),
        )
        assert distance(R.arrow(jnp.asarray(A), V3), printed) <= EXACT
    over_a_point = gm.ThetaMap(gm.GroupGroupoid(group), 0.3)
    assert distance(over_a_point.arrow(jnp.zeros(0), V3), tau(0.3 * xi) @ tau(0.7 * xi)) <= EXACT


def test_polar_projection_of_rotations():
    A, xi = np.asarray(SO3.retract(jnp.eye(3), jnp.array([0.2, 0.5, -0.7]))), hat(np.asarray(V3))
    R = gm.ProjectionMap(SO3)
    end = scipy.linalg.polar(A + A @ xi)[0]
    assert distance(R.arrow(jnp.asarray(A), V3), (A, end)) <= EXACT
    assert distance(R.inverse((jnp.asarray(A), jnp.asarray(end)))[1], V3) <= ROUNDED


# --------------------------------------------------------------------------------- geodesics


def ellipsoid_geodesic(x, w):
    """Newton's equations of a particle that the force of the surface alone acts on, in space, by scipy."""
    axes = np.array([1.0, 2.0, 3.0])

    def field(_, state):
        y, u = state[:3], state[3:]
        normal = axes * y
        return np.concatenate([u, -(u @ (axes * u)) / (normal @ normal) * normal])

    done = scipy.integrate.solve_ivp(field, (0, 1), np.concatenate([x, w]), method="DOP853", rtol=1e-13, atol=1e-14)
    return done.y[:3, -1]


@pytest.mark.extended
def test_geodesics_of_an_ellipsoid():
    x, v = ELLIPSOID.project(jnp.array([0.6, 0.4, 0.3])), jnp.array([0.1, -0.15])
    R = gm.GeodesicMap(ELLIPSOID)
    end = R.arrow(x, v)[1]
    assert distance(end, ellipsoid_geodesic(np.asarray(x), np.asarray(ELLIPSOID.to_ambient(x, v)))) <= 1e-10
    assert distance(R.inverse((x, end))[1], v) <= ROUNDED
    # The chart of a level set is another retraction, with the same first derivative.
    assert distance(end, ELLIPSOID.retract(x, v)) > 1e-3


@pytest.mark.extended
def test_geodesics_are_the_motion_of_a_free_particle():
    x, v = ELLIPSOID.project(jnp.array([0.6, 0.4, 0.3])), jnp.array([0.1, -0.15])
    flow = gm.EulerLagrange(lambda q, u: jnp.sum(u * u) / 2, gm.PairGroupoid(ELLIPSOID))
    assert distance(gm.GeodesicMap(ELLIPSOID).arrow(x, v)[1], flow(x, v, 1.0)[0][1]) <= 1e-10


class HalfPlane(eqx.Module):
    """The metric |dz|²/(scale·y)²."""

    scale: float = 1.0

    def __call__(self, x):
        return jnp.eye(2) / (self.scale * x[1]) ** 2


def hyperbolic_exponential(x, v):
    """By a Möbius transformation: that of a rotation turns the vertical geodesic i eˢ through i."""
    u = (v[0] + 1j * v[1]) / x[1]
    s = abs(u)
    turn = np.exp(0.5 * np.log(u / (1j * s)))
    c, d = turn.real, turn.imag
    w = 1j * np.exp(s)
    z = x[0] + x[1] * (c * w + d) / (-d * w + c)
    return np.array([z.real, z.imag])


def test_geodesics_of_a_metric():
    """The hyperbolic plane, on the upper half of R²."""
    x, v = jnp.array([0.3, 1.2]), jnp.array([0.35, 0.2])
    R = gm.GeodesicMap(R2, HalfPlane())
    assert distance(R.arrow(x, v), (x, hyperbolic_exponential(np.asarray(x), np.asarray(v)))) <= 1e-9
    assert distance(R.inverse(R.arrow(x, v)), (x, v)) <= ROUNDED
    finer = gm.GeodesicMap(R2, HalfPlane(), steps=128)
    assert distance(finer.arrow(x, v)[1], hyperbolic_exponential(np.asarray(x), np.asarray(v))) <= 1e-10
    # Geodesics do not change with a constant factor of the metric, energies do.
    other = gm.GeodesicMap(R2, HalfPlane(2.0))
    assert distance(other.arrow(x, v), R.arrow(x, v)) <= ROUNDED
    assert other.energy(x, v) == pytest.approx(float(R.energy(x, v)) / 4, rel=1e-14)


def test_few_steps_give_a_retraction_all_the_same():
    R, x = gm.GeodesicMap(R2, HalfPlane(), steps=1), jnp.array([0.3, 1.2])
    assert distance(R.rigidity(x), np.eye(2)) <= ROUNDED
    assert distance(R.arrow(x, jnp.zeros(2)), (x, x)) <= EXACT


# ------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize(
    ("space", "straight", "parallel"),
    [
        (R2, True, True),
        (TORUS, True, True),
        (S2, True, False),
        (SO3, True, True),
        (CAYLEY, False, False),
        (gm.GroupGroupoid(SO3), True, True),
        (gm.GroupGroupoid(CAYLEY), False, False),
        (ELLIPSOID, False, False),
        (gm.ProjectionMap(S2), False, False),
        (gm.TangentBundle(R2), True, True),
    ],
    ids=lambda space: space if isinstance(space, bool) else type(space).__name__,
)
def test_what_is_known_about_the_inverse(space, straight, parallel):
    """Geodesics and one-parameter groups are straight; on flat spaces and groups they keep their coordinates."""
    R = gm.ThetaMap(space, 0.3)
    assert R.form == (straight, parallel)
    assert R.adjoint().form == R.form
    assert gm.ThetaMap(space, 0.8, form=R.form).form == R.form


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "space",
    [
        gm.PairGroupoid(TORUS),
        gm.PairGroupoid(gm.Sphere(3)),
        gm.GroupGroupoid(gm.SE3()),
        unchecked(lambda: gm.ActionGroupoid(S2, SO3, lambda q, h: h.T @ q)),
        gm.PairGroupoid(gm.ProductManifold(S2, SO3)),
        gm.ProductGroupoid(gm.PairGroupoid(R2), gm.GroupGroupoid(SO3)),
        gm.PairGroupoid(gm.CotangentBundle(S2)),
    ],
    ids=["torus", "sphere", "group", "action", "product", "product of groupoids", "bundle"],
)
def test_what_is_known_is_what_a_drawn_arrow_shows(space):
    assert known_form(space) == surveyed_form(gm.ChartMap(space))


def test_what_is_not_known_is_found_out():
    for space in (CAYLEY, ELLIPSOID, gm.TangentBundle(ELLIPSOID), gm.ProductManifold(S2, CAYLEY)):
        assert known_form(gm.PairGroupoid(space)) is None
    # Not of the chart.
    assert known_form(gm.ProjectionMap(S2).groupoid) != gm.ThetaMap(gm.ProjectionMap(S2), 0.3).form


def test_a_matrix_keeps_the_inverse_in_closed_form_on_flat_spaces_alone():
    theta = jnp.array([[0.5, 0.1], [0.0, 0.2]])
    assert gm.ThetaMap(R2, theta).form == (True, True)
    R = gm.ThetaMap(S2, theta)
    assert not R.form.straight
    assert distance(R.inverse(R.arrow(PLACE, V2)), (PLACE, V2)) <= ROUNDED


def test_the_simplest_form():
    assert isinstance(gm.theta_map(S2, 0), gm.ChartMap)
    assert isinstance(gm.theta_map(S2, 1.0), gm.AdjointMap)
    assert isinstance(gm.theta_map(S2, 0.5), MidpointMap)
    assert isinstance(gm.theta_map(S2, 0.3), gm.ThetaMap)
    assert isinstance(gm.theta_map(SO3, 0.5), gm.ThetaMap)
    assert isinstance(gm.theta_map(CAYLEY, 0.5), gm.ThetaMap)


def test_the_midpoint_map():
    """BM Example 2.8 for θ = ½: the general θ-map, its own adjoint."""
    R, general = MidpointMap(S2), gm.ThetaMap(S2, 0.5)
    g = R.arrow(PLACE, V2)
    assert distance(g, general.arrow(PLACE, V2)) <= EXACT
    assert distance(R.inverse(g), (PLACE, V2)) <= EXACT
    assert R.adjoint() is R
    assert R.asymmetry(PLACE, V2) <= EXACT
    assert distance(R.inverse(g), gm.ThetaMap(S2, 0.4).inverse(g)) > 1e-2


@pytest.mark.parametrize(
    "R",
    [
        pytest.param(MidpointMap(S2), id="midpoint S2"),
        pytest.param(gm.ThetaMap(S2, 0.3), id="theta S2", marks=pytest.mark.extended),
        pytest.param(gm.ThetaMap(SO3, 0.3), id="theta SO3", marks=pytest.mark.extended),
        pytest.param(gm.ChartMap(S2), id="chart S2", marks=pytest.mark.extended),
        pytest.param(gm.ProjectionMap(S2), id="projection S2", marks=pytest.mark.extended),
        pytest.param(gm.CotangentLift(MidpointMap(S2)), id="lift S2", marks=pytest.mark.extended),
    ],
)
def test_the_inverse_where_the_arrow_is_known(R):
    """The same value and two derivatives as the inverse; where closed forms are used, other coordinates give other derivatives."""
    M, G = R.groupoid.base, R.groupoid

    @jax.jit
    def jets():
        keys = jax.random.split(jax.random.key(2), 4)
        x = M.random_point(keys[0])
        a, b, e = (0.4 * jax.random.uniform(key, (G.rank,), minval=-1.0, maxval=1.0) for key in keys[1:])
        y, zero = M.retract(x, a), jnp.zeros(())

        def along(function):
            def slope(t):
                return jax.jvp(lambda t: function((M.retract(x, t * b), M.retract(y, t * e))), (t,), (jnp.ones(()),))[1]

            return function((x, y)), slope(zero), jax.jvp(slope, (zero,), (jnp.ones(()),))[1]

        maps = R.inverse, lambda g: gm.inverse_at(R, g, a), lambda g: gm.inverse_at(R, g, 2 * a)
        return [along(function) for function in maps]

    expected, found, other = jets()
    assert distance(expected, found) <= 2e-14
    assert (distance(expected[1], other[1]) > 1e-4) == (not isinstance(R, gm.ProjectionMap))
    assert gm.theta_map(gm.ProjectionMap(S2), 1).map == gm.ProjectionMap(S2)


# ------------------------------------------------------------------- inverses and derivatives


@pytest.mark.parametrize("name", MAPS)
def test_inverses(name, maps):
    R, x, v = maps[name]
    g = R.arrow(x, v)
    assert distance(R.inverse(g), (x, v)) <= ROUNDED
    back = R.adjoint()
    assert distance(back.arrow(x, v), R.groupoid.inverse(R.arrow(x, -v))) <= EXACT
    assert distance(back.inverse(back.arrow(x, v)), (x, v)) <= ROUNDED
    # Over a point both halves run along one direction, and commute.
    assert (R.asymmetry(x, v) > 1e-3) == (name != "group")


@pytest.mark.parametrize("name", MAPS)
def test_theta_is_data(name, maps):
    R, x, v = maps[name]
    for theta in (0.0, 0.5, 0.9, 1.0) if not R.form.straight or R.form.parallel else (0.0, 0.5, 0.9):
        moved = eqx.tree_at(lambda R: R.theta, R, jnp.asarray(theta, float))
        fresh = gm.theta_map(R.retraction, theta)
        g = fresh.arrow(x, v)
        assert distance(moved.arrow(x, v), g) <= EXACT
        assert distance(moved.inverse(g), (x, v)) <= ROUNDED
    assert eqx.tree_at(lambda R: R.theta, R, jnp.asarray(0.5, float)).asymmetry(x, v) <= EXACT


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    ["sphere", *(pytest.param(name, marks=pytest.mark.extended) for name in ("cayley", "projected", "ellipsoid"))],
)
def test_derivatives_and_batches_of_the_inverse(name, maps):
    """Forward and reverse mode agree, and the derivative of R⁻¹ ∘ R is the identity."""
    R, x, v = maps[name]
    M = R.groupoid.base

    def there_and_back(z):
        y = M.retract(x, z[: M.dim])
        y, u = R.inverse(R.arrow(y, v + z[M.dim :]))
        return jnp.concatenate([M.local(x, y), u])

    def velocity(z):
        """The inverse alone: nothing is undone."""
        q0, q1 = R.arrow(x, v)
        return R.inverse((M.retract(q0, z[: M.dim]), M.retract(q1, z[M.dim :])))[1]

    @jax.jit
    def all_of(z):
        forward, backward = jax.jacfwd(velocity)(z), jax.jacrev(velocity)(z)
        return jax.jacfwd(there_and_back)(z), forward, backward

    zero = jnp.zeros(2 * M.dim)
    whole, forward, backward = all_of(zero)
    assert distance(whole, np.eye(2 * M.dim)) <= ROUNDED
    assert distance(forward, backward) <= ROUNDED
    assert np.max(np.abs(forward)) > 0.1

    vectors = jnp.stack([v, 0.5 * v, -v])
    arrows = jax.vmap(R.arrow, (None, 0))(x, vectors)
    points, found = jax.jit(lambda arrows: jax.vmap(R.inverse)(arrows))(arrows)
    assert distance(found, vectors) <= ROUNDED
    assert distance(points, jnp.stack([x] * 3)) <= ROUNDED


def test_theta_is_differentiable():
    """On the sphere R⁻¹ of one arrow moves along it with θ: dx/dθ is the velocity."""
    R = gm.ThetaMap(S2, 0.3)
    g = R.arrow(PLACE, V2)

    @jax.jit
    def slopes(theta):
        def point(theta):
            return eqx.tree_at(lambda R: R.theta, R, theta).inverse(g)[0]

        return jax.jacfwd(point)(theta), jax.jacrev(point)(theta)

    forward, backward = slopes(jnp.asarray(0.3))
    assert distance(forward, S2.to_ambient(PLACE, V2)) <= ROUNDED
    assert distance(backward, forward) <= ROUNDED


# ----------------------------------------------------------------------------------- domains

OUTSIDE = {
    "antipodes": (lambda: gm.ChartMap(S2), (PLACE, -PLACE)),
    "antipodes, theta": (lambda: gm.ThetaMap(S2, 0.5), (PLACE, -PLACE)),
    "horizon": (lambda: gm.ProjectionMap(S2), (jnp.array([0.0, 0.0, 1.0]), jnp.array([1.0, 0.0, 0.0]))),
    "beyond the horizon": (lambda: gm.ProjectionMap(S2), (jnp.array([0.0, 0.0, 1.0]), jnp.array([0.6, 0.0, -0.8]))),
    "half a turn": (lambda: gm.ThetaMap(CAYLEY, 0.5), (jnp.eye(3), jnp.diag(jnp.array([1.0, -1.0, -1.0])))),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_of_the_domain_there_is_no_inverse(name):
    make, g = OUTSIDE[name]
    R = make()
    with pytest.raises(gm.NotFiniteError, match=rf"{type(R).__name__}\.inverse\(g\) has no finite value.*nearer point"):
        R.inverse(g)
    assert bool(jnp.all(jnp.isnan(eqx.filter_jit(R.inverse)(g)[1])))


def test_outside_of_the_domain_there_is_no_arrow():
    R, x, far = gm.ChartMap(ELLIPSOID), jnp.array([1.0, 0.0, 0.0]), jnp.array([2.0, 2.0])
    with pytest.raises(gm.NotFiniteError, match=r"ChartMap\.arrow\(x, v\) has no finite value.*shorter vector"):
        R.arrow(x, far)
    assert bool(jnp.all(jnp.isnan(eqx.filter_jit(R.arrow)(x, far)[1])))


def test_near_the_horizon_the_projection_has_an_inverse():
    R = gm.ProjectionMap(S2)
    x, long = jnp.array([0.0, 0.0, 1.0]), jnp.array([1e4, 0.0])
    assert distance(R.inverse(R.arrow(x, long))[1], long) <= 1e-6
    for short in (0.0, 1e-9, 1e-3):
        assert distance(R.inverse(R.arrow(x, short * V2))[1], short * V2) <= EXACT


# ---------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gm.ThetaMap(S2, jnp.ones(3)), r"a number or a 2 by 2 matrix.*got shape \(3,\)"),
        (lambda: gm.ThetaMap(S2, jnp.ones((3, 3))), r"a number or a 2 by 2 matrix.*got shape \(3, 3\)"),
        (lambda: gm.ThetaMap(S2, jnp.nan), "finite theta"),
        (lambda: gm.theta_map(S2, jnp.inf), "finite theta"),
        (
            lambda: gm.ThetaMap(gm.ThetaMap(S2, 0.5), 0.5),
            "needs a retraction.*Give the retraction that the map was made",
        ),
        (lambda: gm.theta_map(gm.ChartMap(S2).adjoint(), 0.5), "needs a retraction.*AdjointMap is off by"),
        (lambda: gm.theta_map(3.0, 0.5), "needs a manifold or a Lie groupoid; got float"),
        (lambda: gm.ChartMap(gm.Sphere), "needs a manifold or a Lie groupoid"),
        (
            lambda: gm.ProjectionMap(gm.PairGroupoid(S2)),
            "ProjectionMap needs manifold to be a Manifold; got PairGroupoid",
        ),
        (lambda: gm.GeodesicMap("S2"), "GeodesicMap needs manifold"),
        (lambda: gm.GeodesicMap(S2, lambda x: x), r"metric\(x\) to be a 2 by 2 matrix.*shape \(3,\)"),
        (lambda: gm.GeodesicMap(S2, steps=0), "steps to be an integer ≥ 1"),
        (lambda: gm.newmark_map(gm.PairGroupoid(S2), 0.25, 0.5, 0.1), "newmark_map needs manifold"),
        (lambda: gm.ChartMap(S2).arrow(PLACE, V3), r"v to be an array of shape \(2,\)"),
        (lambda: gm.ChartMap(S2).arrow(PLACE, jnp.array([jnp.nan, 0.0])), "v to be finite"),
        (lambda: gm.ChartMap(S2).inverse(PLACE), "g to be a tuple"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(gm.ArgumentError, match=message):
        make()


def test_points_off_the_manifold_are_refused():
    with pytest.raises(gm.OffManifoldError, match=r"ThetaMap\.arrow needs x on Sphere.*project"):
        gm.ThetaMap(S2, 0.5).arrow(2 * PLACE, V2)
    with pytest.raises(gm.OffManifoldError):
        gm.ProjectionMap(S2).inverse((PLACE, 1.1 * PLACE))


def test_geodesics_cross_the_jump_of_the_frame():
    """From a point just above the equator of the sphere to one below: the geodesic is an arc of a great circle there too."""
    x, v = S2.project(jnp.array([0.8, 0.6, 0.1])), jnp.array([0.3, 0.1])
    geodesics, y = gm.GeodesicMap(S2), S2.retract(x, v)
    assert y[2] < -0.1
    assert np.max(np.abs(geodesics.arrow(x, v)[1] - y)) <= 1e-11
    assert np.max(np.abs(geodesics.inverse((x, y))[1] - v)) <= 1e-10
