"""The library's beam sags with the regular viscous solve and with octrees (Goldade 2021, section 5.6.5).

The tip is the mean height of the particles that start within the last sixth of the beam; how far it has fallen is
printed after every quarter of the run, and beside it the largest difference to the regular grid over all frames: as a
share of the tip's fall at the end (`difference`), and of that at the same time (`difference_then`). Enhanced gradients
follow the regular grid; sloped ones, which see a strain in every rotation, are stiffer. Half the cells on a regular
grid (`regular-half`) show what the grid alone does.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from glug.scene import load
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

USUAL = 64  # cells along the domain: the beam is 14 thick and has cells of three sizes
FRAMES = 16  # until the tip has fallen two thirds of its height
SOLVERS = {
    "regular": {"solver.viscosity": "multigrid"},
    "enhanced": {"solver.viscosity": "octree"},
    "sloped": {"solver.viscosity": "octree", "solver.octree.gradients": "sloped"},
}
TIP = 0.22 * 5 / 6  # [m]


def fall(n: int, overrides: Mapping[str, object], frames: int = FRAMES) -> np.ndarray:
    """How far the tip has fallen after every frame [m]."""
    scene = load("viscous-beam", {"domain.resolution": n, "time.frames": frames, **overrides})
    simulation = Simulation(scene)
    p = simulation.state.particles
    tip = np.sort(p.id[p.position[:, 0] > TIP, 0])
    heights = []
    for _ in simulation.run():
        p = simulation.state.particles
        heights.append(float(p.position[np.isin(p.id[:, 0], tip), 1].mean(dtype=np.float64)))
    return heights[0] - np.array(heights[1:])


def study(options: StudyOptions) -> list[StudyRow]:
    n = options.largest_grid or USUAL
    falls = {name: fall(n, overrides) for name, overrides in SOLVERS.items()}
    falls["regular-half"] = fall(n // 2, SOLVERS["regular"])
    regular = falls["regular"]
    rows = []
    for name, curve in falls.items():
        grid = n // 2 if name == "regular-half" else n
        for quarter in (1, 2, 3, 4):
            frame = FRAMES * quarter // 4
            rows.append(StudyRow("octree-beam", name, grid, f"fall_{frame}", "value", curve[frame - 1]))
        for quantity, fallen in (("difference", regular[-1]), ("difference_then", regular)):
            off = (curve - regular) / fallen
            worst = float(off[np.abs(off).argmax()])
            rows.append(StudyRow("octree-beam", name, grid, quantity, "value", worst))
    return rows
