"""The named errors of the library.

Every error about what a user gave is a ``ValueError``: it says what was needed, what came and what to do.
"""

from typing import Any


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
    """Submanifolds do not meet transversally: a bisection is tangent to a fibre, two relations do not span the middle."""


class NotAMorphismError(GroupoidMechError):
    """A map between groupoids does not respect their structure."""


class NotAnActionError(GroupoidMechError):
    """A map given as a right action of a group does not compose as one."""


class OffConstraintsError(GroupoidMechError):
    """An arrow does not lie on the constraint submanifold N."""


class StepFailed(GroupoidMechError):
    """A step of a simulation has no solution that Newton's method reaches, or no finite value; ``trajectory`` is what was computed before.

    Args:
        message: What happened, and what to do.
        step: The number of the step that failed, counted from 1.
        trajectory: The part that was computed.
    """

    def __init__(self, message: str, *, step: int, trajectory: Any):
        super().__init__(message)
        self.step = step
        self.trajectory = trajectory


class SingularLagrangianError(StepFailed):
    """The Legendre transformations of a system lose rank: its Lagrangian does not determine the next step."""


class DependentConstraintsError(StepFailed):
    """The differentials of the constraints, or the equations of the auxiliary variables, lose rank."""


class NotMorseError(GroupoidMechError):
    """A generating family is not Morse, or constraints are dependent: what it generates is no submanifold there."""


class NotASymmetryError(GroupoidMechError):
    """A section, with a function, is not a Noether symmetry of a system."""


class NotASystemMorphismError(GroupoidMechError):
    """A morphism of groupoids does not relate the Lagrangians or the constraints of two systems."""


class NotLiftableError(GroupoidMechError):
    """A morphism is not a local diffeomorphism of source fibres: an arrow has no unique lift."""


class BoundaryFailed(GroupoidMechError):
    """The search for a solution of a boundary problem did not arrive; ``solution`` is the best iterate.

    Args:
        message: What happened, and what to do.
        solution: The best iterate, with its history.
    """

    def __init__(self, message: str, *, solution: Any):
        super().__init__(message)
        self.solution = solution
