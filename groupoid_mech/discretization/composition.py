r"""Composition of one-step methods. BM §6.

Convention: methods compose left to right, ``compose(first, second)`` takes the step of ``first`` first.
"""

from collections.abc import Sequence
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import describe, is_concrete, number, require_instances, same_structure, time_step
from groupoid_mech._types import Array, Point, Scalar
from groupoid_mech.discretization.integrator import Integrator, Taken
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.manifold import Manifold

# Sums of weights and of steps are known to this.
_ROUND_OFF = 1e-12


@final
class Composition(Integrator):
    r"""The method :math:`\Phi^{(n)} \circ \cdots \circ \Phi^{(1)}`: the steps of several methods, one after the other.

    As Lagrangian relations :math:`\mathcal L_n \circ \cdots \circ \mathcal L_1`, BM §6.

    Args:
        methods: The methods, in the order of their steps.
        dt: The time that all steps together take. It is the sum of theirs for methods of one motion, as `compose` has it, but not for those
            of its parts: a kick and a drift of length dt together take the time dt.
    """

    methods: tuple[Integrator, ...]
    space: Manifold
    dt: Scalar
    fractions: tuple[Scalar, ...]

    def __init__(self, methods: Sequence[Integrator], dt: ArrayLike):
        self.methods = tuple(methods)
        self.space = _common_space("Composition", self.methods)
        self.dt = time_step("Composition", dt)
        # Kept for other lengths of the step: after a step of length 0 they could not be found again.
        self.fractions = tuple(method.dt / self.dt for method in self.methods)

    def begin(self, x: Point) -> Any:
        return tuple(method.begin(x) for method in self.methods)

    def advance(self, x: Point, memory: Any) -> tuple[Taken, Any]:
        return _one_after_the_other(self.methods, x, memory)

    def with_step(self, dt: ArrayLike) -> "Composition":
        h = number("Composition.with_step", "dt", dt)
        parts = zip(self.methods, self.fractions, strict=True)
        methods = tuple(method.with_step(fraction * h) for method, fraction in parts)
        return eqx.tree_at(lambda composition: (composition.methods, composition.dt), self, (methods, h))

    def adjoint(self) -> "Composition":
        parts = tuple(method.adjoint() for method in reversed(self.methods)), self.fractions[::-1]
        return eqx.tree_at(lambda composition: (composition.methods, composition.fractions), self, parts)


@final
class WeightedComposition(Integrator):
    r"""The method :math:`\prod_i \bigl(\Phi^{(m)}_{w_{im} dt} \circ \cdots \circ \Phi^{(1)}_{w_{i1} dt}\bigr)`: few methods with many lengths of
    their steps.

    With one method, the compositions :math:`\Phi_{\gamma_s dt} \circ \cdots \circ \Phi_{\gamma_1 dt}` of BM §6.2; with two, splitting methods
    and compositions of a method with its adjoint. A loop over the weights: however many there are, the program holds one copy of each step.

    Args:
        methods: The methods Φ; their own time steps do not matter.
        weights: The numbers w, with one row for each turn of the loop and one column for each method. What they sum up to depends on the
            methods: each column to 1 for the parts of a motion, all together for a method and its adjoint.
        dt: The time step.
    """

    methods: tuple[Integrator, ...]
    weights: Array
    dt: Scalar
    space: Manifold

    def __init__(self, methods: Sequence[Integrator], weights: ArrayLike, dt: ArrayLike):
        self.methods = tuple(methods)
        self.space = _common_space("WeightedComposition", self.methods)
        self.weights = numbers("WeightedComposition", "weights", weights)
        if self.weights.ndim != 2 or self.weights.shape[1] != len(self.methods) or not self.weights.size:
            raise ArgumentError(
                f"WeightedComposition needs weights with one column for each of the {len(self.methods)} methods; "
                f"got shape {self.weights.shape}."
            )
        self.dt = time_step("WeightedComposition", dt)

    def begin(self, x: Point) -> Any:
        memory = tuple(method.begin(x) for method in self.methods)
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (self.weights.shape[0], *leaf.shape)), memory)

    def advance(self, x: Point, memory: Any) -> tuple[Taken, Any]:
        def turn(x: Point, stage: tuple[Array, Any]) -> tuple[Point, tuple[Any, Any]]:
            weights, own = stage
            methods = [method.with_step(weights[k] * self.dt) for k, method in enumerate(self.methods)]
            taken, own = _one_after_the_other(methods, x, own)
            return taken.point, (taken[1:], own)

        x, ((residuals, iterations, converged), kept) = jax.lax.scan(turn, x, (self.weights, memory))
        return Taken(x, jnp.max(residuals), jnp.max(iterations), jnp.all(converged)), kept

    def with_step(self, dt: ArrayLike) -> "WeightedComposition":
        return eqx.tree_at(lambda method: method.dt, self, number("WeightedComposition.with_step", "dt", dt))

    def adjoint(self) -> "WeightedComposition":
        methods = [method.adjoint() for method in reversed(self.methods)]
        return WeightedComposition(methods, self.weights[::-1, ::-1], self.dt)


