"""The Lie algebroids that the laws are checked on, and the broken ones that they must reject."""

import jax.numpy as jnp
from laws.subjects import broken, unchecked

import groupoid_mech as gm
from groupoid_mech.algebroids.action import ActionAlgebroid
from groupoid_mech.algebroids.groupoid_algebroid import GroupoidAlgebroid
from groupoid_mech.algebroids.lie_algebra import LieAlgebra
from groupoid_mech.algebroids.tangent import TangentAlgebroid
from groupoid_mech.symplectic.cotangent_algebroid import CotangentAlgebroid
from groupoid_mech.symplectic.linear_poisson import LinearPoisson
from groupoid_mech.symplectic.poisson_manifold import PoissonManifold

S2, R2, SO3 = gm.Sphere(2), gm.Euclidean(2), gm.SO3()


def turn(q, R):
    """The right action of rotations on the sphere."""
    return R.T @ q


class Area(PoissonManifold):
    """A multiple of the inverse of the area form: on a surface every bivector is Poisson, and this frame does not commute."""

    manifold: gm.Manifold

    def tensor(self, x):
        return (2 + x[0] * x[2]) * jnp.array([[0.0, 1.0], [-1.0, 0.0]])


ALGEBROIDS = {
    "A(pair S2)": GroupoidAlgebroid(gm.PairGroupoid(S2)),
    "A(SO3)": GroupoidAlgebroid(gm.GroupGroupoid(SO3)),
    "A(SE3)": GroupoidAlgebroid(gm.GroupGroupoid(gm.SE3(tau="cayley"))),
    "A(S2 x| SO3)": GroupoidAlgebroid(unchecked(lambda: gm.ActionGroupoid(S2, gm.SO3(tau="cayley"), turn))),
    "A(gauge R2 SO2)": GroupoidAlgebroid(gm.GaugeGroupoid(R2, gm.SO2())),
    "A(plate-ball)": GroupoidAlgebroid(gm.ProductGroupoid(gm.PairGroupoid(R2), gm.GroupGroupoid(gm.SO3(tau="cayley")))),
    "A(time-extended pair R2)": GroupoidAlgebroid(gm.TimeExtended(gm.PairGroupoid(R2))),
    "TS2 algebroid": TangentAlgebroid(S2),
    "so3": LieAlgebra(SO3),
    "S2 x| so3": ActionAlgebroid(S2, SO3, turn),
    "cotangent of so3*": CotangentAlgebroid(LinearPoisson(LieAlgebra(SO3))),
    "cotangent of S2": CotangentAlgebroid(Area(S2)),
}


TANGENT, ACTION, PAIR = (ALGEBROIDS[name] for name in ("TS2 algebroid", "S2 x| so3", "A(S2 x| SO3)"))
WARP = jnp.arange(27.0).reshape(3, 3, 3) / 27
TWIST = WARP - jnp.swapaxes(WARP, 1, 2)

# Structure functions with the wrong sign: the bracket of right-invariant fields.
reversed_structure = broken(GroupoidAlgebroid, PAIR.groupoid, structure=lambda self, q: -PAIR.structure(q))


def bracket_by_values(self, X, Y):
    """A bracket that ignores the derivatives of its sections: it is bilinear over functions."""
    return lambda q: jnp.einsum("cab,a,b->c", self.structure(q), X(q), Y(q))


ALGEBROID_CONTROLS = {
    "algebroid_antisymmetric": broken(
        ActionAlgebroid, S2, SO3, turn, structure=lambda self, q: ACTION.structure(q) + WARP
    ),
    "algebroid_leibniz": broken(ActionAlgebroid, S2, SO3, turn, bracket=bracket_by_values),
    "algebroid_jacobi": broken(ActionAlgebroid, S2, SO3, turn, structure=lambda self, q: ACTION.structure(q) + TWIST),
    "anchor_homomorphism": broken(TangentAlgebroid, S2, anchor=lambda self, q: (2 + q[0]) * TANGENT.anchor(q)),
    "left_fields_bracket": reversed_structure,
    "right_fields_bracket": reversed_structure,
}
