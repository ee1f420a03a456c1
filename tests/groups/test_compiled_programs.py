"""What the small operations compile to: plain arithmetic, no call into LAPACK or a matrix-product library."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import groupoid_mech as gm

GROUPS = [gm.SO2(), gm.SO3(), gm.SE2(), gm.SE3(), gm.Heisenberg(), gm.Translations(3), gm.UnitQuaternions()]
METHODS_OF_ELEMENTS = ("inverse", "log", "cayley_inverse", "adjoint")
METHODS_OF_VECTORS = ("exp", "cayley", "ad", "dexp", "dexp_inverse", "dcayley", "dcayley_inverse")


def calls_out(function, *args):
    """The instructions of the compiled program that leave it: library products and custom calls."""
    program = eqx.filter_jit(function).lower(*args).compile().compiled.as_text()
    return [line for line in program.splitlines() if " dot(" in line or "custom-call" in line or "__onednn" in line]


@pytest.mark.few(3)
@pytest.mark.parametrize("group", GROUPS, ids=lambda G: type(G).__name__)
def test_group_operations_stay_inside(group):
    def everything(g, h, xi):
        by_element = [getattr(group, name)(g) for name in METHODS_OF_ELEMENTS]
        by_vector = [getattr(group, name)(xi) for name in METHODS_OF_VECTORS]
        moved = group.retract(g, xi)
        return group.multiply(g, h), by_element, by_vector, moved, group.local(g, moved), group.to_ambient(g, xi)

    e, xi = group.identity(), jnp.full(group.dim, 0.1)
    assert calls_out(everything, e, e, xi) == []


@pytest.mark.parametrize("manifold", [gm.Sphere(2), gm.Sphere(3)], ids=str)
def test_sphere_operations_stay_inside(manifold):
    x, xi = manifold.random_point(jax.random.key(0)), jnp.full(manifold.dim, 0.1)
    assert calls_out(lambda x, xi: manifold.local(x, manifold.retract(x, xi)), x, xi) == []


def test_the_detector_sees_a_library_product():
    assert calls_out(lambda A: A @ A, jnp.eye(64))
    assert calls_out(lambda A: jnp.linalg.solve(A, A[0]), jnp.eye(5))
