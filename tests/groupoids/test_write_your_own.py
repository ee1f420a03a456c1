"""A groupoid that the library does not have is short to write, and the laws judge it. The page has the same class."""

import inspect
from pathlib import Path

import equinox as eqx
import pytest

import groupoid_mech as gm
from groupoid_mech.laws import LAWS

PAGE = Path(__file__).parents[2] / "docs" / "groupoids" / "write_your_own.md"


class FiberPairs(gm.LieGroupoid):
    """Pairs of points of B × F with the same component in B; an arrow is (b, f0, f1)."""

    base: gm.ProductManifold
    space: gm.ProductManifold
    rank: int = eqx.field(static=True)

    def __init__(self, B, F):
        self.base, self.space, self.rank = gm.ProductManifold(B, F), gm.ProductManifold(B, F, F), F.dim

    def source(self, g):
        return g[0], g[1]

    def target(self, g):
        return g[0], g[2]

    def unit(self, q):
        return q[0], q[1], q[1]

    def inverse(self, g):
        return g[0], g[2], g[1]

    def multiply(self, g, h):
        return g[0], g[1], h[2]

    def fiber_chart(self, q, a):
        return q[0], q[1], self.base.factors[1].retract(q[1], a)

    def fiber_local(self, q, g):
        return self.base.factors[1].local(q[1], g[2])


class Forgetful(FiberPairs):
    """The inverse does not turn the arrow around."""

    def inverse(self, g):
        return g


def lines_of_code(cls: type) -> int:
    return sum(bool(line.strip()) for line in inspect.getsource(cls).splitlines())


def test_it_is_written_in_25_lines():
    assert lines_of_code(FiberPairs) <= 25


def test_the_page_has_the_same_class():
    assert inspect.getsource(FiberPairs).strip() in PAGE.read_text(encoding="utf-8")


@pytest.mark.extended
def test_it_keeps_every_law_of_groupoids():
    report = gm.verify(FiberPairs(gm.Euclidean(1), gm.Torus(1)), examples=50)
    assert len(report.findings) >= 15
    assert report.holds, report


def test_the_broken_variant_is_caught():
    chosen = [law for law in LAWS if law.name in ("product_ends", "unit_multiply", "inverse_arrow")]
    report = gm.verify(Forgetful(gm.Euclidean(1), gm.Torus(1)), examples=50, laws=chosen)
    assert [finding.law.name for finding in report.failures] == ["inverse_arrow"]
