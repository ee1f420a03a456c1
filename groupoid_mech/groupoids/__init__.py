"""Lie groupoids: structure maps and a fibre chart in, invariant fields and tangent maps out."""
