r"""The Lagrangian submanifold :math:`\Sigma_L \subset T^*G` of a discrete system: covectors, tangents, affine structure.

Convention: a point of :math:`\Sigma_L` is given by ``(g, s)`` with :math:`\partial_sL(g, s) = 0`; coordinates of :math:`T(T^*G)` are those
of the frame of ``CotangentBundle(G.space)``. MMS Theorem 3.1, Def. 3.3, §3.2, §3.3.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import is_concrete, require_instances, require_positive_integer, require_vector
from groupoid_mech._types import Covector, Key, Matrix, Point, Vector
from groupoid_mech.errors import ArgumentError, NotMorseError
from groupoid_mech.manifolds.calculus import frame_derivatives
from groupoid_mech.mechanics.increment import evaluate
from groupoid_mech.mechanics.regularity import null_space
from groupoid_mech.mechanics.system import DiscreteSystem
from groupoid_mech.numerics.matrix import complement, matvec, right_inverse
from groupoid_mech.numerics.newton import newton_root
from groupoid_mech.numerics.quick_jit import quick_jit
from groupoid_mech.symplectic.cotangent_groupoid import CotangentGroupoid


@final
class LagrangianSubmanifold(eqx.Module):
    r"""The Lagrangian submanifold :math:`\Sigma_L = \{d_gL(g, s) : \partial_sL(g, s) = 0\} \subset T^*G` of a discrete system.

    .. math:: \langle\mu, v\rangle = \langle dL, v\rangle \text{ for } v \in T_gN, \qquad
        F^-L = \tilde\alpha|_{\Sigma_L}, \qquad F^+L = \tilde\beta|_{\Sigma_L}, \qquad
        \Sigma_L = \{d\hat L(g) + \lambda_a\,d\varphi^a(g) : g \in N\} .

    Nothing here uses the kernel of the time step: the Legendre transformations are those of the cotangent groupoid.

    Args:
        system: The discrete system.

    Example:
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> free = DiscreteSystem(PairGroupoid(Euclidean(1)), lambda g: jnp.sum((g[1] - g[0]) ** 2) / 2)
        >>> Sigma = LagrangianSubmanifold(free)
        >>> Sigma.covector((jnp.zeros(1), jnp.array([3.0])))
        Array([-3.,  3.], dtype=float64)
        >>> Sigma.legendre_minus((jnp.zeros(1), jnp.array([3.0])))
        Array([3.], dtype=float64)
    """

    system: DiscreteSystem
    cotangent: CotangentGroupoid

    def __init__(self, system: DiscreteSystem):
        require_instances("LagrangianSubmanifold", "system", (system,), DiscreteSystem)
        self.system = system
        self.cotangent = CotangentGroupoid(system.groupoid)

    @property
    def dim(self) -> int:
        r"""The dimension of :math:`\Sigma_L` where the family is Morse: that of G, half that of :math:`T^*G`."""
        return self.system.groupoid.space.dim

    def covector(self, g: Point, s: Vector | None = None) -> Covector:
        r"""The covector :math:`d_gL(g, s)` in the frame of G."""
        return _covector(self.system, *self._arguments("covector", g, s))

    def legendre_minus(self, g: Point, s: Vector | None = None) -> Covector:
        r"""The momentum :math:`\tilde\alpha(d_gL(g, s))` at the source, by the cotangent groupoid; MMS Def. 3.3."""
        g, a, s = self._arguments("legendre_minus", g, s)
        return _ends(self, g, a, s)[0]

    def legendre_plus(self, g: Point, s: Vector | None = None) -> Covector:
        r"""The momentum :math:`\tilde\beta(d_gL(g, s))` at the target, by the cotangent groupoid; MMS Def. 3.3."""
        g, a, s = self._arguments("legendre_plus", g, s)
        return _ends(self, g, a, s)[1]

    def morse_derivative(self, g: Point, s: Vector | None = None) -> Matrix:
        r"""The derivative of :math:`\partial_sL` in all directions of :math:`G \times R^k`: of full rank k where the family is Morse."""
        return _tangents(self.system, *self._arguments("morse_derivative", g, s))[1]

    def morse_rank(self, g: Point, s: Vector | None = None) -> int:
        r"""The rank of ``morse_derivative``: :math:`\Sigma_L` is a submanifold where it is the number of auxiliary variables and multipliers."""
        D = np.asarray(self.morse_derivative(g, s))
        return D.shape[0] - null_space(D.T).shape[1]

    def tangent(self, g: Point, s: Vector | None = None) -> Matrix:
        r"""A basis of :math:`T\Sigma_L \subset T(T^*G)`, as columns: the derivative of :math:`(g, s) \mapsto d_gL` on the kernel of that of
        :math:`\partial_sL`. Raises ``NotMorseError`` where the family is not Morse.
        """
        g, a, s = self._arguments("tangent", g, s)
        J, D = _tangents(self.system, g, a, s)
        if is_concrete(D):
            _require_morse(np.asarray(D))
        return J @ complement(D.T)

    def isotropy(self, g: Point, s: Vector | None = None) -> Matrix:
        r"""The canonical form of :math:`T^*G` on the columns of ``tangent``: zero, since :math:`\Sigma_L` is Lagrangian. MMS Theorem 3.1."""
        J = self.tangent(g, s)
        return J.T @ self.cotangent.symplectic_form((g, self.covector(g, s))) @ J

    def conormal(self, g: Point, u: Vector | None = None) -> Matrix:
        r"""The basis :math:`d\varphi^a(g)` of the conormal space :math:`\nu^*_gN`, as columns; MMS §3.3."""
        g, a, s = self._arguments("conormal", g, self._with_multipliers(u))
        return _conormal(self.system, g, a, s)

    def add_conormal(self, s: Vector, c: Vector) -> Vector:
        r"""The auxiliary variables of :math:`\mu + c_a\,d\varphi^a`: the affine structure :math:`\lambda \mapsto \lambda + c` of
        :math:`\Sigma_L \to N`; MMS §3.2.
        """
        require_vector("LagrangianSubmanifold.add_conormal", "s", s, self.system.family_size())
        require_vector("LagrangianSubmanifold.add_conormal", "c", c, self.system.multipliers)
        return s.at[self.system.auxiliary :].add(c)

    def multipliers_of(self, g: Point, mu: Covector) -> Vector:
        r"""The multipliers with :math:`\mu = d\hat L(g) + \lambda_a\,d\varphi^a(g)`, in the sense of least squares."""
        C, off = self._beside("multipliers_of", g, mu)
        return matvec(right_inverse(C.T).T, off)

    def violation(self, g: Point, mu: Covector) -> Vector:
        r"""The constraints :math:`\varphi(g)`, and :math:`\mu - d\hat L` on a basis of :math:`T_gN`: zero exactly on :math:`\Sigma_L`."""
        C, off = self._beside("violation", g, mu)
        return jnp.concatenate([self.system.constraint_values(g), matvec(complement(C).T, off)])

    def nearest(self, g: Point, s: Vector | None = None) -> tuple[Point, Vector]:
        r"""A nearby point ``(g, s)`` with :math:`\partial_sL = 0`: the least change of both, in first order; NaN if Newton's method finds none."""
        g, _, s = self._arguments("nearest", g, s)
        return _nearest(self.system, g, s) if s.size else (g, s)

    def draw(self, key: Key, count: int, size: float = 0.3) -> tuple[Point, Vector]:
        r"""Drawn points ``(g, s)`` of :math:`\Sigma_L`, stacked; at most ``count``, as draws from which none is found are left out.

        Args:
            key: A JAX random key.
            count: How many are drawn.
            size: Arrows are :math:`c(q, a)` with entries of a up to this size, moved onto N.
        """
        require_positive_integer("LagrangianSubmanifold.draw", "count", count)
        drawn = _draw(self.system, jax.random.split(key, count), jnp.asarray(size))
        return _finite_rows(drawn)

    def _with_multipliers(self, u: Vector | None) -> Vector | None:
        return None if u is None else jnp.concatenate([u, jnp.zeros(self.system.multipliers)])

    def _beside(self, method: str, g: Point, mu: Covector) -> tuple[Matrix, Covector]:
        """The conormal basis at g, and μ − dL̂."""
        if self.system.auxiliary:
            raise ArgumentError(
                f"LagrangianSubmanifold.{method} needs a system without auxiliary variables; this one has "
                f"{self.system.auxiliary}, and which of them belong to a covector is a nonlinear question. "
                f"Compare covector(g, s) with mu at the s that you have."
            )
        require_vector(f"LagrangianSubmanifold.{method}", "mu", mu, self.dim)
        g, a, s = self._arguments(method, g, None)
        return _conormal(self.system, g, a, s), mu - _covector(self.system, g, a, s)

    def _arguments(self, method: str, g: Point, s: Vector | None) -> tuple[Point, Vector, Vector]:
        owner, size = f"LagrangianSubmanifold.{method}", self.system.family_size()
        self.system.groupoid.check_arrow(g, owner=owner)
        if s is None and self.system.auxiliary:
            raise ArgumentError(f"{owner} needs s, the {size} auxiliary variables and multipliers.")
        s = jnp.zeros(size) if s is None else s
        require_vector(owner, "s", s, size)
        return g, self.system.increment(g), s


