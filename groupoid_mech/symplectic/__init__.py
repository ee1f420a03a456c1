"""Symplectic and Poisson geometry: symplectic groupoids, Poisson manifolds, Lagrangian submanifolds."""
