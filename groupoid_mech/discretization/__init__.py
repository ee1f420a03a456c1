"""Discretization maps, their lifts, and the integrators they give."""
