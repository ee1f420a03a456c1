r"""The abstract Lie group: a manifold with a product, retracted by :math:`x \cdot \tau(\xi)`.

Convention: everything is left-trivialized. The frame at x is :math:`x E_a`, and
:math:`d\tau_\xi\eta = \tau(\xi)^{-1} \tfrac{d}{dt}\tau(\xi + t\eta)|_{t=0}`.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from groupoid_mech._arguments import guard, require_choice
from groupoid_mech._types import Array, Matrix, Point, Vector
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import matvec, unit_matrix

TAUS = ("exp", "cayley")


class LieGroup(Manifold):
    r"""A Lie group :math:`H` with its algebra in a basis :math:`E_1, \dots, E_n`.

    .. math:: \operatorname{retract}(x, \xi) = x \cdot \tau(\xi), \qquad \operatorname{local}(x, y) = \tau^{-1}(x^{-1} y),
        \qquad \tau = \exp \text{ or } \operatorname{cay} .

    The choice ``tau="exp"`` or ``tau="cayley"`` at construction fixes the retraction; both maps are always there. The
    Cayley map is :math:`\operatorname{cay}(\xi) = (I - \hat\xi/2)^{-1}(I + \hat\xi/2)` in the group's defining matrices.
    A new group writes the methods below and those of `Manifold` but ``retract`` and ``local``; where there is no closed
    form, `adjoint_by_autodiff`, `ad_by_autodiff` and `trivialized_derivative` compute them.
    """

    tau: eqx.AbstractVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        by_points = ("inverse", "log", "cayley_inverse", "adjoint", "matrix")
        by_vectors = ("exp", "cayley", "ad", "hat", "dexp", "dexp_inverse", "dcayley", "dcayley_inverse")
        guard(cls, {"multiply": ("point", "point")})
        guard(cls, dict.fromkeys(by_points, ("point",)) | dict.fromkeys(by_vectors, ("vector",)))

    def __check_init__(self) -> None:
        require_choice(type(self).__name__, "tau", self.tau, TAUS)

    @abstractmethod
    def identity(self) -> Point:
        """The unit element."""

    @abstractmethod
    def multiply(self, g: Point, h: Point) -> Point:
        r"""The product :math:`g h`."""

    @abstractmethod
    def inverse(self, g: Point) -> Point:
        r"""The inverse :math:`g^{-1}`."""

    @abstractmethod
    def exp(self, xi: Vector) -> Point:
        r"""The exponential map."""

    @abstractmethod
    def log(self, g: Point) -> Vector:
        r"""The inverse of ``exp`` on the largest ball around 0 where there is one."""

    @abstractmethod
    def cayley(self, xi: Vector) -> Point:
        r"""The Cayley map :math:`(I - \hat\xi/2)^{-1}(I + \hat\xi/2)` in the group's defining matrices."""

    @abstractmethod
    def cayley_inverse(self, g: Point) -> Vector:
        r"""The inverse of ``cayley``, where :math:`g + I` is invertible."""

    @abstractmethod
    def adjoint(self, g: Point) -> Matrix:
        r"""The matrix of :math:`\mathrm{Ad}_g: \xi \mapsto g\,\xi\,g^{-1}`."""

    @abstractmethod
    def ad(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`\mathrm{ad}_\xi: \eta \mapsto [\xi, \eta]`."""

    @abstractmethod
    def dexp(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`d\exp_\xi`, left-trivialized."""

    @abstractmethod
    def dexp_inverse(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`(d\exp_\xi)^{-1}`."""

    @abstractmethod
    def dcayley(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`d\mathrm{cay}_\xi`, left-trivialized."""

    @abstractmethod
    def dcayley_inverse(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`(d\mathrm{cay}_\xi)^{-1}`."""

    @abstractmethod
    def hat(self, xi: Vector) -> Matrix:
        r"""The algebra element :math:`\hat\xi = \xi^a E_a` in the group's defining matrices."""

    @abstractmethod
    def matrix(self, g: Point) -> Matrix:
        r"""The group element in the group's defining matrices."""

    def retract(self, x: Point, xi: Vector) -> Point:
        return self.multiply(x, self.from_algebra(xi))

    def local(self, x: Point, y: Point) -> Vector:
        return self.to_algebra(self.multiply(self.inverse(x), y))

    def from_algebra(self, xi: Vector) -> Point:
        r"""The chosen map :math:`\tau(\xi)`."""
        return self.exp(xi) if self.tau == "exp" else self.cayley(xi)

    def to_algebra(self, g: Point) -> Vector:
        r"""The inverse :math:`\tau^{-1}(g)` of the chosen map, with :math:`d(\tau^{-1})(g\,\eta) = (d\tau_\xi)^{-1}\eta` in closed form."""
        return _coordinates(self, g) if not jax.tree.leaves(self) else _inverse_tau(self, g)

    def dtau(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`d\tau_\xi`, left-trivialized."""
        return self.dexp(xi) if self.tau == "exp" else self.dcayley(xi)

    def dtau_inverse(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`(d\tau_\xi)^{-1}`."""
        return self.dexp_inverse(xi) if self.tau == "exp" else self.dcayley_inverse(xi)

    def bracket(self, xi: Vector, eta: Vector) -> Vector:
        r"""The Lie bracket :math:`[\xi, \eta]` of the algebra, that of left-invariant fields."""
        return self.ad(xi) @ eta

    def coadjoint(self, g: Point) -> Matrix:
        r"""The matrix of :math:`\mathrm{Ad}^*_{g^{-1}}` on covectors: :math:`\langle \mathrm{Ad}^*_{g^{-1}}\mu,
        \mathrm{Ad}_g\xi\rangle = \langle\mu, \xi\rangle`, a left action.
        """
        return self.adjoint(self.inverse(g)).T

    def coad(self, xi: Vector) -> Matrix:
        r"""The matrix of :math:`\mathrm{ad}^*_\xi`: :math:`\langle\mathrm{ad}^*_\xi\mu, \eta\rangle =
        \langle\mu, [\xi, \eta]\rangle`.
        """
        return self.ad(xi).T

    def structure_constants(self) -> Array:
        r"""The array ``C[c, a, b]`` with :math:`[E_a, E_b] = C^c_{ab} E_c`."""
        return jnp.moveaxis(jax.vmap(self.ad)(unit_matrix(self.dim)), 0, 1)


def _inverse_tau(group: LieGroup, g: Point) -> Vector:
    return group.log(g) if group.tau == "exp" else group.cayley_inverse(g)


# The closed form is a fraction of the derivative of a logarithm, which has to tell many cases apart.
_coordinates = jax.custom_jvp(_inverse_tau, nondiff_argnums=(0,))


@_coordinates.defjvp
def _coordinates_jvp(group: LieGroup, primals: tuple[Point], tangents: tuple[Point]) -> tuple[Vector, Vector]:
    (g,), (moved,) = primals, tangents
    xi = _coordinates(group, g)
    return xi, matvec(group.dtau_inverse(xi), group.from_ambient(g, moved))


def trivialized_derivative(G: LieGroup, tau: Callable[[Vector], Point], xi: Vector) -> Matrix:
    r"""The matrix of :math:`\eta \mapsto \tau(\xi)^{-1} D\tau(\xi)\eta` by automatic differentiation.

    For τ without a closed-form derivative, and the reference for those that have one.
    """
    x = tau(xi)
    return jax.vmap(lambda v: G.from_ambient(x, jax.jvp(tau, (xi,), (v,))[1]), out_axes=1)(unit_matrix(G.dim))


def adjoint_by_autodiff(G: LieGroup, g: Point) -> Matrix:
    r"""The matrix of :math:`\mathrm{Ad}_g` as derivative of :math:`h \mapsto g h g^{-1}` at the identity."""
    e = G.identity()

    def column(v: Vector) -> Vector:
        turned = jax.jvp(lambda h: G.multiply(G.multiply(g, h), G.inverse(g)), (e,), (G.to_ambient(e, v),))[1]
        return G.from_ambient(e, turned)

    return jax.vmap(column, out_axes=1)(unit_matrix(G.dim))


def ad_by_autodiff(G: LieGroup, xi: Vector) -> Matrix:
    r"""The matrix of :math:`\mathrm{ad}_\xi` as derivative of :math:`\mathrm{Ad}` at the identity."""
    e = G.identity()
    return jax.jvp(lambda h: adjoint_by_autodiff(G, h), (e,), (G.to_ambient(e, xi),))[1]
