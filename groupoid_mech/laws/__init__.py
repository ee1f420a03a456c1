"""Laws: each fact the library states, as a function from an object and drawn data to a defect."""

from groupoid_mech.laws.law import Law
from groupoid_mech.laws.registry import LAWS, laws_for
from groupoid_mech.laws.verify import Finding, Report, verify

__all__ = ["LAWS", "Finding", "Law", "Report", "laws_for", "verify"]
