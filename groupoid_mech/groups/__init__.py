"""Lie groups as manifolds retracted by x · τ(ξ), with their exponential and Cayley calculus in closed form."""