@eqx.filter_jit
def _covector(system: DiscreteSystem, g: Point, a: Vector, s: Vector) -> Covector:
    return frame_derivatives(system.groupoid.space, lambda h: system.family(h, a, s), g)


@eqx.filter_jit
def _ends(Sigma: LagrangianSubmanifold, g: Point, a: Vector, s: Vector) -> tuple[Covector, Covector]:
    mu = _covector(Sigma.system, g, a, s)
    return Sigma.cotangent.source((g, mu))[1], Sigma.cotangent.target((g, mu))[1]


@eqx.filter_jit
def _tangents(system: DiscreteSystem, g: Point, a: Vector, s: Vector) -> tuple[Matrix, Matrix]:
    r"""The derivatives of :math:`(g, d_gL)` and of :math:`\partial_sL` in all directions of :math:`G \times R^k`."""
    M = system.groupoid.space

    def both(h: Point, t: Vector) -> tuple[Covector, Vector]:
        return _covector(system, h, a, t), jax.grad(lambda t: system.family(h, a, t))(t)

    def along(v: Vector) -> tuple[Covector, Vector]:
        return jax.jvp(both, (g, s), (M.to_ambient(g, v[: M.dim]), v[M.dim :]))[1]

    covectors, D = jax.vmap(along, out_axes=1)(jnp.eye(M.dim + s.size))
    return jnp.concatenate([jnp.eye(M.dim, M.dim + s.size), covectors]), D


