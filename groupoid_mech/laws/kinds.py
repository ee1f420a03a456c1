r"""Kinds of drawn data: points, vectors, functions, fields, forms on a manifold.

An example is a drawn point and a list of numbers in [−1, 1]; a kind turns them into an object. Objects are pytrees whose leaves are
the numbers, never fresh functions: one compilation serves all examples, and smaller numbers are simpler objects.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from groupoid_mech._types import Array, Point
from groupoid_mech.manifolds.manifold import Manifold


class Kind(ABC):
    """A kind of drawn object: how many numbers it takes, the point it starts from, if any, and how it is built from them."""

    @abstractmethod
    def size(self, subject: Any) -> int:
        """How many numbers an object of this kind takes on this subject."""

    @abstractmethod
    def build(self, subject: Any, point: Point, numbers: Array) -> Any:
        """The object of these numbers, and of a point of `drawn_on`."""

    def drawn_on(self, subject: Any) -> Manifold | None:
        """The manifold of which a point is drawn, by its ``random_point``: what has no coordinates of its own. None, if none is needed."""
        return None


@dataclass(frozen=True)
class Within(Kind):
    """An object of some kind on something that the subject is made of; subclasses say on what.

    Subjects that are made of the same draw by one compiled program.
    """

    kind: Kind

    @abstractmethod
    def inside(self, subject: Any) -> Any:
        """What the object is drawn on."""

    def size(self, subject: Any) -> int:
        return self.kind.size(self.inside(subject))

    def build(self, subject: Any, point: Point, numbers: Array) -> Any:
        return self.kind.build(self.inside(subject), point, numbers)

    def drawn_on(self, subject: Any) -> Manifold | None:
        return self.kind.drawn_on(self.inside(subject))


@final
@dataclass(frozen=True)
class APoint(Kind):
    """A point of the manifold, by its own ``random_point``."""

    def size(self, subject: Manifold) -> int:
        return 0

    def build(self, subject: Manifold, point: Point, numbers: Array) -> Point:
        return point

    def drawn_on(self, subject: Manifold) -> Manifold:
        return subject


@dataclass(frozen=True)
class Coordinates(Kind):
    """The numbers themselves, in [−scale, scale]; subclasses say how many."""

    scale: float = 1.0

    def build(self, subject: Any, point: Point, numbers: Array) -> Array:
        return self.scale * numbers


@final
@dataclass(frozen=True)
class AVector(Coordinates):
    """A coordinate vector with entries in [−scale, scale]."""

    def size(self, subject: Manifold) -> int:
        return subject.dim


@final
class Polynomial(eqx.Module):
    r"""A map from points to arrays, :math:`x \mapsto A\,(1, x, x^2)` in the ambient coordinates of the point.

    Used as function, vector field or form, according to the shape of its values; ``antisymmetric`` values are two-forms.
    """

    coefficients: Array
    antisymmetric: bool = eqx.field(static=True, default=False)

    def __call__(self, x: Point) -> Array:
        flat, _ = ravel_pytree(x)
        features = jnp.concatenate([jnp.ones(1), flat, flat * flat])
        value = jnp.tensordot(self.coefficients, features, axes=1)
        return value - value.T if self.antisymmetric else value


@final
@dataclass(frozen=True)
class APolynomial(Kind):
    """A polynomial with values of the given number of axes, each as long as the manifold's dimension."""

    axes: int
    antisymmetric: bool = False

    def size(self, subject: Manifold) -> int:
        return int(subject.dim**self.axes) * features(subject)

    def build(self, subject: Manifold, point: Point, numbers: Array) -> Polynomial:
        shape = (*((subject.dim,) * self.axes), features(subject))
        return Polynomial(numbers.reshape(shape), antisymmetric=self.antisymmetric)


@final
class Quadratic(eqx.Module):
    r"""The function :math:`x \mapsto x^T A x + b \cdot x` of the ambient coordinates of the point, mixed monomials included."""

    A: Array
    b: Array

    def __call__(self, x: Point) -> Array:
        flat, _ = ravel_pytree(x)
        return flat @ self.A @ flat + self.b @ flat


