r"""Weights of composition methods: how long the steps of a basic method are. BM §6.2.

Convention: weights are for steps in their order and sum up to 1. A symmetric method of order 2 composed with symmetric weights γ is of
order 4 if :math:`\sum\gamma^3 = 0`, and so on (Hairer, Lubich and Wanner, Geometric Numerical Integration, §V.3).
"""

from collections.abc import Callable

import numpy as np

from groupoid_mech._arguments import require_choice

ORDERS = (4, 6, 8)

# Kahan and Li (1997): the first halves of symmetric weights, the middle one last.
_OPTIMIZED = {
    6: (
        0.39216144400731413927925056,
        0.33259913678935943859974864,
        -0.70624617255763935980996482,
        0.08221359629355080023149045,
        0.79854399093482996339895035,
    ),
    8: (
        0.13020248308889008087881763,
        0.56116298177510838456196441,
        -0.38947496264484728640807860,
        0.15884190655515560089621075,
        -0.39590389413323757733623154,
        0.18453964097831570709183254,
        0.25837438768632204729397911,
        0.29501172360931029887096624,
        -0.60550853383003451169892108,
    ),
}

# Blanes and Moan (2002): drifts and kicks in turn, the first halves of symmetric lists.
_SPLITTING = {
    4: ((0.0792036964311957, 0.353172906049774, -0.0420650803577195), (0.209515106613362, -0.143851773179818)),
    6: (
        (0.0502627644003922, 0.413514300428344, 0.0450798897943977, -0.188054853819569, 0.541960678450780),
        (0.148816447901042, -0.132385865767784, 0.067307604692185, 0.432666402578175),
    ),
}


def triple_jump(order: int) -> np.ndarray:
    r"""The weights of Yoshida's triple jumps on a symmetric method of order 2: 3, 9 or 27 of them for order 4, 6 or 8.

    .. math:: \gamma_1 = \gamma_3 = \frac1{2 - 2^{1/(p+1)}}, \qquad \gamma_2 = -\frac{2^{1/(p+1)}}{2 - 2^{1/(p+1)}} ,

    from order p to p + 2, one after the other.

    Example:
        >>> float(abs(triple_jump(4).sum() - 1)) < 1e-15
        True
    """
    return _by_jumps("triple_jump", order, lambda p: (1 / (2 - 2 ** (1 / (p + 1))), 1))


def suzuki(order: int) -> np.ndarray:
    r"""The weights of Suzuki's fractals on a symmetric method of order 2: 5, 25 or 125 of them for order 4, 6 or 8.

    .. math:: \gamma_1 = \gamma_2 = \gamma_4 = \gamma_5 = \frac1{4 - 4^{1/(p+1)}}, \qquad \gamma_3 = 1 - 4\gamma_1 .

    More steps than triple jumps, but shorter ones: the errors are smaller.
    """
    return _by_jumps("suzuki", order, lambda p: (1 / (4 - 4 ** (1 / (p + 1))), 2))


def optimized(order: int) -> np.ndarray:
    r"""The weights of Kahan and Li on a symmetric method of order 2, with small errors: 9 or 17 of them for order 6 or 8.

    For order 4, those of `suzuki` are good.
    """
    require_choice("optimized", "order", order, tuple(_OPTIMIZED))
    half = np.array(_OPTIMIZED[order])
    middle = 1 - 2 * half[:-1].sum()  # the printed digits, so that the sum is 1 to the last one
    return np.concatenate([half[:-1], [middle], half[-2::-1]])


def splitting_weights(order: int) -> np.ndarray:
    r"""The optimized splittings of Blanes and Moan, as rows of a drift and a kick: 7 or 11 of them for order 4 or 6.

    The last kick is of length 0. For `splitting`; order 2 is that of Störmer and Verlet.
    """
    require_choice("splitting_weights", "order", order, (2, *_SPLITTING))
    if order == 2:
        return np.array([[0.5, 1.0], [0.5, 0.0]])
    a, b = (np.array(half) for half in _SPLITTING[order])
    drifts = np.concatenate([a, [1 - 2 * a.sum()], a[::-1]])
    kicks = np.concatenate([b, [0.5 - b.sum()] * 2, b[::-1], [0.0]])
    return np.stack([drifts, kicks], axis=1)


def _by_jumps(owner: str, order: int, jump: Callable[[int], tuple[float, int]]) -> np.ndarray:
    require_choice(owner, "order", order, ORDERS)
    weights = np.ones(1)
    for p in range(2, order, 2):
        outer, copies = jump(p)
        factors = np.array([outer] * copies + [1 - 2 * copies * outer] + [outer] * copies)
        weights = np.concatenate([factor * weights for factor in factors])
    return weights
