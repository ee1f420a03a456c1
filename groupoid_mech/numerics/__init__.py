"""Small exact kernels under everything else: little matrices, entire functions of rotations, Newton's method."""
