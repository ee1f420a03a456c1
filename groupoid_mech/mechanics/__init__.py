"""Discrete constrained Lagrangian systems: Legendre maps, flows, Noether quantities, reduction. MMS §2.2–§4."""
