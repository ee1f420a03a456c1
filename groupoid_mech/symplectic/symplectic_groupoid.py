r"""The abstract symplectic groupoid.

Convention: the target map is Poisson, the source map anti-Poisson; :math:`\Pi = \omega^{-T}`, so that :math:`\{q, p\} = +1` for
:math:`\omega = dq \wedge dp`. MMS Def. 2.11.
"""

from abc import abstractmethod
from typing import Any

from groupoid_mech._arguments import guard
from groupoid_mech._types import Matrix, Point
from groupoid_mech.groupoids.groupoid import LieGroupoid


class SymplecticGroupoid(LieGroupoid):
    r"""A Lie groupoid :math:`\tilde G \rightrightarrows P` with a symplectic form that multiplication respects.

    .. math:: m^*\omega = \mathrm{pr}_1^*\omega + \mathrm{pr}_2^*\omega \quad\text{on } \tilde G_2,

    that is, the graph of m is Lagrangian in :math:`\tilde G^- \times \tilde G^- \times \tilde G`. Its base is a Poisson manifold.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(cls, {"symplectic_form": ("arrow",), "poisson_tensor": ("point",)})

    @abstractmethod
    def symplectic_form(self, g: Point) -> Matrix:
        r"""The components of :math:`\omega` in the frame of the space at ``g``."""

    @abstractmethod
    def poisson_tensor(self, q: Point) -> Matrix:
        r"""The components of the Poisson tensor of the base, for which the target map is Poisson."""

    def covector_of(self, q: Point) -> Matrix:
        r"""The matrix of the isomorphism :math:`A_q\tilde G \to T^*_qP,\; v \mapsto \omega(v, T\epsilon\,\cdot)`.

        It carries the anchor to the Poisson tensor: :math:`\rho = \Pi \circ` this map.
        """
        unit = self.unit(q)
        return self.tangent_unit(q).T @ self.symplectic_form(unit).T @ self.left_frame(unit)
