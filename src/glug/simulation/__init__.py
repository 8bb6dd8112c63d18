"""Stepping a scene through time."""

from glug.simulation.context import StepContext
from glug.simulation.forecast.size import estimate
from glug.simulation.frame import BodyPose, Frame, StepStats
from glug.simulation.simulation import Simulation
from glug.simulation.solvers import register_pressure_solver, register_viscosity_solver
from glug.simulation.stages import Stage, Stages

__all__ = [
    "BodyPose",
    "Frame",
    "Simulation",
    "Stage",
    "Stages",
    "StepContext",
    "StepStats",
    "estimate",
    "register_pressure_solver",
    "register_viscosity_solver",
]
