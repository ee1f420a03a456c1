r"""Discrete constrained Lagrangian systems and, more generally, generating families on a Lie groupoid.

Convention: auxiliary variables and multipliers are one flat vector :math:`s = (u, \lambda)`, in this order. MMS §3, Def. 3.2.
"""

from collections.abc import Callable
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import (
    as_pytree,
    describe,
    explaining_traces,
    is_concrete,
    is_finite,
    name_of,
    require_instances,
    require_vector,
    traced_shape,
)
from groupoid_mech._types import Covector, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, OffConstraintsError
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.loose_chart import searched_by_chart
from groupoid_mech.manifolds.manifold import ON_MANIFOLD
from groupoid_mech.mechanics.auxiliary_frame import auxiliary_at
from groupoid_mech.mechanics.explicit_arrow import ExplicitArrow, explicit_arrow
from groupoid_mech.mechanics.increment import ArrowFunction, IncrementFunction, evaluate
from groupoid_mech.mechanics.reversed import Reversed
from groupoid_mech.mechanics.simulation import simulate
from groupoid_mech.mechanics.step import Start, Step, take_step, variation
from groupoid_mech.mechanics.step_family import StepFamily
from groupoid_mech.mechanics.time_loop import Progress
from groupoid_mech.mechanics.trajectory import Trajectory
from groupoid_mech.numerics.matrix import matvec
from groupoid_mech.numerics.newton import newton_root
from groupoid_mech.numerics.quick_jit import quick_jit


