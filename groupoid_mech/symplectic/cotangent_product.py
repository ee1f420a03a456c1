r"""The product of the cotangent groupoid by bisections, beside the one by its definition. MMS Theorem A.2."""

import equinox as eqx

from groupoid_mech._arguments import require_instances
from groupoid_mech._types import Covector, Point
from groupoid_mech.groupoids.bisection import InverseBisection
from groupoid_mech.groupoids.local_bisection import LocalBisection
from groupoid_mech.manifolds.calculus import push_forward
from groupoid_mech.symplectic.cotangent_groupoid import CotangentGroupoid


def multiply_by_bisections(T: CotangentGroupoid, x: Point, y: Point) -> Point:
    r"""The product of two arrows of :math:`T^*G` by Theorem A.2.

    .. math:: \tilde m(\mu, \nu) = T^*\ell_{i(B_1)}\nu + T^*r_{i(B_2)}\mu - T^*(\ell_{i(B_1)} \circ r_{i(B_2)})\,\pi_q^*\,p,
        \qquad p = \tilde\beta(\mu) = \tilde\alpha(\nu),

    with local bisections :math:`B_1, B_2` through the two arrows of G. It equals ``T.multiply(x, y)`` and is slower: it is there to
    check it.

    Args:
        T: The cotangent groupoid.
        x: The arrow :math:`(g, \mu)`.
        y: The arrow :math:`(h, \nu)`, with the target of x as source.

    Example:
        >>> import jax.numpy as jnp
        >>> from groupoid_mech import CotangentGroupoid, GroupGroupoid, Translations
        >>> T = CotangentGroupoid(GroupGroupoid(Translations(1)))
        >>> multiply_by_bisections(T, (jnp.ones(1), jnp.ones(1)), (2 * jnp.ones(1), jnp.ones(1)))
        (Array([3.], dtype=float64), Array([1.], dtype=float64))
    """
    require_instances("multiply_by_bisections", "T", (T,), CotangentGroupoid)
    T.check_arrow(x, owner="multiply_by_bisections", name="x")
    T.check_arrow(y, owner="multiply_by_bisections", name="y")
    T.check_composable(x, y)
    return _multiply(T, x, y)


@eqx.filter_jit
def _multiply(T: CotangentGroupoid, x: Point, y: Point) -> Point:
    (g, mu), (h, nu) = x, y
    G = T.groupoid
    back_first = InverseBisection(LocalBisection(G, g))
    back_second = InverseBisection(LocalBisection(G, h))
    product = G.multiply(g, h)
    q, p = T.target(x)

    def pulled(f: object, covector: Covector) -> Covector:
        return push_forward(G.space, G.space, f, product).T @ covector  # type: ignore[arg-type]

    both = pulled(lambda k: back_first.left(back_second.right(k)), G.algebroid_projection(q).T @ p)
    return product, pulled(back_first.left, nu) + pulled(back_second.right, mu) - both
