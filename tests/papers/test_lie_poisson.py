r"""The discrete constrained Lie–Poisson equations of MMS §6.1 on SO(3), SE(2) and SE(3), in matrices and textbook formulas.

.. math:: \mu_{k+1} + \lambda_{k+1}\Phi_{k+1} = \mathrm{Ad}^*_{g_k}(\mu_k + \lambda_k\Phi_k), \qquad
    (d\tau^{-1}_{h\xi_k})^*(dl(\xi_k) + \lambda_k d\Psi) = (d\tau^{-1}_{-h\xi_{k+1}})^*(dl(\xi_{k+1}) + \lambda_{k+1} d\Psi) .
"""

from math import factorial
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import groupoid_mech as gm

# They compile the same steps.
pytestmark = pytest.mark.xdist_group("systems")

TOLERANCE = 1e-12
H = 0.1
CROSS = [
    np.array([[0.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
    np.array([[0.0, 0, 1], [0, 0, 0], [-1, 0, 0]]),
    np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 0]]),
]


def motion_basis(rotations, n):
    """The rotations as (n+1)×(n+1) matrices, followed by the n translations."""
    turned = [np.pad(E, (0, 1)) for E in rotations]
    return turned + [np.outer(np.eye(n + 1)[i], np.eye(n + 1)[n]) for i in range(n)]


def motion_matrix(g):
    R, x = (np.asarray(part) for part in g)
    return np.block([[R, x[:, None]], [np.zeros((1, x.size)), np.ones((1, 1))]])


class Case(NamedTuple):
    factory: Any
    group: Any
    basis: list
    matrix: Any
    weights: tuple
    driven: list
    held: list


CASES = {
    "SO3": Case(gm.systems.reorientation, gm.SO3, CROSS, np.asarray, (1.0, 2.0), [0, 1], [2]),
    "SE2": Case(
        gm.systems.unicycle, gm.SE2, motion_basis([CROSS[2][:2, :2]], 2), motion_matrix, (1.0, 3.0), [0, 1], [2]
    ),
    "SE3": Case(
        gm.systems.vehicle, gm.SE3, motion_basis(CROSS, 3), motion_matrix, (1.0, 1.5, 2.0, 1.0), [0, 1, 2, 3], [4, 5]
    ),
}


class Steps(NamedTuple):
    case: Case
    tau: str
    g: list  # matrices
    coordinates: list  # τ⁻¹ of these
    lam: np.ndarray
    arrows: list  # in the library's form


@pytest.fixture(
    scope="module",
    params=[("SO3", "exp"), ("SO3", "cayley"), ("SE2", "exp"), ("SE2", "cayley"), ("SE3", "cayley")],
    ids="-".join,
)
def steps(request):
    name, tau = request.param
    case = CASES[name]
    trajectory = case.factory(dt=H, weights=case.weights, tau=tau).simulate(12)
    arrows = [trajectory_arrow(trajectory.arrows, k) for k in range(12)]
    g = [case.matrix(arrow) for arrow in arrows]
    coordinates = [tau_inverse(case.basis, tau, matrix) for matrix in g]
    return Steps(case, tau, g, coordinates, np.asarray(trajectory.multipliers), arrows)


def trajectory_arrow(arrows, k):
    return tuple(part[k] for part in arrows) if isinstance(arrows, tuple) else arrows[k]


def vee(basis, X):
    """The coordinates of a matrix in the algebra."""
    return np.linalg.lstsq(np.stack([E.ravel() for E in basis], axis=1), X.ravel(), rcond=None)[0]


def hat(basis, xi):
    return sum(x * E for x, E in zip(xi, basis, strict=True))


def tau_inverse(basis, tau, g):
    identity = np.eye(len(g))
    X = scipy.linalg.logm(g) if tau == "exp" else 2 * np.linalg.solve(g + identity, g - identity)
    return vee(basis, X)


def operator(basis, linear):
    """The matrix, in the basis, of a linear map of the algebra."""
    return np.stack([vee(basis, linear(E)) for E in basis], axis=1)


