"""The Poisson manifolds that the laws are checked on, and the broken ones that they must reject."""

import jax.numpy as jnp
from laws.subjects import broken, unchecked

import groupoid_mech as gm
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.algebroids.lie_algebra import LieAlgebra
from groupoid_mech.algebroids.tangent import TangentAlgebroid
from groupoid_mech.symplectic.canonical_poisson import CanonicalPoisson
from groupoid_mech.symplectic.cotangent_algebroid import CotangentAlgebroid
from groupoid_mech.symplectic.linear_poisson import LinearPoisson

S2, SO3 = gm.Sphere(2), gm.SO3()
HEAVY_TOP = unchecked(lambda: gm.ActionGroupoid(S2, SO3, lambda q, R: R.T @ q))

POISSON_MANIFOLDS = {
    "T*S2 canonical": CanonicalPoisson(gm.CotangentBundle(S2)),
    "so3*": LinearPoisson(LieAlgebra(SO3)),
    "se3*": LinearPoisson(LieAlgebra(gm.SE3())),
    "T*S2 linear": LinearPoisson(TangentAlgebroid(S2)),
    "A*(S2 x| SO3)": LinearPoisson(GroupoidAlgebroid(HEAVY_TOP)),
}


CANONICAL, SPIN = POISSON_MANIFOLDS["T*S2 canonical"], POISSON_MANIFOLDS["so3*"]
COTANGENT = CotangentAlgebroid(CANONICAL)

# A tensor that is a multiple of a Poisson tensor by a function is antisymmetric, but Jacobi's identity fails for dim > 2.
stretched = broken(CanonicalPoisson, CANONICAL.manifold, tensor=lambda self, x: (2 + x[0][0]) * CANONICAL.tensor(x))
opposite = broken(CanonicalPoisson, CANONICAL.manifold, tensor=lambda self, x: -CANONICAL.tensor(x))
opposite_spin = broken(LinearPoisson, SPIN.algebroid, tensor=lambda self, x: -SPIN.tensor(x))
opposite_anchor = broken(CotangentAlgebroid, CANONICAL, anchor=lambda self, q: -COTANGENT.anchor(q))


def squared(self, f, g):
    """A bracket that is no derivation."""
    return lambda x: CANONICAL.bracket(f, g)(x) ** 2


POISSON_CONTROLS = {
    "poisson_antisymmetric": broken(
        CanonicalPoisson, CANONICAL.manifold, tensor=lambda self, x: CANONICAL.tensor(x) + jnp.eye(4)
    ),
    "poisson_leibniz": broken(CanonicalPoisson, CANONICAL.manifold, bracket=squared),
    "poisson_jacobi": stretched,
    "hamiltonian_field_acts": broken(CanonicalPoisson, CANONICAL.manifold, bracket=squared),
    "hamiltonian_fields_bracket": stretched,
    "canonical_poisson_form": opposite,
    "canonical_poisson_is_linear": opposite,
    "linear_poisson_sections": opposite_spin,
    "linear_poisson_anchor": broken(
        LinearPoisson, TangentAlgebroid(S2), tensor=lambda self, x: -POISSON_MANIFOLDS["T*S2 linear"].tensor(x)
    ),
    "bracket_of_differentials": opposite_anchor,
    "koszul_bracket": broken(CotangentAlgebroid, CANONICAL, structure=lambda self, q: -COTANGENT.structure(q)),
    "sharp_of_differential": opposite_anchor,
}
