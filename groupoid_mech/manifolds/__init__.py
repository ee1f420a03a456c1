"""Manifolds by centred local parametrizations, and exact calculus on them."""
