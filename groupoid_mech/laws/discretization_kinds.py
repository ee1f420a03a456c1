"""Kinds of drawn data of a discretization map: where it is taken, and with what velocities and covectors."""

from groupoid_mech.laws.groupoid_kinds import (
    A_FIBER_VECTOR,
    A_POINT_OF_THE_BASE,
    A_TANGENT_VECTOR,
    AnAlgebroidVector,
    OnGroupoid,
)

A_PLACE = OnGroupoid(A_POINT_OF_THE_BASE)
A_VELOCITY = OnGroupoid(A_FIBER_VECTOR)
# A discretization map is a diffeomorphism near the zero section only.
A_SHORT_VELOCITY = OnGroupoid(AnAlgebroidVector(scale=0.3))
# Covectors of AG have as many components as those of G.
A_COVECTOR = OnGroupoid(A_TANGENT_VECTOR)