def right_trivialized_inverse(steps, xi):
    r"""The inverse of η ↦ (Dτ(ξ)η) τ(ξ)⁻¹: Bernoulli's series for exp, (1 − ξ/2) η (1 + ξ/2) for Cayley's map."""
    basis = steps.case.basis
    X, identity = hat(basis, xi), np.eye(len(basis[0]))
    if steps.tau == "cayley":
        return operator(basis, lambda Y: (identity - X / 2) @ Y @ (identity + X / 2))
    ad = operator(basis, lambda Y: X @ Y - Y @ X)
    numbers = scipy.special.bernoulli(24)
    return sum(numbers[n] / factorial(n) * np.linalg.matrix_power(ad, n) for n in range(25))


def left_trivialized_inverse(steps, xi):
    return right_trivialized_inverse(steps, -xi)


def adjoint(steps, g):
    return operator(steps.case.basis, lambda Y: g @ Y @ np.linalg.inv(g))


def momentum(steps, a, lam):
    """The covector dl(ξ) + λ dΨ at ξ = a/h."""
    case, xi = steps.case, a / H
    force = np.zeros(len(case.basis))
    force[case.driven] = np.asarray(case.weights) * xi[case.driven]
    force[case.held] = lam
    return force


def right_covectors(steps, sign=1):
    """μ_k + sign · λ_k Φ_k, covectors at the identity by right translation."""
    return [
        right_trivialized_inverse(steps, a).T @ momentum(steps, a, sign * lam)
        for a, lam in zip(steps.coordinates, steps.lam, strict=True)
    ]


def largest(values):
    return np.max(np.abs(np.stack(values)))


def test_the_constraints_hold_and_the_steps_differ(steps):
    xi = np.stack(steps.coordinates)
    assert largest(xi[:, steps.case.held]) <= TOLERANCE
    assert np.min(np.ptp(xi[:, steps.case.driven], axis=0)) > 1e-4
    assert np.min(np.ptp(steps.lam, axis=0)) > 1e-3


def test_discrete_constrained_lie_poisson_equations(steps):
    covectors = right_covectors(steps)
    defects = [
        after - adjoint(steps, g).T @ before
        for before, after, g in zip(covectors[:-1], covectors[1:], steps.g[:-1], strict=True)
    ]
    assert largest(defects) <= TOLERANCE


@pytest.mark.parametrize("wrong", ["multiplier", "adjoint"])
def test_a_wrong_sign_fails(steps, wrong):
    covectors = right_covectors(steps, sign=-1 if wrong == "multiplier" else 1)
    turn = np.linalg.inv if wrong == "adjoint" else np.asarray
    defects = [
        after - adjoint(steps, turn(g)).T @ before
        for before, after, g in zip(covectors[:-1], covectors[1:], steps.g[:-1], strict=True)
    ]
    assert largest(defects) >= 1e-3


def test_the_equations_in_terms_of_the_derivative_of_tau(steps):
    xi = steps.coordinates
    forces = [momentum(steps, a, lam) for a, lam in zip(xi, steps.lam, strict=True)]

    def defects(sign):
        return [
            left_trivialized_inverse(steps, xi[k]).T @ forces[k]
            - left_trivialized_inverse(steps, sign * xi[k + 1]).T @ forces[k + 1]
            for k in range(len(xi) - 1)
        ]

    assert largest(defects(-1)) <= TOLERANCE
    assert largest(defects(+1)) >= 1e-3


def test_the_group_has_the_same_formulas(steps):
    """Coadjoint action and left-trivialized derivative of the library against those above."""
    group, g = steps.case.group(tau=steps.tau), steps.g[0]
    inverse = group.inverse(steps.arrows[0])
    np.testing.assert_allclose(group.coadjoint(inverse), adjoint(steps, g).T, atol=1e-13)
    xi = steps.coordinates[0]
    np.testing.assert_allclose(group.dtau_inverse(xi), left_trivialized_inverse(steps, xi), atol=1e-13)
