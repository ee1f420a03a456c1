r"""The abstract bisection of a Lie groupoid, and the group that bisections form.

Convention: a bisection :math:`B \subset G` is given by both of its sections, :math:`B_\alpha = (\alpha|_B)^{-1}` and
:math:`B_\beta = (\beta|_B)^{-1}`; arrows compose left to right, so :math:`B_1 B_2` is first :math:`B_1`. MMS A.1.
"""

from abc import abstractmethod
from typing import Any, final

import equinox as eqx

from groupoid_mech._arguments import guard, require_instances
from groupoid_mech._types import Point
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.sameness import require_same_groupoid


class Bisection(eqx.Module):
    r"""A bisection :math:`B \subset G`: a submanifold that source and target both map diffeomorphically to (open sets of) the base.

    .. math:: \alpha \circ B_\alpha = \mathrm{id} = \beta \circ B_\beta, \qquad
        \alpha \circ B_\beta = (\beta \circ B_\alpha)^{-1}, \qquad
        \ell_B(g) = B_\beta(\alpha(g))\,g, \qquad r_B(g) = g\,B_\alpha(\beta(g)) .

    Subclasses give the ``groupoid`` and the two sections; base maps and actions follow. A local bisection has its sections
    on open sets only; asked for a value outside, it raises ``NotFiniteError`` (NaN under ``jit``).
    """

    groupoid: eqx.AbstractVar[LieGroupoid]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(cls, {"at_source": ("point",), "at_target": ("point",)})

    @abstractmethod
    def at_source(self, q: Point) -> Point:
        r"""The arrow :math:`B_\alpha(q)` of the bisection that starts at ``q``."""

    @abstractmethod
    def at_target(self, q: Point) -> Point:
        r"""The arrow :math:`B_\beta(q)` of the bisection that ends at ``q``."""

    def base_map(self, q: Point) -> Point:
        r"""The diffeomorphism :math:`\beta(B_\alpha(q))` of the base."""
        return self.groupoid.target(self.at_source(q))

    def inverse_base_map(self, q: Point) -> Point:
        r"""The inverse :math:`\alpha(B_\beta(q))` of ``base_map``."""
        return self.groupoid.source(self.at_target(q))

    def left(self, g: Point) -> Point:
        r"""The left action :math:`\ell_B(g) = B_\beta(\alpha(g))\,g`."""
        self.groupoid.check_arrow(g, owner=f"{type(self).__name__}.left")
        return self.groupoid.multiply(self.at_target(self.groupoid.source(g)), g)

    def right(self, g: Point) -> Point:
        r"""The right action :math:`r_B(g) = g\,B_\alpha(\beta(g))`."""
        self.groupoid.check_arrow(g, owner=f"{type(self).__name__}.right")
        return self.groupoid.multiply(g, self.at_source(self.groupoid.target(g)))

    def check_point(self, q: Point, *, owner: str = "", name: str = "q") -> None:
        """Raise an error that says what is wrong if ``q`` is not a point of the base."""
        self.groupoid.check_point(q, owner=owner or f"{type(self).__name__}.check_point", name=name)


@final
class UnitBisection(Bisection):
    r"""The bisection :math:`\epsilon(Q)` of all units, the identity of the group of bisections.

    Args:
        groupoid: The groupoid :math:`G`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> UnitBisection(PairGroupoid(Euclidean(1))).at_source(jnp.ones(1))
        (Array([1.], dtype=float64), Array([1.], dtype=float64))
    """

    groupoid: LieGroupoid

    def __init__(self, groupoid: LieGroupoid):
        require_instances("UnitBisection", "groupoid", (groupoid,), LieGroupoid)
        self.groupoid = groupoid

    def at_source(self, q: Point) -> Point:
        return self.groupoid.unit(q)

    def at_target(self, q: Point) -> Point:
        return self.groupoid.unit(q)


@final
class ProductBisection(Bisection):
    r"""The product :math:`B_1 B_2 = \ell_{B_1}(B_2) = r_{B_2}(B_1)`.

    .. math:: (B_1 B_2)_\alpha(q) = (B_1)_\alpha(q)\,(B_2)_\alpha(\beta((B_1)_\alpha(q))), \qquad
        (B_1 B_2)_\beta(q) = (B_1)_\beta(\alpha((B_2)_\beta(q)))\,(B_2)_\beta(q) .

    Args:
        first: The bisection :math:`B_1`.
        second: The bisection :math:`B_2`, of the same groupoid.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> from groupoid_mech.groupoids.section_bisection import bisection_of_diffeomorphism
        >>> B = bisection_of_diffeomorphism(PairGroupoid(Euclidean(1)), lambda q: 3 * q)
        >>> ProductBisection(B, B).base_map(jnp.ones(1))
        Array([9.], dtype=float64)
    """

    first: Bisection
    second: Bisection
    groupoid: LieGroupoid

    def __init__(self, first: Bisection, second: Bisection):
        require_instances("ProductBisection", "factors", (first, second), Bisection)
        require_same_groupoid("ProductBisection", "first.groupoid", first.groupoid, "second.groupoid", second.groupoid)
        self.first = first
        self.second = second
        self.groupoid = first.groupoid

    def at_source(self, q: Point) -> Point:
        g = self.first.at_source(q)
        return self.groupoid.multiply(g, self.second.at_source(self.groupoid.target(g)))

    def at_target(self, q: Point) -> Point:
        h = self.second.at_target(q)
        return self.groupoid.multiply(self.first.at_target(self.groupoid.source(h)), h)


@final
class InverseBisection(Bisection):
    r"""The bisection :math:`i(B) = \{g^{-1} : g \in B\}`, the inverse in the group of bisections.

    .. math:: i(B)_\alpha(q) = B_\beta(q)^{-1}, \qquad i(B)_\beta(q) = B_\alpha(q)^{-1} .

    Args:
        bisection: The bisection :math:`B`.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import Euclidean, PairGroupoid
        >>> from groupoid_mech.groupoids.section_bisection import bisection_of_diffeomorphism
        >>> B = bisection_of_diffeomorphism(PairGroupoid(Euclidean(1)), lambda q: 4 * q)
        >>> InverseBisection(B).base_map(jnp.ones(1))
        Array([0.25], dtype=float64)
    """

    bisection: Bisection
    groupoid: LieGroupoid

    def __init__(self, bisection: Bisection):
        require_instances("InverseBisection", "bisection", (bisection,), Bisection)
        self.bisection = bisection
        self.groupoid = bisection.groupoid

    def at_source(self, q: Point) -> Point:
        return self.groupoid.inverse(self.bisection.at_target(q))

    def at_target(self, q: Point) -> Point:
        return self.groupoid.inverse(self.bisection.at_source(q))
