"""Named systems of mechanics, each with defaults, a start and what it keeps."""

from groupoid_mech.systems.chain import chain
from groupoid_mech.systems.double_pendulum import double_pendulum
from groupoid_mech.systems.dubins import dubins
from groupoid_mech.systems.elroys_beanie import elroys_beanie
from groupoid_mech.systems.geodesics import geodesics
from groupoid_mech.systems.hamiltonian_model import HamiltonianModel
from groupoid_mech.systems.heavy_top import heavy_top
from groupoid_mech.systems.heisenberg import heisenberg
from groupoid_mech.systems.henon_heiles import henon_heiles
from groupoid_mech.systems.kepler import kepler
from groupoid_mech.systems.kepler_hamiltonian import kepler_hamiltonian
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.pendulum import pendulum
from groupoid_mech.systems.plate_ball import plate_ball
from groupoid_mech.systems.reorientation import reorientation
from groupoid_mech.systems.rigid_body import rigid_body
from groupoid_mech.systems.rigid_body_hamiltonian import lie_poisson_rigid_body, rigid_body_hamiltonian
from groupoid_mech.systems.spherical_pendulum import spherical_pendulum
from groupoid_mech.systems.spherical_pendulum_hamiltonian import spherical_pendulum_hamiltonian
from groupoid_mech.systems.toda import toda
from groupoid_mech.systems.unicycle import unicycle
from groupoid_mech.systems.vehicle import vehicle

__all__ = [
    "HamiltonianModel",
    "Model",
    "chain",
    "double_pendulum",
    "dubins",
    "elroys_beanie",
    "geodesics",
    "heavy_top",
    "heisenberg",
    "henon_heiles",
    "kepler",
    "kepler_hamiltonian",
    "lie_poisson_rigid_body",
    "pendulum",
    "plate_ball",
    "reorientation",
    "rigid_body",
    "rigid_body_hamiltonian",
    "spherical_pendulum",
    "spherical_pendulum_hamiltonian",
    "toda",
    "unicycle",
    "vehicle",
]