@eqx.filter_jit
def _conormal(system: DiscreteSystem, g: Point, a: Vector, s: Vector) -> Matrix:
    if system.constraints is None:
        return jnp.zeros((system.groupoid.space.dim, 0))
    constraints, u = system.constraints, (s[: system.auxiliary],) if system.auxiliary else ()
    return frame_derivatives(system.groupoid.space, lambda h: evaluate(constraints, h, a, u), g)


@quick_jit
def _nearest(system: DiscreteSystem, g: Point, s: Vector) -> tuple[Point, Vector]:
    M = system.groupoid.space
    normals = _stationarity_slopes(system, g, s).T

    def moved(c: Vector) -> tuple[Point, Vector]:
        x = matvec(normals, c)
        return M.retract(g, x[: M.dim]), s + x[M.dim :]

    return moved(newton_root(lambda c: _stationarity(system, *moved(c)), jnp.zeros(s.size)))


def _stationarity(system: DiscreteSystem, h: Point, t: Vector) -> Vector:
    a = system.increment(h)
    return jax.grad(lambda t: system.family(h, a, t))(t)


def _stationarity_slopes(system: DiscreteSystem, g: Point, s: Vector) -> Matrix:
    M = system.groupoid.space

    def along(v: Vector) -> Vector:
        tangents = M.to_ambient(g, v[: M.dim]), v[M.dim :]
        return jax.jvp(lambda h, t: _stationarity(system, h, t), (g, s), tangents)[1]

    return jax.vmap(along, out_axes=1)(jnp.eye(M.dim + s.size))


@quick_jit
def _draw(system: DiscreteSystem, keys: Key, size: Vector) -> tuple[Point, Vector]:
    G = system.groupoid

    def one(key: Key) -> tuple[Point, Vector]:
        at, along, beside = jax.random.split(key, 3)
        a = size * jax.random.uniform(along, (G.rank,), minval=-1.0)
        g, s = (
            G.fiber_chart(G.base.random_point(at), a),
            jax.random.uniform(beside, (system.family_size(),), minval=-1.0),
        )
        return _nearest(system, g, s) if s.size else (g, s)

    return jax.vmap(one)(keys)


def _finite_rows(tree: tuple[Point, Vector]) -> tuple[Point, Vector]:
    """The rows of a stacked tree without NaN or infinity; all of them where values are not known."""
    if not is_concrete(tree):
        return tree
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    kept = np.all([np.all(np.isfinite(leaf.reshape(len(leaf), -1)), axis=1) for leaf in leaves], axis=0)
    # Unlike ``jnp.asarray``, this is no program to compile for every new number of rows.
    return jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf)[kept]), tree)


def _require_morse(D: np.ndarray) -> None:
    missing = null_space(D.T)
    if missing.shape[1]:
        raise NotMorseError(
            f"LagrangianSubmanifold.tangent needs the derivative of ∂L/∂s to have rank {D.shape[0]}, the number of auxiliary "
            f"variables and multipliers; it has rank {D.shape[0] - missing.shape[1]}: the constraints are dependent there, or the family is "
            f"not Morse. Leave out what repeats; the missing combinations are the columns of {missing.round(6).tolist()}."
        )
