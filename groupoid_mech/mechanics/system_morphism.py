r"""Morphisms of discrete systems: reduction of trajectories, and their reconstruction.

Convention: the *domain* is upstairs, the *codomain* is the reduced system; what belongs to the latter has a prime in formulas. MMS Def. 4.2,
Theorem 4.5, Corollary 4.6.
"""

from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import is_concrete, require_instances
from groupoid_mech._types import Array, Covector, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, NotASystemMorphismError, NotLiftableError, StepFailed
from groupoid_mech.groupoids.groupoid import LieGroupoid, point_distance
from groupoid_mech.groupoids.morphism import Morphism
from groupoid_mech.groupoids.sameness import require_same_groupoid
from groupoid_mech.manifolds.manifold import ON_MANIFOLD
from groupoid_mech.mechanics.lagrangian_submanifold import LagrangianSubmanifold
from groupoid_mech.mechanics.pulled_back import pulled_back
from groupoid_mech.mechanics.regularity import null_space
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.mechanics.trajectory import Trajectory
from groupoid_mech.numerics.matrix import matvec, right_inverse
from groupoid_mech.numerics.newton import newton_solve
from groupoid_mech.numerics.quick_jit import quick_jit

_CHECKED_POINTS = 8


@final
class SystemMorphism(eqx.Module):
    r"""A morphism :math:`\Phi: (G, N, L) \to (G', N', L')` of discrete constrained systems.

    .. math:: \Phi(g h) = \Phi(g)\,\Phi(h), \qquad N = \Phi^{-1}(N'), \qquad L = L' \circ \Phi \text{ on } N .

    On drawn arrows the construction checks that it is one, and raises ``NotASystemMorphismError`` with the condition that fails and by
    how much. Trajectories upstairs are taken to trajectories of the reduced system, and back.

    Args:
        morphism: The morphism of groupoids.
        domain: The system upstairs; `pulled_back` makes it from the reduced one.
        codomain: The reduced system.

    Example:
        >>> from groupoid_mech import GroupGroupoid, Translations, pair_to_group, pulled_back
        >>> Phi = pair_to_group(Translations(1))
        >>> free = DiscreteSystem(GroupGroupoid(Translations(1)), lambda g: jnp.sum(jnp.cosh(g)))
        >>> reduction = SystemMorphism(Phi, pulled_back(free, Phi), free)
        >>> upstairs = reduction.domain.simulate((jnp.zeros(1), jnp.full(1, 0.25)), 4)
        >>> upstairs.reduce(reduction).arrows[:, 0]
        Array([0.25, 0.25, 0.25, 0.25], dtype=float64)
        >>> reduction.reconstruct(upstairs.reduce(reduction), jnp.ones(1)).base_points[:, 0]
        Array([1.  , 1.25, 1.5 , 1.75, 2.  ], dtype=float64)
    """

    morphism: Morphism
    domain: DiscreteSystem
    codomain: DiscreteSystem
    same_family: bool = eqx.field(static=True)

    def __init__(self, morphism: Morphism, domain: DiscreteSystem, codomain: DiscreteSystem):
        owner = "SystemMorphism"
        require_instances(owner, "morphism", (morphism,), Morphism)
        require_instances(owner, "domain", (domain,), DiscreteSystem)
        require_instances(owner, "codomain", (codomain,), DiscreteSystem)
        require_same_groupoid(owner, "morphism.domain", morphism.domain, "domain.groupoid", domain.groupoid)
        require_same_groupoid(owner, "morphism.codomain", morphism.codomain, "codomain.groupoid", codomain.groupoid)
        for name in ("auxiliary", "multipliers"):
            there, here = getattr(domain, name), getattr(codomain, name)
            if there != here:
                raise NotASystemMorphismError(
                    f"{owner} needs as many {name} upstairs as in the reduced system; got {there} and {here}. {_CURE}"
                )
        self.morphism = morphism
        self.domain = domain
        self.codomain = codomain
        self.same_family = True
        if is_concrete((morphism, domain, codomain)):
            self.same_family = _require_system_morphism(self)

    def then(self, other: "SystemMorphism") -> "SystemMorphism":
        r"""The composition, first this morphism and then ``other``: reduction in stages."""
        require_instances("SystemMorphism.then", "other", (other,), SystemMorphism)
        return SystemMorphism(self.morphism.then(other.morphism), self.domain, other.codomain)

    def auxiliary_of_image(self, g: Point, s: Vector) -> Vector:
        r"""The :math:`s'` at :math:`\Phi(g)` with :math:`d_gL(g, s) = \Phi^*d_{g'}L'(\Phi(g), s')`.

        They are those of g if :math:`L(g, s) = L'(\Phi(g), s)` off N too; else the multipliers of the other constraint functions, by least
        squares.
        """
        return s if self.same_family else _multipliers_of_image(self, g, s)

    def reduce(self, trajectory: Trajectory) -> Trajectory:
        r"""The trajectory :math:`\Phi(g_k)` of the reduced system, with its own momenta :math:`F'^\pm`; MMS Corollary 4.6, Remark 4.7.

        The momenta upstairs are :math:`A^*\Phi`-related to them. Residuals and iterations are those of the run upstairs; the reduced
        trajectory's ``euler_lagrange_defects`` are computed anew.
        """
        self._require_trajectory("reduce", trajectory, self.domain)
        first = not is_concrete(trajectory.numbers) or int(trajectory.numbers[0]) == 1
        if not first and not self._surjective(jax.tree.map(lambda leaf: leaf[0], trajectory.base_points)):
            raise ArgumentError(
                "SystemMorphism.reduce needs the first arrow of a run, if AΦ is not onto: then it gives the first momentum. "
                "Simulate with save_every=1."
            )
        return _reduce(self, trajectory, first)

    def reconstruct(self, trajectory: Trajectory, q: Point) -> Trajectory:
        r"""The trajectory upstairs from the base point q whose image is a given trajectory of the reduced system.

        .. math:: g_k \in \alpha^{-1}(q_{k-1}), \qquad \Phi(g_k) = g'_k, \qquad q_k = \beta(g_k) .

        Each lift is solved for by Newton's method from the reflection of the last one. Raises ``NotLiftableError`` where :math:`\Phi` is
        not a local diffeomorphism of source fibres.

        Args:
            trajectory: A trajectory of the reduced system, with all its arrows.
            q: The first base point upstairs, with :math:`\Phi_0(q) = q'_0`.
        """
        self._require_trajectory("reconstruct", trajectory, self.codomain)
        self.domain.groupoid.check_point(q, owner="SystemMorphism.reconstruct")
        if is_concrete((self, trajectory.numbers, q)):
            self._require_lifts(trajectory, q)
        lifted, converged = _reconstruct(self, trajectory, q)
        if is_concrete(converged) and not np.all(np.asarray(converged)):
            step = int(np.argmin(np.asarray(converged))) + 1
            raise StepFailed(
                f"SystemMorphism.reconstruct found no lift of arrow {step} by Newton's method; the {step - 1} before it are in "
                f"error.trajectory. The arrow is probably out of reach of the fibre chart: take smaller steps.",
                step=step,
                trajectory=_first_rows(lifted, step - 1),
            )
        return lifted

    def _require_trajectory(self, method: str, trajectory: Trajectory, system: DiscreteSystem) -> None:
        owner = f"SystemMorphism.{method}"
        require_instances(owner, "trajectory", (trajectory,), Trajectory)
        name = "domain" if system is self.domain else "codomain"
        require_same_groupoid(owner, "trajectory.system.groupoid", trajectory.system.groupoid, name, system.groupoid)
        if len(trajectory) == 0:
            raise ArgumentError(f"{owner} needs a trajectory with at least one arrow; this one has none.")

    def _require_lifts(self, trajectory: Trajectory, q: Point) -> None:
        numbers = np.asarray(trajectory.numbers)
        if numbers[0] != 1 or np.any(np.diff(numbers) != 1):
            raise ArgumentError(
                "SystemMorphism.reconstruct needs consecutive arrows from the first on; this run kept only some. "
                "Simulate with save_every=1."
            )
        start = jax.tree.map(lambda leaf: leaf[0], trajectory.base_points)
        gap = float(point_distance(self.morphism.base_map(q), start))
        if not gap <= ON_MANIFOLD:
            raise ArgumentError(
                f"SystemMorphism.reconstruct needs a base point q over the start of the reduced trajectory, Φ₀(q) == q'₀ (gap {gap:.3g})."
            )
        here, there = self.domain.groupoid.rank, self.codomain.groupoid.rank
        kernel = null_space(np.asarray(self.morphism.algebroid_map(q)), _RANK).shape[1]
        if here != there or kernel:
            raise NotLiftableError(
                f"SystemMorphism.reconstruct needs Φ to be a local diffeomorphism of source fibres, AΦ invertible: it maps rank {here} "
                f"to rank {there}, with a kernel of dimension {kernel}. Simulate the system upstairs instead."
            )

    def _surjective(self, q: Point) -> bool:
        A = np.asarray(self.morphism.algebroid_map(q))
        return null_space(A.T, _RANK).shape[1] == 0


