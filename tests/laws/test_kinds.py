"""Drawn Hamiltonians and Lagrangians have no special form: mixed second and third derivatives do not vanish, and Lagrangians are regular."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws.integrator_controls import HAMILTONIAN_METHODS

from groupoid_mech.laws.integrator_kinds import ASmoothFunction, DrawnLagrangian, phase_space, with_drawn
from groupoid_mech.laws.kinds import A_POINT
from groupoid_mech.laws.law import build_batch

EXAMPLES = 50
SPACES = ["method R2", "method S2"]


def drawn(name):
    method = HAMILTONIAN_METHODS[name]
    rng = np.random.default_rng(3)
    seeds = rng.integers(0, 2**31 - 1, EXAMPLES)
    kind = ASmoothFunction()
    functions = build_batch(kind, method, seeds, rng.uniform(-1.0, 1.0, (EXAMPLES, kind.size(method))))
    points = build_batch(A_POINT, phase_space(method), seeds, np.zeros((EXAMPLES, 0)))
    return method, functions, points


def over_examples(measure, functions, points):
    arrays, rest = eqx.partition(functions, eqx.is_array)
    return eqx.filter_jit(jax.vmap(lambda row, x: measure(eqx.combine(row, rest), x)))(arrays, points)


@pytest.mark.parametrize("name", SPACES)
def test_drawn_hamiltonians_are_not_separable_and_not_quadratic(name):
    method, functions, points = drawn(name)
    base = method.system.groupoid.base

    def measure(F, x):
        q, p = x
        hamiltonian = with_drawn(method, F).system.lagrangian.hamiltonian
        moved = base.to_ambient(q, jnp.ones(base.dim))
        force = jax.grad(hamiltonian, argnums=1)
        mixed = jax.jvp(lambda y: force(y, p), (q,), (moved,))[1]
        third = jax.jacfwd(jax.jacfwd(lambda r: force(q, r)))(p)
        return jnp.max(jnp.abs(mixed)), jnp.max(jnp.abs(third))

    mixed, third = over_examples(measure, functions, points)
    assert np.median(mixed) > 1e-2
    assert np.median(third) > 1e-3


@pytest.mark.parametrize("name", SPACES)
def test_drawn_lagrangians_are_regular_and_not_quadratic(name):
    _, functions, points = drawn(name)

    def measure(F, x):
        mass = jax.hessian(DrawnLagrangian(F), argnums=1)
        return jnp.min(jnp.linalg.eigvalsh(mass(*x))), jnp.max(jnp.abs(jax.jacfwd(lambda v: mass(x[0], v))(x[1])))

    least, third = over_examples(measure, functions, points)
    assert np.min(least) > 0.2
    assert np.median(third) > 1e-3
