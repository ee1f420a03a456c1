r"""Whether charts are straight, and keep coordinates: what decides how the θ-map of a chart is inverted."""

from functools import singledispatch
from typing import NamedTuple

from groupoid_mech.groupoids.action import ActionGroupoid
from groupoid_mech.groupoids.group import GroupGroupoid
from groupoid_mech.groupoids.groupoid import LieGroupoid
from groupoid_mech.groupoids.pair import PairGroupoid
from groupoid_mech.groupoids.product import ProductGroupoid
from groupoid_mech.groups.lie_group import LieGroup
from groupoid_mech.manifolds.euclidean import Euclidean
from groupoid_mech.manifolds.manifold import Manifold
from groupoid_mech.manifolds.product import ProductManifold
from groupoid_mech.manifolds.single_point import SinglePoint
from groupoid_mech.manifolds.sphere import Sphere
from groupoid_mech.manifolds.torus import Torus
from groupoid_mech.manifolds.vector_bundle import VectorBundle


class Form(NamedTuple):
    """What is known about the inverse of a θ-map, for every θ: whether the retraction is straight, and whether it keeps coordinates.

    Straight: it runs along geodesics or one-parameter groups. Kept are the coordinates of the velocity on the way.
    """

    straight: bool
    parallel: bool


@singledispatch
def known_form(space: LieGroupoid | Manifold) -> Form | None:
    """The form of the chart of a groupoid or a manifold, for numbers θ; None where it is not known and has to be found out.

    Open for further ones: ``@known_form.register`` adds one, and saves the time to find it out.

    Example:
        >>> known_form(PairGroupoid(Sphere(2)))
        Form(straight=True, parallel=False)
    """
    return None


@known_form.register
def _(space: PairGroupoid) -> Form | None:
    return known_form(space.base)


@known_form.register(GroupGroupoid)
@known_form.register(ActionGroupoid)
def _(space: GroupGroupoid | ActionGroupoid) -> Form | None:
    return known_form(space.group)


@known_form.register(Euclidean)
@known_form.register(Torus)
@known_form.register(SinglePoint)
def _(space: Manifold) -> Form | None:
    return Form(straight=True, parallel=True)


@known_form.register
def _(space: Sphere) -> Form | None:
    return Form(straight=True, parallel=False)


# Components in the fibre are added.
@known_form.register
def _(space: VectorBundle) -> Form | None:
    return known_form(space.base)


@known_form.register
def _(space: LieGroup) -> Form | None:
    return Form(straight=True, parallel=True) if space.tau == "exp" else None


@known_form.register(ProductManifold)
@known_form.register(ProductGroupoid)
def _(space: ProductManifold | ProductGroupoid) -> Form | None:
    forms = [known_form(factor) for factor in space.factors]
    known = [form for form in forms if form is not None]
    if len(known) < len(forms):
        return None
    return Form(all(form.straight for form in known), all(form.parallel for form in known))