_RANK = 1e-8
_CURE = "pulled_back(codomain, morphism) is the system upstairs that fits."


def lift(morphism: Morphism, q: Point, image: Point, guess: Vector) -> tuple[Point, Vector, Array]:
    r"""An arrow :math:`g \in \alpha^{-1}(q)` with :math:`\Phi(g) = g'`, its coordinates, and whether Newton's method found it.

    Coordinates change from the guess by :math:`(A\Phi)^Tc` only: the one lift where :math:`A\Phi` is invertible, one of many where it is onto.
    """
    G, H = morphism.domain, morphism.codomain
    end, back = H.target(image), H.inverse(image)
    directions = morphism.algebroid_map(q).T

    def residual(c: Vector) -> Vector:
        moved = morphism.map(G.fiber_chart(q, guess + matvec(directions, c)))
        return H.fiber_local(end, H.multiply(back, moved))

    c, report = newton_solve(residual, jnp.zeros(H.rank), lambda c: jnp.full_like(c, 1 + jnp.max(jnp.abs(c))))
    a = guess + matvec(directions, c)
    return G.fiber_chart(q, a), a, report.converged


@eqx.filter_jit
def _reduce(Phi: SystemMorphism, trajectory: Trajectory, first: bool) -> Trajectory:
    arrows = jax.vmap(Phi.morphism.map)(trajectory.arrows)
    s = jnp.concatenate([trajectory.auxiliary, trajectory.multipliers], axis=1)
    s = jax.vmap(Phi.auxiliary_of_image)(trajectory.arrows, s)
    points = jax.vmap(Phi.morphism.base_map)(trajectory.base_points)
    q, p = jax.tree.map(lambda leaf: leaf[0], (trajectory.base_points, trajectory.momenta))
    at_first = None if first else matvec(right_inverse(Phi.morphism.algebroid_map(q)).T, p)
    return _along(Phi.codomain, trajectory, arrows, s, points, at_first)


