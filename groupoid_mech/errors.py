"""The named errors of the library.

Every error about what a user gave is a ``ValueError``: it says what was needed, what came and what to do.
"""


class GroupoidMechError(ValueError):
    """Base of all errors that the library raises about its input."""


class ArgumentError(GroupoidMechError):
    """An argument has the wrong structure, shape, dtype or value."""


class OffManifoldError(GroupoidMechError):
    """A point does not lie on the manifold it was said to lie on."""


class CutLocusError(GroupoidMechError):
    """A local inverse (``local``, ``log``, ``cayley_inverse``) was asked for where it does not exist."""


class NotFiniteError(GroupoidMechError):
    """A computation has no finite result for finite input: the input is outside the map's domain."""


class NotTraceableError(GroupoidMechError):
    """A user's function cannot be traced by JAX (it uses numpy, ``math`` or a Python branch on values)."""


class NotSubmersiveError(GroupoidMechError):
    """The defining function of a level set loses rank: the level set is not a manifold there."""


class NotComposableError(GroupoidMechError):
    """The product of two arrows was asked for whose ends do not meet."""


class NotTransverseError(GroupoidMechError):
    """A submanifold of a groupoid is not a bisection: it is tangent to a source or target fibre."""


class NotAMorphismError(GroupoidMechError):
    """A map between groupoids does not respect their structure."""


class NotAnActionError(GroupoidMechError):
    """A map given as a right action of a group does not compose as one."""
