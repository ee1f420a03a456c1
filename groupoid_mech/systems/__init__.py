"""Named systems of mechanics, each with defaults, a start and what it keeps."""

from groupoid_mech.systems.chain import chain
from groupoid_mech.systems.double_pendulum import double_pendulum
from groupoid_mech.systems.dubins import dubins
from groupoid_mech.systems.elroys_beanie import elroys_beanie
from groupoid_mech.systems.heavy_top import heavy_top
from groupoid_mech.systems.heisenberg import heisenberg
from groupoid_mech.systems.kepler import kepler
from groupoid_mech.systems.model import Model
from groupoid_mech.systems.plate_ball import plate_ball
from groupoid_mech.systems.reorientation import reorientation
from groupoid_mech.systems.rigid_body import rigid_body
from groupoid_mech.systems.spherical_pendulum import spherical_pendulum
from groupoid_mech.systems.unicycle import unicycle
from groupoid_mech.systems.vehicle import vehicle

__all__ = [
    "Model",
    "chain",
    "double_pendulum",
    "dubins",
    "elroys_beanie",
    "heavy_top",
    "heisenberg",
    "kepler",
    "plate_ball",
    "reorientation",
    "rigid_body",
    "spherical_pendulum",
    "unicycle",
    "vehicle",
]
