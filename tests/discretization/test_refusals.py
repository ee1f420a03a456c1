"""What methods, lifts and fields refuse: wrong functions, steps, points and singular Lagrangians, with what to do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import groupoid_mech as gm

R1, R2, S2 = gm.Euclidean(1), gm.Euclidean(2), gm.Sphere(2)
NORTH = jnp.array([0.0, 0.0, 1.0])
DT = 0.1


def kinetic(p):
    return p @ p / 2


def potential(q):
    return jnp.cos(q[0])


def total(q, p):
    return kinetic(p) + potential(q)


def vector(x):
    return 2 * x


def by_numpy(p):
    return np.sum(np.asarray(p) ** 2)


def of_one(x):
    return jnp.sum(x)


# --------------------------------------------------------------------------------------- functions


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: gm.Kick(vector, R1, DT),
            gm.ArgumentError,
            r"Kick needs vector\(·\) to be a real number.*shape \(1,\)",
        ),
        (
            lambda: gm.Kick(total, R1, DT),
            gm.ArgumentError,
            r"Kick needs a function of one argument; total takes \(q, p\)",
        ),
        (lambda: gm.Kick(3, R1, DT), gm.ArgumentError, "a function was needed; got int 3"),
        (lambda: gm.Drift(vector, R1, DT), gm.ArgumentError, r"Drift needs vector\(·\) to be a real number"),
        (lambda: gm.Drift(by_numpy, R1, DT), gm.NotTraceableError, r"by_numpy cannot be traced.*jax\.numpy"),
        (
            lambda: gm.Separable(1, 2),
            gm.ArgumentError,
            r"Separable needs kinetic to be a function; got int 1\. .*Separable\(",
        ),
        (lambda: gm.Separable(kinetic, 2.0), gm.ArgumentError, "Separable needs potential to be a function"),
        (lambda: gm.stormer_verlet(gm.Separable(vector, potential), R1, DT), gm.ArgumentError, "to be a real number"),
        (
            lambda: gm.splitting(gm.Separable(vector, potential), S2, gm.splitting_weights(2), DT),
            gm.ArgumentError,
            r"splitting needs vector\(·\) to be a real number",
        ),
        (
            lambda: gm.splitting(total, R1, gm.splitting_weights(2), DT),
            gm.ArgumentError,
            r"splitting needs hamiltonian to be a Separable; got function .*Separable\(T, V\).*raise_order\(hamiltonian_integrator",
        ),
        (
            lambda: gm.hamiltonian_integrator(of_one, gm.theta_map(S2, 0.5), DT),
            gm.ArgumentError,
            r"needs a function of two arguments, as H\(q, p\) or L\(q, v\); of_one takes \(x\)",
        ),
        (
            lambda: gm.LagrangianField(of_one, R1),
            gm.ArgumentError,
            r"LagrangianField needs a function of two arguments.*of_one takes \(x\)",
        ),
    ],
)
def test_functions_are_checked_where_the_space_is_known(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_potential_may_be_a_constant():
    start = jnp.ones(1), jnp.ones(1)
    assert gm.Kick(lambda q: 0.0, R1, DT)(start)[1] == start[1]


# --------------------------------------------------------------------------------- maps and numbers


@pytest.mark.parametrize("make", [gm.hamiltonian_integrator, gm.hamiltonian_system, gm.lagrangian_system])
@pytest.mark.parametrize("space", [S2, gm.PairGroupoid(S2)], ids=["manifold", "groupoid"])
def test_a_space_instead_of_a_map_is_told_how_to_make_one(space, make):
    with pytest.raises(
        gm.ArgumentError, match=r"needs map to be a DiscretizationMap; got .*theta_map\(Sphere\(2\), 0\.5\)"
    ) as caught:
        make(total, space, DT)
    assert "not the class" not in str(caught.value)
    assert "[0]" not in str(caught.value)


def test_a_class_is_told_to_be_made():
    with pytest.raises(gm.ArgumentError, match=r"manifold to be a Manifold; got the class Sphere\. Give an instance"):
        gm.ProjectionMap(gm.Sphere)
    with pytest.raises(gm.ArgumentError, match=r"methods\[1\] to be an Integrator; got int 2\.$"):
        gm.compose(gm.Kick(potential, R1, DT), 2)


METHODS = {
    "Kick": lambda: gm.Kick(potential, R1, DT),
    "Drift": lambda: gm.Drift(kinetic, R1, DT),
    "Composition": lambda: gm.stormer_verlet(gm.Separable(kinetic, potential), R1, DT),
    "WeightedComposition": lambda: gm.raise_order(gm.Kick(potential, R1, DT), gm.triple_jump(4)),
    "FieldIntegrator": lambda: gm.FieldIntegrator(vector, gm.theta_map(R1, 0.5), DT),
    "EndpointIntegrator": lambda: gm.EndpointIntegrator(vector, gm.theta_map(R1, 0.5), DT),
    "SystemIntegrator": lambda: gm.hamiltonian_integrator(total, gm.theta_map(R1, 0.5), DT),
    "HamiltonianFamily": lambda: gm.hamiltonian_system(total, gm.theta_map(R1, 0.5), DT).lagrangian,
}


@pytest.mark.parametrize("name", METHODS)
def test_other_steps_are_finite_numbers_too(name):
    method = METHODS[name]()
    for bad, message in (
        ("a", "dt to be a number; got str 'a'"),
        ("0.1", "dt to be a number; got str"),
        (True, "dt to be a number; got bool"),
        (None, "dt to be a number; got None"),
        (jnp.ones(2), r"dt to be one number; got an array of shape \(2,\).*jax\.vmap"),
        (np.nan, "a finite dt; got nan"),
    ):
        with pytest.raises(gm.ArgumentError, match=rf"^{name}\.with_step needs {message}"):
            method.with_step(bad)
    assert float(method.with_step(0).dt) == 0
    assert float(jax.jit(lambda dt: method.with_step(dt).dt)(np.nan)) != 0, "traced steps are taken as they are"


@pytest.mark.parametrize("dt", [True, "0.1", np.array(True), 1j])
def test_truth_values_and_text_are_no_steps(dt):
    with pytest.raises(gm.ArgumentError, match="Kick needs dt to be a number; got"):
        gm.Kick(potential, R1, dt)


def test_newmark_names_its_parameters():
    with pytest.raises(gm.ArgumentError, match="newmark_map needs beta to be a number; got str 'a'"):
        gm.newmark_map(R1, "a", 0.5, DT)
    with pytest.raises(gm.ArgumentError, match="newmark_map needs beta to be one number"):
        gm.newmark_map(R1, jnp.ones(2), 0.5, DT)
    with pytest.raises(gm.ArgumentError, match="NewmarkMap needs a finite gamma; got nan"):
        gm.NewmarkMap(R1, 0.25, np.nan, DT)


# ------------------------------------------------------------------------ points and singular maps


def test_lifts_refuse_what_is_no_diffeomorphism():
    x = NORTH, jnp.ones(2)
    with pytest.raises(gm.OffManifoldError, match=r"cotangent_lift needs F\(x\) on Sphere; it is off by 1 .*project"):
        gm.cotangent_lift(S2, S2, vector, x)
    with pytest.raises(gm.ArgumentError, match=r"needs a diffeomorphism F: at x .* has rank 0 of 2"):
        gm.cotangent_lift(S2, S2, lambda y: NORTH, x)
    with pytest.raises(gm.ArgumentError, match="has rank 1 of 2"):
        gm.cotangent_lift(R2, R2, lambda y: 0.1 * jnp.array([y[0] + 3 * y[1], 3 * y[0] + 9 * y[1]]), (x[1], x[1]))
    with pytest.raises(
        gm.ArgumentError, match=r"to be a point of Sphere\(dim=2\), an array of shape \(3,\).*; it returns"
    ):
        gm.cotangent_lift(S2, S2, lambda y: y[:2], x)
    assert not np.all(np.isfinite(jax.jit(lambda x: gm.cotangent_lift(S2, S2, lambda y: NORTH, x))(x)[1]))


def test_singular_lagrangians_are_named_with_their_directions():
    def half(q, v):
        return (v[0] - v[1]) ** 2 / 10 - q[0]

    q, v = jnp.ones(2), jnp.array([1.0, 2.0])
    with pytest.raises(gm.ArgumentError, match=r"LagrangianField needs a regular .*of half in v vanish along a1 \+ a2"):
        gm.LagrangianField(half, R2)((q, v))
    with pytest.raises(gm.ArgumentError, match=r"LegendreHamiltonian needs a regular .* vanish along a1 \+ a2"):
        gm.LegendreHamiltonian(half)(q, v)
    with pytest.raises(gm.ArgumentError, match="LagrangianField needs a regular .* vanish along a1,"):
        gm.LagrangianField(lambda q, v: jnp.sum(q * v), R1)((jnp.ones(1), jnp.ones(1)))
    with pytest.raises(gm.NotFiniteError, match=r"found no velocity at q = .* whose momentum is p = \[2\.\]"):
        gm.LegendreHamiltonian(lambda q, v: jnp.sum(jnp.log(jnp.cosh(v))))(jnp.ones(1), 2 * jnp.ones(1))
    with pytest.raises(gm.NotFiniteError, match="LagrangianField has no finite value"):
        gm.LagrangianField(lambda q, v: jnp.sum(v**2 - jnp.log(q)), R1)((jnp.zeros(1), jnp.ones(1)))


def test_the_defect_of_a_difference_equation_needs_a_point_of_the_bundle():
    field = gm.SecondOrderField(lambda q, v: -v)
    with pytest.raises(gm.OffManifoldError, match="difference_defect needs x on TangentBundle"):
        gm.difference_defect(gm.ChartMap(S2), field, (jnp.ones(3), jnp.zeros(2)))
