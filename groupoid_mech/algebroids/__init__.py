"""Lie algebroids: an anchor and structure functions in, brackets of sections out."""