def compose(*methods: Integrator) -> Composition:
    r"""The steps of several methods, one after the other; its time step is the sum of theirs.

    Example:
        >>> import groupoid_mech as gm
        >>> line, H = gm.Euclidean(1), lambda q, p: p[0] ** 2 / 2 - jnp.cos(q[0])
        >>> euler = [gm.hamiltonian_integrator(H, gm.theta_map(line, theta), 0.05) for theta in (0, 1)]
        >>> float(compose(*euler).dt)
        0.1
    """
    require_instances("compose", "methods", methods, Integrator)
    steps: list[Any] = [method.dt for method in methods]
    total = sum(steps)
    if is_concrete(steps) and abs(float(total)) <= _ROUND_OFF * max(abs(float(step)) for step in steps):
        raise ArgumentError(
            f"compose needs steps that together take some time; those of {[float(step) for step in steps]} sum up to 0. "
            f"To undo a step, run method.adjoint().with_step(-method.dt) by itself."
        )
    return Composition(methods, total)


def raise_order(method: Integrator, weights: ArrayLike) -> WeightedComposition:
    r"""The composition :math:`\Phi_{\gamma_s dt} \circ \cdots \circ \Phi_{\gamma_1 dt}` of a method with itself; BM (6.2).

    With rows :math:`(a_i, b_i)` of a splitting as weights, that of a method of order 1 with its adjoint,

    .. math:: \cdots \circ \Phi^*_{\beta_1 dt} \circ \Phi_{\alpha_1 dt}, \qquad
        a_i = \beta_{i-1} + \alpha_i, \qquad b_i = \alpha_i + \beta_i, \qquad \beta_0 = 0 :

    it has the order of the splitting, and is the splitting itself where Φ is a drift, then a kick. Partitioned methods for Hamiltonians
    that are not separable are of this form, with a symplectic Euler method as Φ (McLachlan, SIAM J. Sci. Comput. 16, 1995).

    Args:
        method: The method Φ; symmetric and of order 2 for the weights of `triple_jump`, `suzuki` and `optimized`, any for rows.
        weights: The numbers γ, in the order of the steps, with sum 1; or rows :math:`(a_i, b_i)`, with sums 1 and 1, as those of
            `splitting_weights`.

    Example:
        >>> import groupoid_mech as gm
        >>> pendulum = gm.Separable(lambda p: p[0] ** 2 / 2, lambda q: -jnp.cos(q[0]))
        >>> fourth_order = raise_order(gm.stormer_verlet(pendulum, gm.Euclidean(1), dt=0.1), gm.triple_jump(4))
        >>> float(fourth_order.dt)
        0.1
        >>> H = lambda q, p: (1 + q[0] ** 2) * p[0] ** 2 / 2
        >>> euler = gm.hamiltonian_integrator(H, gm.theta_map(gm.Euclidean(1), 1), dt=0.1)
        >>> len(raise_order(euler, gm.splitting_weights(4)).methods)
        2
    """
    require_instances("raise_order", "method", (method,), Integrator)
    rows = numbers("raise_order", "weights", weights)
    if rows.ndim != 2 or rows.shape[1] != 2 or not rows.size:
        return repeated("raise_order", method, weights)
    require_whole_steps("raise_order", rows)
    return WeightedComposition([method, method.adjoint()], _with_adjoint(rows), method.dt)