@final
@dataclass(frozen=True)
class AQuadraticFunction(Kind):
    """A function with mixed second derivatives, as that of a regular Lagrangian."""

    def size(self, subject: Manifold) -> int:
        n = ambient_size(subject)
        return n * n + n

    def build(self, subject: Manifold, point: Point, numbers: Array) -> Quadratic:
        n = ambient_size(subject)
        return Quadratic(numbers[: n * n].reshape(n, n), numbers[n * n :])


@final
class Wavy(eqx.Module):
    r"""The function :math:`x \mapsto x^T A x + b \cdot x + \sin(c \cdot x + d)` of the ambient coordinates of the point.

    All second derivatives, mixed ones included, and all higher ones are there; those of the sine are bounded.
    """

    quadratic: Quadratic
    c: Array
    d: Array

    def __call__(self, x: Point) -> Array:
        flat, _ = ravel_pytree(x)
        return self.quadratic(x) + jnp.sin(self.c @ flat + self.d)


@final
@dataclass(frozen=True)
class AWavyFunction(Kind):
    r"""A function without special form, with second derivatives of about the size 1 in whatever number n of ambient coordinates:
    the matrix is divided by :math:`\sqrt n`, and so is the wave vector, of length at most 2.
    """

    def size(self, subject: Manifold) -> int:
        return A_QUADRATIC_FUNCTION.size(subject) + ambient_size(subject) + 1

    def build(self, subject: Manifold, point: Point, numbers: Array) -> Wavy:
        n = ambient_size(subject)
        A, b, c, d = jnp.split(numbers, [n * n, n * n + n, n * n + 2 * n])
        return Wavy(Quadratic(A.reshape(n, n) / n**0.5, b), 2 * c / n**0.5, jnp.pi * d[0])


@final
class Displacement(eqx.Module):
    r"""A map of a manifold to itself near the identity, :math:`x \mapsto \operatorname{retract}(x, \varepsilon\,a(x))`."""

    manifold: Manifold
    polynomial: Polynomial

    def __call__(self, x: Point) -> Point:
        xi = self.polynomial(x)
        return self.manifold.retract(x, 0.1 * xi / jnp.sqrt(1 + jnp.sum(xi * xi)))


@final
@dataclass(frozen=True)
class ASelfMap(Kind):
    """A smooth map of the manifold to itself near the identity."""

    def size(self, subject: Manifold) -> int:
        return A_FIELD.size(subject)

    def build(self, subject: Manifold, point: Point, numbers: Array) -> Displacement:
        return Displacement(subject, A_FIELD.build(subject, point, numbers))


@final
@dataclass(frozen=True)
class OnBase(Within):
    """An object of some kind on the base of a bundle, groupoid or algebroid."""

    def inside(self, subject: Any) -> Any:
        return subject.base


def features(subject: Manifold) -> int:
    """How many monomials of degree at most 2, without mixed ones, the ambient coordinates of a point have."""
    return 1 + 2 * ambient_size(subject)


def ambient_size(subject: Manifold) -> int:
    """How many ambient coordinates a point has."""
    return sum(leaf.size for leaf in jax.tree.leaves(subject.point_like()))


A_POINT = APoint()
A_VECTOR = AVector()
A_SHORT_VECTOR = AVector(scale=0.2)
# Three entries up to 1.7 are a rotation vector shorter than π, where log is the inverse of exp.
A_ROTATION_SIZED_VECTOR = AVector(scale=1.7)
A_FUNCTION = APolynomial(axes=0)
A_QUADRATIC_FUNCTION = AQuadraticFunction()
A_WAVY_FUNCTION = AWavyFunction()
A_FIELD = APolynomial(axes=1)
A_ONE_FORM = APolynomial(axes=1)
A_TWO_FORM = APolynomial(axes=2, antisymmetric=True)
A_SELF_MAP = ASelfMap()
A_BASE_POINT = OnBase(A_POINT)
A_BASE_ONE_FORM = OnBase(A_ONE_FORM)
