"""Bridges to other libraries. Each is imported by name, as in ``import groupoid_mech.interop.geomstats``."""