def symmetrize(method: Integrator) -> Composition:
    r"""The symmetric method :math:`\Phi^*_{dt/2} \circ \Phi_{dt/2}`: half a step, and half a step of the adjoint."""
    require_instances("symmetrize", "method", (method,), Integrator)
    half = method.with_step(method.dt / 2)
    return Composition([half, half.adjoint()], method.dt)


def repeated(owner: str, method: Integrator, weights: ArrayLike) -> WeightedComposition:
    """The composition of a method with itself; weights that are no vector with sum 1 are refused."""
    gammas = numbers(owner, "weights", weights)
    if gammas.ndim != 1 or not gammas.size:
        raise ArgumentError(f"{owner} needs weights to be a vector of numbers; got shape {gammas.shape}.")
    require_whole_steps(owner, gammas[:, None])
    return WeightedComposition([method], gammas[:, None], method.dt)


def _with_adjoint(rows: Array) -> Array:
    """The lengths (α, β) of the steps of a method and its adjoint that a splitting (a, b) stands for, without a last step of no length."""
    # The partial sums of a₁, b₁, a₂, b₂, … with alternating signs.
    signs = jnp.where(jnp.arange(rows.size) % 2, -1.0, 1.0)
    lengths = (signs * jnp.cumsum(signs * rows.reshape(-1))).reshape(rows.shape)
    # The last of both are 0 where a splitting ends with a drift.
    ends_with_drift = is_concrete(rows) and rows.shape[0] > 1 and float(rows[-1, 1]) == 0
    return lengths[:-1] if ends_with_drift else lengths


def numbers(owner: str, name: str, value: Any) -> Array:
    """An array of numbers; anything else is refused."""
    try:
        return jnp.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{owner} needs {name} to be numbers; got {describe(value)}.") from error


def require_whole_steps(owner: str, weights: Array) -> None:
    """Refuse weights that are known and of which a column does not sum up to 1: the steps would take another time than dt."""
    if not is_concrete(weights):
        return
    sums = np.sum(np.asarray(weights), axis=0)
    if not np.all(np.abs(sums - 1) <= _ROUND_OFF):
        raise ArgumentError(
            f"{owner} needs weights that sum up to 1, so that the steps together take the time dt; they sum up to "
            f"{', '.join(f'{total:.15g}' for total in sums)}. Check them, or divide rounded ones by their sum."
        )


def _one_after_the_other(methods: Sequence[Integrator], x: Point, memory: Any) -> tuple[Taken, Any]:
    taken, kept = [], []
    for method, own in zip(methods, memory, strict=True):
        step, own = method.advance(x, own)
        taken.append(step)
        kept.append(own)
        x = step.point
    residuals, iterations, converged = (
        jnp.stack([getattr(step, name) for step in taken]) for name in ("residual", "iterations", "converged")
    )
    return Taken(x, jnp.max(residuals), jnp.max(iterations), jnp.all(converged)), tuple(kept)


def _common_space(owner: str, methods: tuple[Integrator, ...]) -> Manifold:
    require_instances(owner, "methods", methods, Integrator)
    for method in methods[1:]:
        if not same_structure(method.space, methods[0].space):
            raise ArgumentError(f"{owner} needs methods on one manifold, {methods[0].space}; one is on {method.space}.")
    return methods[0].space