@final
class DiscreteSystem(eqx.Module):
    r"""A discrete constrained Lagrangian system :math:`(G, N, L)`, with :math:`N = \{\varphi = 0\} \subset G`.

    .. math:: L(g, u, \lambda) = \hat L(g, u) + \lambda \cdot \varphi(g, u), \qquad s = (u, \lambda), \qquad
        \Sigma_L = \{ d_g L(g, s) : \partial_s L(g, s) = 0 \} \subset T^*G .

    A trajectory is a sequence of arrows with :math:`F^+(g_k, s_k) = F^-(g_{k+1}, s_{k+1})` and
    :math:`\partial_s L(g_k, s_k) = 0`: the discrete Euler–Lagrange equations on N.

    Args:
        groupoid: The Lie groupoid G.
        lagrangian: The function :math:`\hat L` on a neighbourhood of N: ``lagrangian(g)``, or ``lagrangian(g, u)`` with auxiliary
            variables. A plain function, or an Equinox module: its numbers may change without recompiling.
        constraints: The function :math:`\varphi`, with a vector as value: ``constraints(g)``, or ``constraints(g, u)``.
        auxiliary: The number of auxiliary variables u in which the Lagrangian is made stationary.
        limits: From the unknowns (a, s) of a step to the largest change of each in one Newton iteration, for systems whose equations
            have other roots nearby; no limit if not given.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> dt = 0.1
        >>> def oscillator(g):
        ...     q, r = g
        ...     return jnp.sum((r - q) ** 2) / (2 * dt) - dt * jnp.sum(((q + r) / 2) ** 2) / 2
        >>> system = DiscreteSystem(PairGroupoid(Euclidean(1)), oscillator)
        >>> trajectory = system.simulate((jnp.array([1.0]), jnp.array([1.0])), steps=100)
        >>> trajectory.base_points.shape, bool(jnp.max(trajectory.residuals) < 1e-13)
        ((101, 1), True)
    """

    groupoid: LieGroupoid
    lagrangian: ArrowFunction
    constraints: ArrowFunction | None
    limits: Callable[[Vector], Vector] | None
    auxiliary: int = eqx.field(static=True)
    multipliers: int = eqx.field(static=True)

    def __init__(
        self,
        groupoid: LieGroupoid,
        lagrangian: ArrowFunction,
        constraints: ArrowFunction | None = None,
        auxiliary: int = 0,
        *,
        limits: Callable[[Vector], Vector] | None = None,
    ):
        require_instances("DiscreteSystem", "groupoid", (groupoid,), LieGroupoid)
        if isinstance(auxiliary, bool) or not isinstance(auxiliary, int) or auxiliary < 0:
            raise ArgumentError(f"DiscreteSystem needs auxiliary to be an integer ≥ 0; got {auxiliary!r}.")
        self.groupoid = groupoid
        self.lagrangian = parameters_as_arrays(as_pytree(lagrangian))
        self.constraints = None if constraints is None else parameters_as_arrays(as_pytree(constraints))
        self.limits = None if limits is None else as_pytree(limits)
        self.auxiliary = auxiliary
        self.multipliers = 0
        value = _value_shape(self, "lagrangian", lagrangian, self.lagrangian)
        if value.shape != ():
            raise ArgumentError(
                f"DiscreteSystem needs lagrangian to return a number, an array of shape (); "
                f"{name_of(lagrangian)} returns {describe(value)}."
            )
        if constraints is not None:
            values = _value_shape(self, "constraints", constraints, self.constraints)
            if len(values.shape) != 1 or values.shape[0] == 0:
                raise ArgumentError(
                    f"DiscreteSystem needs constraints to return a vector, one entry per constraint; "
                    f"{name_of(constraints)} returns {describe(values)}. Use jnp.stack([...])."
                )
            if values.shape[0] > groupoid.space.dim + auxiliary:
                raise ArgumentError(
                    f"DiscreteSystem needs at most as many constraints as G has dimensions ({groupoid.space.dim}); "
                    f"{name_of(constraints)} returns {values.shape[0]}."
                )
            self.multipliers = values.shape[0]
        if limits is not None:
            bounds = traced_shape(limits, jnp.zeros(self.unknowns))
            if getattr(bounds, "shape", None) != (self.unknowns,):
                raise ArgumentError(
                    f"DiscreteSystem needs limits to return {self.unknowns} numbers, one for each unknown; "
                    f"{name_of(limits)} returns {describe(bounds)}."
                )

    @property
    def unknowns(self) -> int:
        """The number of unknowns of a step: increment, auxiliary variables and multipliers."""
        return self.groupoid.rank + self.auxiliary + self.multipliers

    @property
    def sought(self) -> int:
        """How many numbers the search for a step has: the unknowns and those of a chart that is a search, or fewer (`explicit_arrow`)."""
        return self.auxiliary if self.explicit_arrow else self.unknowns + searched_by_chart(self.groupoid)

    @property
    def explicit_arrow(self) -> ExplicitArrow | None:
        """The arrow as a function of the auxiliary variables, if it follows from them."""
        plain = not self.multipliers and self.limits is None and not searched_by_chart(self.groupoid)
        return explicit_arrow(self.lagrangian) if plain and self.auxiliary == self.groupoid.rank else None

    def action(self, g: Point, s: Vector | None = None) -> Scalar:
        r"""The value :math:`L(g, s) = \hat L(g, u) + \lambda\cdot\varphi(g, u)` of the generating family."""
        g, a, s = self._arguments("action", g, s)
        return _action(self, g, a, s)

    def constraint_values(self, g: Point, u: Vector | None = None) -> Vector:
        r"""The values :math:`\varphi(g)`: zero on N, empty without constraints."""
        g, a, s = self._arguments("constraint_values", g, self._with_multipliers(u))
        return _constraint_values(self, g, a, s[: self.auxiliary])

    def legendre_minus(self, g: Point, s: Vector | None = None) -> Covector:
        r"""The discrete Legendre transformation :math:`F^-_a = \langle d_gL, \overrightarrow{e_a}\rangle`, a momentum at the source; MMS Def. 3.3."""
        return _variation(self, *self._arguments("legendre_minus", g, s)).minus

    def legendre_plus(self, g: Point, s: Vector | None = None) -> Covector:
        r"""The discrete Legendre transformation :math:`F^+_a = \langle d_gL, \overleftarrow{e_a}\rangle`, a momentum at the target; MMS Def. 3.3."""
        return _variation(self, *self._arguments("legendre_plus", g, s)).plus

    def stationarity(self, g: Point, s: Vector | None = None) -> Vector:
        r"""The derivatives :math:`\partial_s L(g, s)`: zero on :math:`\Sigma_L`; for multipliers, the constraints."""
        return _variation(self, *self._arguments("stationarity", g, s)).stationarity

    def euler_lagrange(self, g: Point, h: Point, s: Vector | None = None, t: Vector | None = None) -> Covector:
        r"""The defect :math:`F^+(g, s) - F^-(h, t)` of the discrete Euler–Lagrange equations for consecutive arrows; MMS (5)."""
        self.groupoid.check_composable(g, h)
        return self.legendre_plus(g, s) - self.legendre_minus(h, t)

    def step(self, start: Start) -> tuple[Start, Step]:
        """One step, for use inside compiled code: NaN where Newton's method fails. Differentiable in start and parameters."""
        following, step = take_step(
            self.groupoid, self.family, self.variables_at, start, self.limits, self.explicit_arrow
        )
        if not self.auxiliary or self._guessing is None:
            return following, step
        # Auxiliary variables are in frames that differ from step to step: what the family expects is nearer than what they were.
        expected = self.start_at(following.point, following.momentum).reference
        return eqx.tree_at(lambda start: start.reference, following, jax.lax.stop_gradient(expected)), step

    def hamiltonian_map(self, q: Point, p: Covector, guess: Vector | None = None) -> tuple[Point, Covector]:
        r"""The discrete Hamiltonian map :math:`F^+\circ(F^-)^{-1}` of :math:`A^*G`, a Poisson map; NaN where Newton's method fails.

        Args:
            q: The base point.
            p: The momentum at q.
            guess: Where Newton's method starts, for the unknowns (a, s); if not given what the family guesses, or zero.
        """
        self.groupoid.check_point(q, owner="DiscreteSystem.hamiltonian_map")
        require_vector("DiscreteSystem.hamiltonian_map", "p", p, self.groupoid.rank)
        if guess is not None:
            require_vector("DiscreteSystem.hamiltonian_map", "guess", guess, self.unknowns)
        return _hamiltonian_map(self, q, p, guess)

    def simulate(
        self,
        start: Any,
        steps: int,
        *,
        multipliers: Vector | None = None,
        save_every: int = 1,
        progress: Progress = False,
        throw: bool = True,
    ) -> Trajectory:
        r"""The trajectory of ``steps`` arrows from a start.

        Args:
            start: The first arrow; or a start from `from_momentum`, `from_velocity` or the ``end`` of a trajectory.
            steps: The number of arrows, the first one included.
            multipliers: The multipliers :math:`\lambda` of the first arrow; zero if not given.
            save_every: Keep every so many arrows: memory is that of what is kept.
            progress: ``True`` prints how far a long run is; a function is called with the steps done and the steps in all.
            throw: Raise ``StepFailed``, with what was computed attached, when a step fails; else return that, marked.

        Called inside ``jit``, ``grad`` or ``vmap`` it is one compiled scan and differentiable; then it cannot raise, and steps that
        fail are NaN.
        """
        begin = start if isinstance(start, Start) else self.start(start, multipliers=multipliers)
        if isinstance(start, Start) and multipliers is not None:
            raise ArgumentError(
                "DiscreteSystem.simulate takes multipliers only with an arrow as start; a Start has its own."
            )
        return simulate(self, begin, steps, save_every=save_every, progress=progress, throw=throw)

    def start(self, g: Point, *, multipliers: Vector | None = None, auxiliary: Vector | None = None) -> Start:
        r"""The start whose first arrow is ``g``: the point :math:`(\alpha(g), F^-(g, s))` of :math:`A^*G`.

        Args:
            g: The arrow, on N.
            multipliers: The multipliers of the arrow; zero if not given.
            auxiliary: A first guess for the auxiliary variables, which are then made stationary.
        """
        m, k = self.multipliers, self.auxiliary
        lam = jnp.zeros(m) if multipliers is None else multipliers
        u = jnp.zeros(k) if auxiliary is None else auxiliary
        require_vector("DiscreteSystem.start", "multipliers", lam, m)
        require_vector("DiscreteSystem.start", "auxiliary", u, k)
        self.groupoid.check_arrow(g, owner="DiscreteSystem.start")
        begin, off = _start(self, g, u, lam)
        if k and is_concrete(begin) and not is_finite(begin):
            raise ArgumentError(
                f"DiscreteSystem.start found no auxiliary variables that make the Lagrangian stationary near {u}. "
                f"Give a nearer guess as auxiliary=..., or start from_momentum."
            )
        if m and is_concrete(off) and not float(off) <= ON_MANIFOLD:
            raise OffConstraintsError(
                f"DiscreteSystem needs the arrow on the constraint submanifold N; its constraints are off by {float(off):.3g} "
                f"(allowed {ON_MANIFOLD:g}). Use system.project(g) to move it onto N."
            )
        return begin

    def project(self, g: Point) -> Point:
        r"""A nearby arrow on N with the same source: the least change of the fibre coordinates, in first order."""
        self.groupoid.check_arrow(g, owner="DiscreteSystem.project")
        if not self.multipliers:
            return g
        if self.auxiliary:
            raise ArgumentError(
                "DiscreteSystem.project needs constraints on arrows alone; these depend on auxiliary variables."
            )
        projected = _project(self, g)
        if is_concrete(projected) and not is_finite(projected):
            raise OffConstraintsError(
                "DiscreteSystem.project found no arrow on N with the same source near g: the constraints are dependent along the "
                "fibre there, or too far from zero. Give a nearer arrow; gm.regularity(system, g) shows the ranks."
            )
        return projected

    def reversed(self) -> "DiscreteSystem":
        r"""The system :math:`-L(g^{-1}, s)`, which runs backwards: its trajectories are the inverse arrows in reverse order, with the
        same momenta, and its Hamiltonian map is the inverse one.
        """
        constraints = None if self.constraints is None else Reversed(self.groupoid, self.constraints)
        lagrangian = Reversed(self.groupoid, self.lagrangian)
        return DiscreteSystem(self.groupoid, lagrangian, constraints, self.auxiliary, limits=self.limits)

    def family(self, g: Point, a: Vector, s: Vector) -> Scalar:
        """The value of the family at the arrow ``g`` with fibre coordinates ``a``, without checks: what the step differentiates."""
        u, lam = s[: self.auxiliary], s[self.auxiliary :]
        value = evaluate(self.lagrangian, g, a, self._given(u))
        if self.constraints is None:
            return value
        return value + jnp.sum(lam * evaluate(self.constraints, g, a, self._given(u)))

    def variables_at(self, g: Point, a: Vector, s: Vector) -> Vector:
        """The auxiliary variables and multipliers at an arrow, from the unknowns of the step that is sought."""
        if not self.auxiliary:
            return s
        if not self.multipliers:
            return auxiliary_at(self.lagrangian, g, a, s)
        return jnp.concatenate([auxiliary_at(self.lagrangian, g, a, s[: self.auxiliary]), s[self.auxiliary :]])

    def family_size(self) -> int:
        """The number of auxiliary variables and multipliers."""
        return self.auxiliary + self.multipliers

    def start_at(self, q: Point, p: Covector, guess: Vector | None = None) -> Start:
        """The start at a point (q, p) with a guess for the unknowns (a, s), that of `first_guess` if not given; without checks."""
        known = self.first_guess(q, p) if guess is None else guess
        if self.explicit_arrow:
            return Start(q, p, known[self.groupoid.rank :])
        searched = searched_by_chart(self.groupoid)
        return Start(q, p, jnp.concatenate([known, jnp.zeros(searched)]) if searched else known)

    def guess_of(self, start: Start) -> Vector:
        """The unknowns (a, s) that a search begins with at a start."""
        arrow = self.explicit_arrow
        return (
            jnp.concatenate([arrow(start.point, start.guess), start.guess]) if arrow else start.guess[: self.unknowns]
        )

    def first_guess(self, q: Point, p: Covector) -> Vector:
        """Where to look for the unknowns (a, s) of a step from (q, p) about which nothing is known: what a `StepFamily` says, else zero."""
        family = self._guessing
        return jnp.zeros(self.unknowns) if family is None else family.guess(q, p)

    def increment(self, g: Point) -> Vector:
        """The fibre coordinates of an arrow, where a Lagrangian or constraint asks for them; else zeros, which nothing reads."""
        if isinstance(self.lagrangian, IncrementFunction) or isinstance(self.constraints, IncrementFunction):
            return self.groupoid.fiber_local(self.groupoid.source(g), g)
        return jnp.zeros(self.groupoid.rank)

    @property
    def _guessing(self) -> StepFamily | None:
        """The family, if it knows where to look for a step: multipliers it does not know."""
        return self.lagrangian if isinstance(self.lagrangian, StepFamily) and not self.multipliers else None

    def _given(self, u: Vector) -> tuple[Vector, ...]:
        return (u,) if self.auxiliary else ()

    def _with_multipliers(self, u: Vector | None) -> Vector | None:
        return None if u is None else jnp.concatenate([u, jnp.zeros(self.multipliers)])

    def _arguments(self, method: str, g: Point, s: Vector | None) -> tuple[Point, Vector, Vector]:
        self.groupoid.check_arrow(g, owner=f"DiscreteSystem.{method}")
        size = self.family_size()
        if s is None and self.auxiliary:
            raise ArgumentError(f"DiscreteSystem.{method} needs s, the {size} auxiliary variables and multipliers.")
        s = jnp.zeros(size) if s is None else s
        require_vector(f"DiscreteSystem.{method}", "s", s, size)
        return g, self.increment(g), s


