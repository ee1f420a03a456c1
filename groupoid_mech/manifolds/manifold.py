r"""The abstract manifold: one centred local parametrization per point, and what follows from it.

Convention: points are pytrees in embedded form; tangent and cotangent vectors are flat coordinates in the frame at the
point, the derivative of ``retract(x, ·)`` at 0.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from groupoid_mech._arguments import describe, guard, is_concrete, require_finite, require_like, require_vector
from groupoid_mech._types import Key, Point, Scalar, Vector
from groupoid_mech.errors import ArgumentError, OffManifoldError

ON_MANIFOLD = 1e-8


class Manifold(eqx.Module):
    r"""A manifold :math:`M`, given by its centred local parametrizations.

    .. math:: \operatorname{retract}(x, \cdot): R^{\dim M} \to M, \qquad \operatorname{retract}(x, 0) = x, \qquad
        \operatorname{local}(x, \cdot) = \operatorname{retract}(x, \cdot)^{-1} \text{ near } x .

    Subclasses give ``dim`` and the seven methods below; calculus, groupoids and mechanics need nothing else. Without
    closed forms for ``to_ambient`` and ``from_ambient``, call `to_ambient_by_autodiff` and `from_ambient_by_autodiff`. Methods
    are written for one point and batched with ``jax.vmap``. Called outside of ``jit`` they check that points lie on
    the manifold (to 1e-8) and that the result is finite.
    """

    dim: eqx.AbstractVar[int]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(
            cls,
            {
                "retract": ("point", "vector"),
                "local": ("point", "point"),
                "to_ambient": ("point", "vector"),
                "from_ambient": ("point", "ambient"),
                "random_point": ("key",),
            },
        )

    @abstractmethod
    def retract(self, x: Point, xi: Vector) -> Point:
        r"""The point with centred coordinates ``xi`` at ``x``; ``retract(x, 0) = x``. Its derivative at 0 is the frame."""

    @abstractmethod
    def local(self, x: Point, y: Point) -> Vector:
        r"""The centred coordinates of ``y`` at ``x``: the inverse of ``retract(x, ·)`` near ``x``."""

    @abstractmethod
    def project(self, y: Point) -> Point:
        r"""The nearest point of the manifold to a nearby ambient point ``y``."""

    @abstractmethod
    def violation(self, y: Point) -> Scalar:
        r"""How far the ambient point ``y`` is from satisfying the equations of the manifold: 0 exactly on it."""

    @abstractmethod
    def random_point(self, key: Key) -> Point:
        r"""A point drawn with the JAX random ``key``."""

    @abstractmethod
    def to_ambient(self, x: Point, xi: Vector) -> Point:
        r"""The tangent vector with frame coordinates ``xi`` at ``x`` in the ambient form of the point: :math:`D\operatorname{retract}(x, 0)\,\xi`."""

    @abstractmethod
    def from_ambient(self, x: Point, v: Point) -> Vector:
        r"""The frame coordinates at ``x`` of an ambient tangent vector ``v``: :math:`D\operatorname{local}(x, x)\,v`."""

    def check_point(self, x: Point, *, owner: str = "", name: str = "x") -> None:
        """Raise an error that says what is wrong if ``x`` is not a point of this manifold.

        Under ``jit`` only structure, shapes and dtypes can be seen; outside also the distance.
        """
        owner = owner or f"{type(self).__name__}.check_point"
        require_like(owner, name, x, Manifold.point_like(self))
        if is_concrete(x) and is_concrete(self):
            gap = float(_violation(self, x))
            if not gap <= ON_MANIFOLD:
                raise OffManifoldError(
                    f"{owner} needs {name} on {type(self).__name__}; it is off by {gap:.3g} (allowed {ON_MANIFOLD:g}). "
                    f"Use project({name}) to move it onto the manifold."
                )

    def check_vector(self, xi: Vector, *, owner: str = "", name: str = "xi") -> None:
        """Raise an error that says what is wrong if ``xi`` is not a coordinate vector of this manifold."""
        require_vector(owner or f"{type(self).__name__}.check_vector", name, xi, self.dim)

    def check_ambient(self, v: Point, *, owner: str = "", name: str = "v") -> None:
        """Raise an error that says what is wrong if ``v`` has not the structure and shape of a point."""
        owner = owner or f"{type(self).__name__}.check_ambient"
        require_like(owner, name, v, Manifold.point_like(self))
        require_finite(owner, name, v)

    def check_key(self, key: Key, *, owner: str = "", name: str = "key") -> None:
        """Raise an error that says what is wrong if ``key`` is not a random key of JAX."""
        dtype = getattr(key, "dtype", None)
        if dtype is None or not (jnp.issubdtype(dtype, jax.dtypes.prng_key) or dtype == np.uint32):
            owner = owner or f"{type(self).__name__}.check_key"
            raise ArgumentError(f"{owner} needs {name} to be a random key, as jax.random.key(0); got {describe(key)}.")

    def point_like(self) -> Any:
        """The structure, shapes and dtypes of a point, as ``jax.ShapeDtypeStruct`` leaves."""
        leaves, structure = jax.tree.flatten(self)
        key = (structure, tuple((leaf.shape, leaf.dtype) if eqx.is_array(leaf) else leaf for leaf in leaves))
        if key not in _point_shapes:
            _point_shapes[key] = None  # random_point may call checked methods: they must not ask again
            _point_shapes[key] = eqx.filter_eval_shape(lambda M: M.random_point(jax.random.key(0)), self)
        return _point_shapes[key]


def to_ambient_by_autodiff(M: Manifold, x: Point, xi: Vector) -> Point:
    r"""The derivative of ``retract(x, ·)`` at 0 along ``xi``."""
    return jax.jvp(lambda z: M.retract(x, z), (jnp.zeros(M.dim),), (xi,))[1]


def from_ambient_by_autodiff(M: Manifold, x: Point, v: Point) -> Vector:
    r"""The derivative of ``local(x, ·)`` at ``x`` along ``v``."""
    return jax.jvp(lambda y: M.local(x, y), (x,), (v,))[1]


# Tracing random_point to learn the shape of a point is slow for level sets: once per manifold is enough.
_point_shapes: dict[Any, Any] = {}


@eqx.filter_jit
def _violation(manifold: Manifold, x: Point) -> Scalar:
    return manifold.violation(x)
