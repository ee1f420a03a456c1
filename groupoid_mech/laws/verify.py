"""Check an object against every law that speaks about it, and print the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from groupoid_mech._arguments import describe, require_positive_integer
from groupoid_mech.errors import ArgumentError
from groupoid_mech.laws.law import Examples, Law
from groupoid_mech.laws.registry import LAWS, laws_for


@final
@dataclass(frozen=True)
class Finding:
    """What one law said about one object; ``worst`` is the example that came out worst, ready for ``law.data``."""

    law: Law
    examples: int
    worst_defect: float
    worst: Examples

    @property
    def holds(self) -> bool:
        """Whether the worst defect is round-off."""
        return self.worst_defect <= self.law.tolerance


@final
@dataclass(frozen=True)
class Report:
    """The findings of all laws about one object; ``str(report)`` is the table."""

    subject: str
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether every law holds."""
        return all(finding.holds for finding in self.findings)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings of the laws that do not hold."""
        return tuple(finding for finding in self.findings if not finding.holds)

    def __str__(self) -> str:
        width = max(len(finding.law.name) for finding in self.findings)
        source_width = max(len(finding.law.source) for finding in self.findings)
        head = f"{'law':{width}}  {'source':{source_width}}  examples  worst defect  verdict"
        rows = [
            f"{finding.law.name:{width}}  {finding.law.source:{source_width}}  {finding.examples:8d}  "
            f"{finding.worst_defect:12.1e}  {'holds' if finding.holds else 'FAILS'}"
            for finding in self.findings
        ]
        count = len(self.findings) - len(self.failures)
        return "\n".join([self.subject, head, "-" * len(head), *rows, f"{count} of {len(self.findings)} laws hold"])


def check_law(law: Law, subject: Any, *, examples: int = 200, seed: int = 0) -> Finding:
    """Evaluate one law on drawn examples, in one compiled call."""
    drawn = law.examples(subject, examples, seed)
    defects = np.asarray(law.defects(subject, drawn))
    worst = int(np.argmax(defects))
    return Finding(law, examples, float(defects[worst]), Examples(drawn.seeds[[worst]], drawn.numbers[[worst]]))


def verify(subject: Any, *, examples: int = 200, seed: int = 0, laws: Sequence[Law] | None = None) -> Report:
    """Check an object against every law that speaks about it.

    Args:
        subject: A manifold, Lie group, groupoid, algebroid, Poisson manifold, morphism, discrete system, discretization map or method,
            of the library or of your own.
        examples: How many examples are drawn for each law.
        seed: Where the drawing starts; the same seed gives the same examples.
        laws: The laws to check; all that speak about the subject if not given.

    Example:
        >>> from groupoid_mech import Euclidean
        >>> verify(Euclidean(1), examples=10).holds
        True
    """
    require_positive_integer("verify", "examples", examples)
    chosen = laws_for(subject) if laws is None else tuple(laws)
    if not chosen:
        raise ArgumentError(
            f"verify has no law about {describe(subject)}; it knows laws about "
            f"{', '.join(sorted({law.subject.__name__ for law in LAWS}))}. Give an instance of a subclass of one of these."
        )
    findings = tuple(check_law(law, subject, examples=examples, seed=seed) for law in chosen)
    return Report(str(subject), findings)
