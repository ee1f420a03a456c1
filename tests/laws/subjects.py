"""The objects that the laws are checked on, and the broken ones that they must reject."""

import equinox as eqx
import jax.numpy as jnp

import groupoid_mech as gm


def ellipsoid(x):
    return x[0] ** 2 + 2 * x[1] ** 2 + 3 * x[2] ** 2 - 1


def bent_circle(x):
    return jnp.stack([jnp.sum(x * x) - 1, x[0] * x[1] + x[2] + 0.3 * x[2] ** 3])


MANIFOLDS = {
    "R3": gm.Euclidean(3),
    "S2": gm.Sphere(2),
    "S3": gm.Sphere(3),
    "T2": gm.Torus(2),
    "S2xT1": gm.ProductManifold(gm.Sphere(2), gm.Torus(1)),
    "ellipsoid": gm.LevelSet(ellipsoid, 3),
    "bent_circle": gm.LevelSet(bent_circle, 3),
    "TS2": gm.TangentBundle(gm.Sphere(2)),
    "T*S2": gm.CotangentBundle(gm.Sphere(2)),
}

GROUPS = {
    "SO2": gm.SO2(),
    "SO3": gm.SO3(),
    "SE2": gm.SE2(),
    "SE3": gm.SE3(),
    "Heisenberg": gm.Heisenberg(),
    "Translations": gm.Translations(2),
    "UnitQuaternions": gm.UnitQuaternions(),
    "SO3xR2": gm.ProductGroup(gm.SO3(), gm.Translations(2)),
}

# The calculus enters through charts and frames only; with those right, it is the same program on every manifold. So its laws
# run on the manifolds above but one, and on the two groups with the richest algebra.
CALCULUS_LAWS = {
    "d_squared_function",
    "d_squared_one_form",
    "d_by_fields",
    "cartan_one_form",
    "cartan_two_form",
    "lie_derivative_of_function",
    "lie_derivative_leibniz",
    "bracket_of_derivations",
    "bracket_jacobi",
    "pull_back_d",
    "push_forward_chain",
}
WITHOUT_CALCULUS = {"TS2", "SO2", "SE2", "Heisenberg", "Translations", "UnitQuaternions", "SO3xR2"}

CAYLEY_GROUPS = {
    "SO2 cayley": gm.SO2(tau="cayley"),
    "SO3 cayley": gm.SO3(tau="cayley"),
    "SE2 cayley": gm.SE2(tau="cayley"),
    "SE3 cayley": gm.SE3(tau="cayley"),
    "UnitQuaternions cayley": gm.UnitQuaternions(tau="cayley"),
}

# The retraction enters these laws only: with another τ the others compile to the same program.
TAU_LAWS = {
    "retract_zero",
    "local_retract",
    "retract_stays",
    "frame_of_retract",
    "coordinates_of_local",
    "retract_by_tau",
}


def unchecked(build):
    """The object that a function builds, without the checks of values: those need compiled programs of their own."""
    return eqx.filter_jit(build)()


def broken(cls, *args, **methods):
    """An instance of a class with some methods replaced."""
    return type(f"Broken{cls.__name__}", (cls,), methods)(*args)


S2, SO3, PLANE = gm.Sphere(2), gm.SO3(), gm.Translations(2)
TILT = jnp.array([0.1, 0.2, 0.3])
STRETCH = jnp.array([1.0, 2.0, 3.0])

# A frame that its coordinates do not invert: what every rule of the calculus rests on.
crooked_frame = broken(gm.Sphere, 2, to_ambient=lambda self, x, xi: (1 + x[0]) * S2.to_ambient(x, xi))

# A frame that is not linear: derivatives along it are not sums of those along its members.
bent_frame = broken(gm.Sphere, 2, to_ambient=lambda self, x, xi: S2.to_ambient(x, xi + xi**2))