def parameters_as_arrays(function: Any) -> Any:
    """The floats of a module as arrays: then jit takes them as data, and changing one does not recompile."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf) if isinstance(leaf, float) else leaf, function)


def _value_shape(system: DiscreteSystem, role: str, given: Any, function: Any) -> Any:
    if not (callable(given) or isinstance(given, IncrementFunction)):
        raise ArgumentError(f"DiscreteSystem needs {role} to be a function of an arrow; got {describe(given)}.")
    G, u = system.groupoid, jnp.zeros(system.auxiliary)

    def value(f: Any, g: Point) -> Any:
        return evaluate(f, g, jnp.zeros(G.rank), system._given(u))

    with explaining_traces(given):
        shape = eqx.filter_eval_shape(value, function, G.space.point_like())
    if not (isinstance(shape, jax.ShapeDtypeStruct) and np.issubdtype(shape.dtype, np.floating)):
        raise ArgumentError(
            f"DiscreteSystem needs {role} to return one array of floats; {name_of(given)} returns {describe(shape)}."
        )
    return shape


@eqx.filter_jit
def _action(system: DiscreteSystem, g: Point, a: Vector, s: Vector) -> Scalar:
    return system.family(g, a, s)


@eqx.filter_jit
def _constraint_values(system: DiscreteSystem, g: Point, a: Vector, u: Vector) -> Vector:
    if system.constraints is None:
        return jnp.zeros(0)
    return evaluate(system.constraints, g, a, system._given(u))


@eqx.filter_jit
def _variation(system: DiscreteSystem, g: Point, a: Vector, s: Vector) -> Any:
    return variation(system.groupoid, system.family, g, a, s)


@eqx.filter_jit
def _hamiltonian_map(system: DiscreteSystem, q: Point, p: Covector, guess: Vector | None) -> tuple[Point, Covector]:
    end, _ = system.step(system.start_at(q, p, guess))
    return end.point, end.momentum


@quick_jit
def _start(system: DiscreteSystem, g: Point, u: Vector, lam: Vector) -> tuple[Start, Scalar]:
    G, k = system.groupoid, system.auxiliary
    a = G.fiber_local(G.source(g), g)
    if k:
        u = newton_root(lambda u: jax.grad(lambda w: system.family(g, a, jnp.concatenate([w, lam])))(u), u)
    s = jnp.concatenate([u, lam])
    found = variation(G, system.family, g, a, s)
    begin = system.start_at(G.source(g), found.minus, jnp.concatenate([a, s]))
    return begin, jnp.max(jnp.abs(found.stationarity[k:]), initial=0.0)


@quick_jit
def _project(system: DiscreteSystem, g: Point) -> Point:
    G = system.groupoid
    q = G.source(g)
    near = G.fiber_local(q, g)

    def constraints(a: Vector) -> Vector:
        return _constraint_values(system, G.fiber_chart(q, a), a, jnp.zeros(0))

    normals = jax.jacfwd(constraints)(near).T
    amount = newton_root(lambda c: constraints(near + matvec(normals, c)), jnp.zeros(system.multipliers))
    return G.fiber_chart(q, near + matvec(normals, amount))
