"""Linear symplectic algebra: orthogonals, Lemma 2.15 on drawn subspaces (degenerate ones too), bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import groupoid_mech as gm
from groupoid_mech.symplectic.symplectic_space import SymplecticSpace

J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
Z = SymplecticSpace(jnp.asarray(J))


def drawn_space(rng, d):
    """A symplectic form that is not the standard one, of even dimension 2d."""
    frame = rng.normal(size=(2 * d, 2 * d)) + 2 * np.eye(2 * d)
    standard = np.block([[np.zeros((d, d)), np.eye(d)], [-np.eye(d), np.zeros((d, d))]])
    return SymplecticSpace(jnp.asarray(frame.T @ standard @ frame))


@given(seed=st.integers(0, 2**31 - 1), d=st.integers(1, 4), data=st.data())
def test_lemma_2_15(seed, d, data):
    """If dim V + dim W = 2d then dim(V ∩ W) = dim(V^ω ∩ W^ω), whatever V and W have in common."""
    rng = np.random.default_rng(seed)
    space = drawn_space(rng, d)
    v = data.draw(st.integers(0, 2 * d))
    w = 2 * d - v
    common = data.draw(st.integers(0, min(v, w)))
    shared = rng.normal(size=(2 * d, common))
    V = np.hstack([shared, rng.normal(size=(2 * d, v - common))])
    W = np.hstack([rng.normal(size=(2 * d, w - common)), shared @ rng.normal(size=(common, common))])
    dimension = space.intersection_dimension(V, W)
    assert dimension == common
    assert space.intersection_dimension(space.orthogonal(V), space.orthogonal(W)) == dimension


def test_lemma_2_15_needs_its_hypothesis():
    """Two lines in a space of dimension 6 meet in 0, their orthogonals in dimension 4."""
    V, W = np.eye(6)[:, :1], np.eye(6)[:, 1:2]
    assert Z.intersection_dimension(V, W) == 0
    assert Z.intersection_dimension(Z.orthogonal(V), Z.orthogonal(W)) == 4


@given(seed=st.integers(0, 2**31 - 1), d=st.integers(1, 4), data=st.data())
def test_orthogonal(seed, d, data):
    """ω(V, V^ω) = 0, dim V + dim V^ω = 2d, (V^ω)^ω = V, (V + W)^ω = V^ω ∩ W^ω."""
    rng = np.random.default_rng(seed)
    space = drawn_space(rng, d)
    k, m = (data.draw(st.integers(0, 2 * d)) for _ in range(2))
    V, W = rng.normal(size=(2 * d, k)), rng.normal(size=(2 * d, m))
    other = space.orthogonal(V)
    assert other.shape == (2 * d, 2 * d - k)
    assert np.max(np.abs(np.asarray(space.basis(V)).T @ space.omega @ other), initial=0.0) < 1e-10
    assert space.intersection_dimension(space.orthogonal(other), V) == k
    both = space.orthogonal(space.sum(V, W))
    assert both.shape[1] == space.intersection_dimension(other, space.orthogonal(W))


def test_kinds_of_subspaces():
    """Positions are Lagrangian, a line isotropic, a hyperplane coisotropic, a plane (q, p) symplectic."""
    E = np.eye(6)
    positions, line, hyperplane, plane = E[:, :3], E[:, :1], E[:, :5], E[:, [0, 3]]
    assert Z.lagrangian_defect(positions) < 1e-15
    assert Z.isotropic_defect(positions) == Z.coisotropic_defect(positions) == 0
    assert Z.isotropic_defect(line) == 0
    assert Z.coisotropic_defect(line) == 1
    assert Z.lagrangian_defect(line) == 1
    assert Z.isotropic_defect(hyperplane) == 1
    assert Z.coisotropic_defect(hyperplane) == 0
    assert Z.isotropic_defect(plane) == Z.coisotropic_defect(plane) == 1


def test_defect_is_the_size_of_the_failure():
    """The graph of an antisymmetric map of size ε is off by 2ε."""
    skew = 1e-6 * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])
    graph = np.vstack([np.eye(3), skew])
    assert abs(Z.isotropic_defect(graph) - 2e-6) < 1e-11
    assert 1e-7 < Z.lagrangian_defect(graph) < 1e-5
    assert Z.lagrangian_defect(np.vstack([np.eye(3), skew @ skew])) < 1e-15  # symmetric: a gradient


def test_dependent_columns_and_empty_subspaces():
    V = np.array([[1.0, 2.0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]])
    assert Z.dimension(V) == 1
    assert Z.basis(V).shape == (6, 1)
    assert Z.orthogonal(V).shape == (6, 5)
    empty = np.zeros((6, 0))
    assert Z.dimension(empty) == Z.dimension(np.zeros((6, 2))) == 0
    assert Z.orthogonal(empty).shape == (6, 6)
    assert Z.orthogonal(np.eye(6)).shape == (6, 0)
    assert Z.intersection_dimension(empty, V) == 0
    assert Z.isotropic_defect(empty) == 0
    assert Z.coisotropic_defect(np.eye(6)) == 0


def test_scale_does_not_change_dimensions():
    V = np.random.default_rng(0).normal(size=(6, 2))
    assert Z.dimension(1e-20 * V) == Z.dimension(1e20 * V) == 2
    small = SymplecticSpace(1e-20 * J)
    assert small.orthogonal(V).shape == (6, 4)


@pytest.mark.parametrize(
    ("omega", "message"),
    [
        (np.eye(2), "antisymmetric"),
        (np.zeros((2, 3)), "square"),
        (np.zeros((2, 2)), "invertible"),
        (np.zeros(4), "matrix"),
        ([[0.0, 1.0], [-1.0, 0.0]], "matrix"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "finite"),
        (np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), "invertible"),
    ],
)
def test_a_form_that_is_not_symplectic_is_refused(omega, message):
    with pytest.raises(gm.ArgumentError, match=message):
        SymplecticSpace(omega)


def test_wrong_subspaces_are_named():
    with pytest.raises(gm.ArgumentError, match=r"intersection_dimension needs W as columns of length 6"):
        Z.intersection_dimension(np.eye(6), np.eye(4))
    with pytest.raises(gm.ArgumentError, match="outside of jit"):
        jax.jit(lambda V: Z.orthogonal(V))(jnp.eye(6))
