r"""Frames that keep lengths when they are carried in ambient form.

.. math:: \Gamma(\xi) = E^T\,D_{E\xi}E = -\Gamma(\xi)^T .

Then covectors are carried as vectors are, and the splitting of TT*Q by `smooth_components` is that of a metric connection without torsion.
"""

from functools import singledispatch

from groupoid_mech.groups.product import ProductGroup
from groupoid_mech.groups.se2 import SE2
from groupoid_mech.groups.se3 import SE3
from groupoid_mech.groups.so2 import SO2
from groupoid_mech.groups.so3 import SO3
from groupoid_mech.groups.translations import Translations
from groupoid_mech.groups.unit_quaternions import UnitQuaternions
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.level_set import LevelSet
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.single_point import SinglePoint
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus

_METRIC = Euclidean, Torus, SinglePoint, Sphere, LevelSet, SO2, SO3, UnitQuaternions, SE2, SE3, Translations


@singledispatch
def has_metric_frame(M: Manifold) -> bool:
    r"""Whether the matrices :math:`\Gamma(\xi)` of the frame of M are known to be antisymmetric.

    Open for further manifolds: ``@has_metric_frame.register`` adds one, and makes programs on its cotangent bundle shorter.

    Example:
        >>> from groupoid_mech import Heisenberg
        >>> has_metric_frame(Sphere(2)), has_metric_frame(Heisenberg())
        (True, False)
    """
    return isinstance(M, _METRIC)


@has_metric_frame.register(ProductManifold)
@has_metric_frame.register(ProductGroup)
def _(M: ProductManifold | ProductGroup) -> bool:
    return all(has_metric_frame(factor) for factor in M.factors)
