r"""The abstract one-step method on a manifold, and how it is run.

Convention: a method is a map :math:`\Phi_{dt}: M \to M` that moves a point by the time dt; for Hamiltonian methods M is :math:`A^*G`, with
points (q, p).
"""

import dataclasses
import functools
import operator
from abc import abstractmethod
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from groupoid_mech._arguments import is_concrete
from groupoid_mech._types import Array, Point, Scalar
from groupoid_mech.discretization.orbit import Orbit
from groupoid_mech.errors import StepFailed
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.mechanics.time_loop import Progress, check_lengths, run, scan


class Taken(NamedTuple):
    """A step that was taken: the point it leads to, and how it went: ``converged`` says whether its equations were solved."""

    point: Point
    residual: Scalar
    iterations: Array
    converged: Array


class Integrator(eqx.Module):
    r"""A one-step method :math:`x_{k+1} = \Phi_{dt}(x_k)` on a manifold M.

    Subclasses give the manifold ``space``, the time step ``dt``, ``begin``, ``advance``, the same method ``with_step`` of another length, and
    the ``adjoint``.
    """

    space: eqx.AbstractVar[Manifold]
    dt: eqx.AbstractVar[Scalar]

    @abstractmethod
    def begin(self, x: Point) -> Any:
        """What the method remembers from step to step, before the first one: arrays, or nothing."""

    @abstractmethod
    def advance(self, x: Point, memory: Any) -> tuple[Taken, Any]:
        """One step from ``x``, and what to remember; not converged where its equations have no solution."""

    @abstractmethod
    def with_step(self, dt: ArrayLike) -> "Integrator":
        r"""The method :math:`\Phi_{dt}` of another length of the step, which may be negative."""

    @abstractmethod
    def adjoint(self) -> "Integrator":
        r"""The adjoint method :math:`\Phi^*_{dt} = \Phi_{-dt}^{-1}`; a symmetric method is its own."""

    def __call__(self, x: Point) -> Point:
        r"""The point :math:`\Phi_{dt}(x)`: differentiable. A step that fails raises ``StepFailed``; inside of ``jit`` it is not finite."""
        self.space.check_point(x, owner=type(self).__name__)
        taken = _once(self, x)
        if is_concrete(taken) and not bool(taken.converged):
            nothing = jax.tree.map(lambda leaf: np.asarray(leaf)[None][:0], taken)
            message = _failure(self, 1, int(taken.iterations)) + "."
            orbit = dataclasses.replace(_orbit(self, x, nothing, 1, np), failure=message)
            raise StepFailed(message, step=1, trajectory=orbit)
        return taken.point

    def run(
        self, x: Point, steps: int, *, save_every: int = 1, progress: Progress = False, throw: bool = True
    ) -> Orbit:
        r"""The orbit :math:`x_0, \dots, x_n` of ``steps`` steps from ``x``.

        Args:
            x: The first point.
            steps: The number of steps.
            save_every: Keep every so many points: memory is that of what is kept.
            progress: ``True`` prints how far a long run is; a function is called with the steps done and the steps in all.
            throw: Raise ``StepFailed``, with what was computed attached, when a step fails; else return that, marked.

        Called inside ``jit``, ``grad`` or ``vmap`` it is one compiled scan and differentiable; then it cannot raise, and steps that
        fail are not finite and not ``converged``.
        """
        owner = f"{type(self).__name__}.run"
        check_lengths(owner, steps, save_every)
        self.space.check_point(x, owner=owner)
        if not is_concrete((self, x)):
            _, kept = scan(Running(self), (x, self.begin(x)), steps, save_every)
            return _orbit(self, x, kept, save_every, jnp)
        blank: Any = np.asarray(0.0), np.asarray(0), np.asarray(False)
        nothing = Taken(jax.tree.map(np.asarray, x), *blank)
        state = x, _begin(self, x)
        _, kept, taken, failed, last = run(Running(self), state, nothing, steps, save_every, progress)
        orbit = _orbit(self, x, kept, save_every, np)
        if not failed:
            return orbit
        message = (
            f"{_failure(self, taken + 1, int(last.iterations))}; the {taken} steps before it are in error.trajectory."
        )
        flagged = dataclasses.replace(orbit, failure=message)
        if throw:
            raise StepFailed(message, step=taken + 1, trajectory=flagged)
        return flagged


@final
class Running(eqx.Module):
    """A method as the time loop takes it: the state is the point and what the method remembers."""

    integrator: Integrator

    def step(self, state: tuple[Point, Any]) -> tuple[tuple[Point, Any], Taken]:
        """The next state and the record of the step, which failed if a number of the point or the residual is not finite."""
        taken, memory = self.integrator.advance(*state)
        # Here, once for all parts of a composition: what is not finite stays so in those that follow.
        finite = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves((taken.point, taken.residual))]
        return (taken.point, memory), taken._replace(converged=functools.reduce(operator.and_, finite, taken.converged))


def explicit(point: Point) -> Taken:
    """A step without equations to solve; whether the point is finite is looked at when all of the step is taken."""
    return Taken(point, jnp.asarray(0.0), jnp.asarray(0), jnp.asarray(True))


def _orbit(integrator: Integrator, x: Point, kept: Taken, stride: int, xp: Any) -> Orbit:
    points = jax.tree.map(lambda a, b: xp.concatenate([xp.asarray(a)[None], b]), x, kept.point)
    numbers = stride * (1 + xp.arange(kept.residual.shape[0]))
    arrays = points, kept.residual, kept.iterations, kept.converged, numbers
    # Unlike ``jnp.asarray``, this is no program to compile for every new length.
    return Orbit(integrator.space, integrator.dt, *(jax.device_put(arrays) if xp is np else arrays))


def _failure(integrator: Integrator, number: int, iterations: int) -> str:
    """What happened in a step that failed, and what to do; without a full stop."""
    step = f"step {number} of {type(integrator).__name__} failed"
    if iterations:
        return (
            f"{step} after {iterations} iterations: Newton's method did not converge, or the point left the domain of the method. "
            f"Take a smaller dt"
        )
    return (
        f"{step}: it leads to a point that is not finite. The method is explicit, there are no equations that could fail: the motion runs "
        f"away, or dt is too long for the method to be stable. Take a smaller dt, or a start from which the motion stays bounded"
    )


@eqx.filter_jit
def _once(integrator: Integrator, x: Point) -> Taken:
    return Running(integrator).step((x, integrator.begin(x)))[1]


@eqx.filter_jit
def _begin(integrator: Integrator, x: Point) -> Any:
    return integrator.begin(x)
