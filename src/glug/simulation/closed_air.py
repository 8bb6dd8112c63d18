"""The closed air of one step: its bubbles are named and measured, and get back what the last step has lost."""

from dataclasses import dataclass

import numpy as np

from glug.physics.air.bubbles import Bubbles
from glug.physics.air.surface_shift import LEAST, shift_surfaces
from glug.physics.air.tracking import Tracked, follow
from glug.physics.pressure.problem import PressureProblem
from glug.simulation.state import State


@dataclass(frozen=True)
class ClosedAir:
    """Entries follow the air regions."""

    bubbles: Bubbles
    tracked: Tracked
    volume: np.ndarray  # [m3]
    room: np.ndarray  # [m3] that solids leave of their cells

    @classmethod
    def find(cls, state: State, problem: PressureProblem, fraction: np.ndarray) -> "ClosedAir":
        """Name and measure the air regions of a pressure problem; `fraction` is the open liquid fraction of cells."""
        bubbles, openness = problem.bubbles, problem.solid.openness
        assert bubbles is not None
        volume = bubbles.regions.volume(problem.grid, openness, fraction)
        tracked = follow(state.bubbles, state.particles, bubbles.regions, volume)
        state.bubbles = tracked.memory
        return cls(bubbles, tracked, volume, bubbles.regions.room(problem.grid, openness))

    def restore(self, state: State, problem: PressureProblem, phi: np.ndarray, strength: float) -> bool:
        """Move the surfaces of bubbles to where these have their volumes, if they have lost enough; whether so.

        Voids move with them, but alone they are left to `growth`: all geometry is made anew after a move.
        """
        missing = min(strength, 1.0) * self.tracked.missing(self.volume, self.room)
        if np.abs(missing[self.kept]).sum() <= LEAST * self.volume[self.kept].sum():
            return False
        regions, faces = self.bubbles.regions, self.bubbles.faces
        shift_surfaces(state.particles, problem.grid, phi, problem.solid, regions, faces, missing)
        state.particles.sort(problem.grid)
        return True

    def growth(self, dt: float, strength: float) -> np.ndarray:
        """What every region still has to gain [m3/s]."""
        return self.tracked.growth(self.volume, self.room, dt, strength)

    @property
    def kept(self) -> np.ndarray:
        """Whether a region is a bubble: closed, and no void."""
        rest = self.tracked.memory.rest
        return np.isfinite(rest) & (rest > 0.0)

    @property
    def lost(self) -> float:
        """[m3] that all that is to be kept has less than it should."""
        return float((self.tracked.memory.rest[self.kept] - self.volume[self.kept]).sum())

    def rows(self) -> list[dict[str, float]]:
        """What `stats.jsonl` says of the bubbles."""
        cells, memory = self.bubbles.regions.cells, self.tracked.memory
        return [
            {"id": int(name), "volume": float(v), "rest": float(rest), "cells": int(count)}
            for name, v, rest, count in zip(memory.names, self.volume, memory.rest, cells)
            if np.isfinite(rest)
        ]
