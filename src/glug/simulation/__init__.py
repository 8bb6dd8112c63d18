"""Stepping a scene through time."""

from glug.simulation.estimate import estimate
from glug.simulation.frame import BodyPose, Frame, StepStats
from glug.simulation.simulation import Simulation

__all__ = ["BodyPose", "Frame", "Simulation", "StepStats", "estimate"]