@eqx.filter_jit
def _reconstruct(Phi: SystemMorphism, trajectory: Trajectory, q: Point) -> tuple[Trajectory, Array]:
    G = Phi.domain.groupoid

    def advance(state: tuple[Point, Vector], image: Point) -> tuple[tuple[Point, Vector], tuple[Point, Array]]:
        q, guess = state
        g, _, converged = lift(Phi.morphism, q, image, guess)
        return (G.target(g), _reflection(G, g)), (g, converged)

    _, (arrows, converged) = jax.lax.scan(advance, (q, jnp.zeros(G.rank)), trajectory.arrows)
    points = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), q, jax.vmap(G.target)(arrows))
    s = jnp.concatenate([trajectory.auxiliary, trajectory.multipliers], axis=1)
    s = s if Phi.same_family else jax.vmap(lambda g, t: _multipliers_upstairs(Phi, g, t))(arrows, s)
    return _along(Phi.domain, trajectory, arrows, s, points, None), converged


def _along(
    system: DiscreteSystem, run: Trajectory, arrows: Point, s: Vector, points: Point, at_first: Covector | None
) -> Trajectory:
    """The trajectory of these arrows, with the Legendre transformations of its system as momenta; how it went is taken from the run."""
    k = system.auxiliary
    plus = jax.vmap(system.legendre_plus)(arrows, s)
    last, start = (jax.tree.map(lambda leaf, n=n: leaf[n], (arrows, s)) for n in (-1, 0))
    p = system.legendre_minus(*start) if at_first is None else at_first
    guess = jnp.concatenate([_reflection(system.groupoid, last[0]), last[1]])
    return Trajectory(
        system,
        arrows,
        s[:, :k],
        s[:, k:],
        points,
        jnp.concatenate([p[None], plus]),
        run.residuals,
        run.iterations,
        run.converged,
        run.numbers,
        system.start_at(jax.tree.map(lambda leaf: leaf[-1], points), plus[-1], guess),
        run.failure,
    )


def _reflection(G: LieGroupoid, g: Point) -> Vector:
    """What the arrow g says about the coordinates of the next one."""
    return -G.fiber_local(G.target(g), G.inverse(g))