CONTROLS = {
    "retract_zero": broken(gm.Sphere, 2, retract=lambda self, x, xi: S2.retract(x, xi + 0.1)),
    "local_retract": broken(gm.Sphere, 2, local=lambda self, x, y: -S2.local(x, y)),
    "retract_stays": broken(gm.Sphere, 2, retract=lambda self, x, xi: x + S2.to_ambient(x, xi)),
    "project_fixes": broken(gm.Sphere, 2, project=lambda self, y: S2.project(y + TILT)),
    "project_orthogonal": broken(gm.Sphere, 2, project=lambda self, y: y + (1 - jnp.sum(y * y)) * TILT),
    "frame_of_retract": broken(gm.Sphere, 2, to_ambient=lambda self, x, xi: -S2.to_ambient(x, xi)),
    "coordinates_of_local": broken(gm.Sphere, 2, from_ambient=lambda self, x, v: -S2.from_ambient(x, v)),
    "d_squared_function": crooked_frame,
    "d_squared_one_form": broken(
        gm.Sphere, 3, from_ambient=lambda self, x, v: (1 + x[0]) * gm.Sphere(3).from_ambient(x, v)
    ),
    "d_by_fields": crooked_frame,
    "cartan_one_form": bent_frame,
    "cartan_two_form": bent_frame,
    "lie_derivative_of_function": bent_frame,
    "lie_derivative_leibniz": crooked_frame,
    "bracket_of_derivations": crooked_frame,
    "bracket_jacobi": crooked_frame,
    "pull_back_d": crooked_frame,
    "push_forward_chain": crooked_frame,
    "symplectic_form": broken(
        gm.CotangentBundle, S2, symplectic_form=lambda self, x: -gm.CotangentBundle(S2).symplectic_form(x)
    ),
    "liouville_tautological": broken(
        gm.CotangentBundle, S2, liouville_form=lambda self, x: jnp.concatenate([jnp.zeros(2), x[1]])
    ),
    "multiply_assoc": broken(gm.Translations, 2, multiply=lambda self, g, h: g - h),
    "identity_multiply": broken(gm.Translations, 2, multiply=lambda self, g, h: g - h),
    "inverse_multiply": broken(gm.SO3, inverse=lambda self, g: g),
    "multiply_closed": broken(gm.SO3, multiply=lambda self, g, h: 1.001 * SO3.multiply(g, h)),
    "matrix_multiply": broken(gm.SO3, matrix=lambda self, g: g.T),
    "log_exp": broken(gm.SO3, log=lambda self, g: -SO3.log(g)),
    "exp_log": broken(gm.SO3, log=lambda self, g: -SO3.log(g)),
    "exp_one_parameter": broken(gm.SO3, exp=lambda self, xi: SO3.cayley(xi)),
    "exp_series": broken(gm.SO3, exp=lambda self, xi: SO3.exp(2 * xi)),
    "cayley_round_trip": broken(gm.SO3, cayley_inverse=lambda self, g: SO3.log(g)),
    "cayley_matrix": broken(gm.SO3, cayley=lambda self, xi: SO3.exp(xi)),
    "cayley_inverse_element": broken(gm.SO3, cayley=lambda self, xi: SO3.cayley(xi + xi**2)),
    "cayley_equivariant": broken(gm.SO3, cayley=lambda self, xi: SO3.cayley(STRETCH * xi)),
    "adjoint_multiply": broken(gm.SO3, adjoint=lambda self, g: g.T),
    "adjoint_autodiff": broken(gm.SO3, adjoint=lambda self, g: g.T),
    "ad_autodiff": broken(gm.SO3, ad=lambda self, xi: -SO3.ad(xi)),
    "ad_homomorphism": broken(gm.SO3, ad=lambda self, xi: SO3.ad(xi) + jnp.diag(xi)),
    "hat_bracket": broken(gm.SO3, ad=lambda self, xi: -SO3.ad(xi)),
    "left_invariant_bracket": broken(gm.SO3, ad=lambda self, xi: -SO3.ad(xi)),
    "coadjoint_pairing": broken(gm.SO3, inverse=lambda self, g: g),
    "dexp_autodiff": broken(gm.SO3, dexp=lambda self, xi: SO3.dexp(-xi)),
    "dexp_inverse": broken(gm.SO3, dexp_inverse=lambda self, xi: SO3.dexp_inverse(-xi)),
    "dcayley_autodiff": broken(gm.SO3, dcayley=lambda self, xi: SO3.dcayley(-xi)),
    "dcayley_inverse": broken(gm.SO3, dcayley_inverse=lambda self, xi: SO3.dcayley_inverse(-xi)),
    "retract_by_tau": broken(gm.SO3, retract=lambda self, x, xi: SO3.multiply(SO3.exp(xi), x)),
}
