r"""The abstract Poisson manifold: a tensor, and the bracket and Hamiltonian fields that follow.

Convention: :math:`\{f, g\} = df \cdot \Pi \cdot dg` and :math:`X_H = \Pi\, dH`, so that :math:`X_H[f] = \{f, H\}`; hence
:math:`[X_f, X_g] = -X_{\{f, g\}}`. On :math:`T^*Q`, :math:`\{q, p\} = +1`. MMS §2.2.
"""

from abc import abstractmethod
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import as_pytree, describe, guard, name_of, require_like, same_structure, traced_shape
from groupoid_mech._types import Function, Matrix, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError
from groupoid_mech.manifolds.calculus import directional_derivative, frame_derivatives
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.numerics.matrix import matvec


class PoissonManifold(eqx.Module):
    r"""A manifold :math:`P` with a Poisson tensor :math:`\Pi`, an antisymmetric matrix in the frame at each point.

    .. math:: \{f, g\} = \Pi^{ab}\, e_a[f]\, e_b[g], \qquad X_H = \Pi\, dH, \qquad X_H[f] = \{f, H\} .

    Subclasses give the ``manifold`` and the ``tensor``.
    """

    manifold: eqx.AbstractVar[Manifold]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(cls, {"tensor": ("point",)})

    @abstractmethod
    def tensor(self, x: Point) -> Matrix:
        r"""The matrix :math:`\Pi^{ab}(x)` in the frame at ``x``."""

    def bracket(self, f: Function, g: Function) -> "PoissonBracket":
        r"""The function :math:`\{f, g\} = df \cdot \Pi \cdot dg`."""
        owner = f"{type(self).__name__}.bracket"
        self.check_function(f, owner=owner, name="f")
        self.check_function(g, owner=owner, name="g")
        return PoissonBracket(self, as_pytree(f), as_pytree(g))

    def hamiltonian_field(self, H: Function) -> "HamiltonianField":
        r"""The vector field :math:`X_H = \Pi\, dH`."""
        self.check_function(H, owner=f"{type(self).__name__}.hamiltonian_field", name="H")
        return HamiltonianField(self, as_pytree(H))

    def jacobiator(self, f: Function, g: Function, h: Function) -> "Jacobiator":
        r"""The function :math:`\{\{f, g\}, h\} + \{\{g, h\}, f\} + \{\{h, f\}, g\}`: 0 where the Jacobi identity holds."""
        for name, function in (("f", f), ("g", g), ("h", h)):
            self.check_function(function, owner=f"{type(self).__name__}.jacobiator", name=name)
        return Jacobiator(self, as_pytree(f), as_pytree(g), as_pytree(h))

    def casimir_defect(self, C: Function, x: Point) -> Scalar:
        r"""The largest entry of :math:`\Pi\, dC` at ``x``: 0 everywhere if C is a Casimir, :math:`\{C, \cdot\} = 0`."""
        owner = f"{type(self).__name__}.casimir_defect"
        self.check_function(C, owner=owner, name="C")
        self.check_point(x, owner=owner)
        return jnp.max(jnp.abs(_hamiltonian_field(self, as_pytree(C), x)), initial=0.0)

    def check_point(self, x: Point, *, owner: str = "", name: str = "x") -> None:
        """Raise an error that says what is wrong if ``x`` is not a point of the manifold."""
        self.manifold.check_point(x, owner=owner or f"{type(self).__name__}.check_point", name=name)

    def check_function(self, f: Function, *, owner: str = "", name: str = "f") -> None:
        """Raise an error that says what is wrong if ``f`` is not a real function on the manifold that JAX can trace."""
        owner = owner or f"{type(self).__name__}.check_function"
        if isinstance(f, PoissonBracket) and same_structure(f.poisson, self):
            return  # tracing nested brackets again at each level would double the work every time
        if not callable(f):
            raise ArgumentError(f"{owner} needs {name} to be a function of the point; got {describe(f)}.")
        shape = traced_shape(f, self.manifold.point_like())
        if not isinstance(shape, jax.ShapeDtypeStruct) or shape.shape != () or shape.dtype != np.dtype(float):
            raise ArgumentError(f"{owner} needs {name}(x) to be a real number; {name_of(f)} returns {describe(shape)}.")


@final
class PoissonBracket(eqx.Module):
    r"""The function :math:`\{f, g\}`."""

    poisson: PoissonManifold
    f: Function
    g: Function

    def __call__(self, x: Point) -> Scalar:
        self.poisson.check_point(x, owner=f"{type(self.poisson).__name__}.bracket")
        return _bracket(self.poisson, self.f, self.g, x)


@final
class HamiltonianField(eqx.Module):
    r"""The vector field :math:`X_H`."""

    poisson: PoissonManifold
    H: Function

    def __call__(self, x: Point) -> Vector:
        self.poisson.check_point(x, owner=f"{type(self.poisson).__name__}.hamiltonian_field")
        return _hamiltonian_field(self.poisson, self.H, x)


@final
class Jacobiator(eqx.Module):
    r"""The function :math:`\{\{f, g\}, h\} + \{\{g, h\}, f\} + \{\{h, f\}, g\}`."""

    poisson: PoissonManifold
    f: Function
    g: Function
    h: Function

    def __call__(self, x: Point) -> Scalar:
        P, f, g, h = self.poisson, self.f, self.g, self.h
        P.check_point(x, owner=f"{type(P).__name__}.jacobiator")
        return sum(
            (_bracket(P, PoissonBracket(P, u, v), w, x) for u, v, w in ((f, g, h), (g, h, f), (h, f, g))),
            start=jnp.zeros(()),
        )


# {f, g} = X_g[f] needs one derivative of f along one vector: in {{f, g}, h} the inner bracket is differentiated once only.
@eqx.filter_jit
def _bracket(P: PoissonManifold, f: Function, g: Function, x: Point) -> Scalar:
    return directional_derivative(P.manifold, f, x, _hamiltonian_field(P, g, x))


@eqx.filter_jit
def _hamiltonian_field(P: PoissonManifold, H: Function, x: Point) -> Vector:
    tensor = P.tensor(x)
    n = P.manifold.dim
    require_like(type(P).__name__, "tensor(x)", tensor, jax.ShapeDtypeStruct((n, n), np.dtype(float)))
    return matvec(tensor, frame_derivatives(P.manifold, H, x))