def _first_rows(trajectory: Trajectory, count: int) -> Trajectory:
    def cut(name: str) -> Any:
        rows = count + 1 if name in ("base_points", "momenta") else count
        return jax.tree.map(lambda leaf: leaf[:rows], getattr(trajectory, name))

    stacked = [name for name in vars(trajectory) if name not in ("system", "end", "failure")]
    return Trajectory(
        system=trajectory.system,
        end=trajectory.end,
        failure=trajectory.failure,
        **{name: cut(name) for name in stacked},
    )


def _multipliers_of_image(Phi: SystemMorphism, g: Point, s: Vector) -> Vector:
    """The multipliers λ' with dL̂ + λ dφ = Φ*(dL̂' + λ' dφ'), by least squares."""
    Sigma, Reduced = LagrangianSubmanifold(Phi.domain), LagrangianSubmanifold(Phi.codomain)
    image, T = Phi.morphism(g), Phi.morphism.tangent(g)
    off = Sigma.covector(g, s) - matvec(T.T, Reduced.covector(image))
    return matvec(right_inverse((T.T @ Reduced.conormal(image)).T).T, off)


def _multipliers_upstairs(Phi: SystemMorphism, g: Point, s: Vector) -> Vector:
    """The multipliers λ with dL̂ + λ dφ = Φ*(dL̂' + λ' dφ'), by least squares."""
    mu = Phi.morphism.pull_back_covector(g, LagrangianSubmanifold(Phi.codomain).covector(Phi.morphism(g), s))
    return LagrangianSubmanifold(Phi.domain).multipliers_of(g, mu)


@quick_jit
def _system_defects(Phi: SystemMorphism, on: tuple[Point, Vector], over: tuple[Point, Vector]) -> dict[str, Array]:
    here, there = Phi.domain, Phi.codomain

    def relative(left: Scalar, right: Scalar) -> Scalar:
        return jnp.abs(left - right) / (1 + jnp.maximum(jnp.abs(left), jnp.abs(right)))

    def constraints(system: DiscreteSystem, g: Point, s: Vector) -> Scalar:
        values = system.constraint_values(g, s[: system.auxiliary] if system.auxiliary else None)
        return jnp.max(jnp.abs(values), initial=0.0)

    def on_constraints(g: Point, s: Vector) -> tuple[Scalar, Scalar]:
        without = s.at[here.auxiliary :].set(0.0)
        gap = relative(here.action(g, without), there.action(Phi.morphism(g), without))
        return gap, constraints(there, Phi.morphism(g), s)

    def near_constraints(g: Point, s: Vector) -> Scalar:
        G = here.groupoid
        moved = G.multiply(g, G.fiber_chart(G.target(g), jnp.full(G.rank, 0.05)))
        return relative(here.action(moved, s), there.action(Phi.morphism(moved), s))

    lagrangian, into = jax.vmap(on_constraints)(*on)
    back = jax.vmap(lambda g, s: constraints(here, g, s))(*over)
    return {"lagrangian": lagrangian, "into": into, "back": back, "family": jax.vmap(near_constraints)(*on)}


def _require_system_morphism(Phi: SystemMorphism) -> bool:
    """Raise an error if it is none; otherwise, whether the families agree off N too."""
    key = jax.random.key(0)
    on = LagrangianSubmanifold(Phi.domain).draw(key, _CHECKED_POINTS)
    constrained = Phi.domain.multipliers > 0
    over = (
        LagrangianSubmanifold(pulled_back(Phi.codomain, Phi.morphism)).draw(key, _CHECKED_POINTS) if constrained else on
    )
    if not on[1].shape[0] or not over[1].shape[0]:
        raise NotASystemMorphismError(
            "SystemMorphism found no arrows on the constraints to check it on: Newton's method reaches N from no drawn arrow."
        )
    defects = {name: float(np.max(np.asarray(value))) for name, value in _system_defects(Phi, on, over).items()}
    conditions = {
        "into": "Φ to take the constraint submanifold N into N'",
        "back": "N to contain all arrows that Φ takes into N'",
        "lagrangian": "L(g) == L'(Φ(g)) on N",
    }
    for name, condition in conditions.items():
        if not defects[name] <= ON_MANIFOLD:
            raise NotASystemMorphismError(
                f"SystemMorphism needs {condition}; on drawn arrows it is off by {defects[name]:.3g}. {_CURE}"
            )
    if defects["family"] <= ON_MANIFOLD:
        return True
    if Phi.domain.auxiliary:
        raise NotASystemMorphismError(
            f"SystemMorphism needs L(g, s) == L'(Φ(g), s) for all arrows where there are auxiliary variables; on drawn arrows it is off "
            f"by {defects['family']:.3g}. {_CURE}"
        )
    return False
