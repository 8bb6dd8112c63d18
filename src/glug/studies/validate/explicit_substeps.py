"""Steps that explicit and mixed viscosity need where the implicit one takes a single step (Batty 2010, section 3.7).

A free disc of liquid, of whole cells, half as wide as the grid. The explicit step takes all stresses from the old
velocity. The mixed one takes the Laplacian of each component from the new velocity and the transposed gradient, which
couples the components, from the old one (Rasmussen et al. 2004). The surface has no tangential stress, as the source
has it after Nichols and Hirt, in either part. A step is stable when no mode grows: the spectral radius, from the
whole matrix, is at most 1. `diffusion_limit` is the largest mu dt / (rho dx^2) that is stable.

The source needed about 28 explicit steps and about 14 mixed ones where one implicit step did. It gives no viscosity,
no step and no grid, so 28 itself cannot be derived: our limit is 1/8, so 28 steps mean a diffusion number D of the
whole step with 3.375 < D <= 3.5. We take 3.5 (`DIFFUSION`). Ours, then, are the ratios. The mixed step as a whole is
stable at any length: sample by sample its explicit part is bounded by its implicit part. On its own the explicit part
overshoots (rows `mixed, explicit part`: it throws some mode back by more than its size) from twice the length on at
which the explicit step does, because its largest eigenvalue is half as large. That makes 14 steps of 28, the published
ratio: the published 14 would be what the explicit part needs by itself. The source does not say so, nor why its mixed
scheme gained no more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glug.grids.mesh import Fractions
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid, Offset
from glug.physics.reference.viscosity import SteppedViscosity
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables.published import grids

COARSEST, LARGEST = 12, 48  # cells along a side of the plane; the disc has half of that
DIFFUSION = 3.5  # mu dt / (rho dx^2) of the whole step
ROUNDING = 1e-9  # of the spectral radius above 1 that is rounding
PART = "mixed, explicit part"  # no scheme of its own: of it counts what it throws back, not what grows
MOST = 200  # steps that are tried
Growth = Callable[[float], float]  # of a step with this diffusion number; more than 1 is too long


def disc(n: int) -> SteppedViscosity:
    """The disc as whole cells, in units of dx: stresses inside have the weight 1."""
    operators = Operators(Grid(1.0, (n, n, 1), origin=(-n / 2, -n / 2, 0.0), dim=2))

    def inside(offset: Offset) -> np.ndarray:
        return np.linalg.norm(operators.points(offset), axis=1) < n / 4

    edges = np.concatenate([inside(o) for o in operators.edges])
    return SteppedViscosity(operators, Fractions(inside(CENTRE), np.ones(len(operators.face_volume)), edges), 1.0)


def schemes(n: int) -> dict[str, tuple[Growth, float | None]]:
    """Growth by scheme, and the steps that the source needed; 28 explicit ones by the choice of `DIFFUSION`."""
    stepped = disc(n)
    return {
        "explicit": (lambda dt: stepped.explicit(dt).growth(), None),
        PART: (lambda dt: stepped.transposed(dt).overshoot(), None),
        "mixed": (lambda dt: stepped.mixed(dt).growth(), 14.0),
        "implicit": (lambda dt: stepped.implicit(dt).growth(), 1.0),
    }


def substeps(growth: Growth, diffusion: float = DIFFUSION) -> int:
    """The least number of equal steps in which nothing grows."""
    return next((n for n in range(1, MOST + 1) if growth(diffusion / n) <= 1.0 + ROUNDING), MOST + 1)


def limit(growth: Growth) -> float:
    """The largest diffusion number that is stable, to 1e-5; infinite where a million is."""
    if growth(1e6) <= 1.0 + ROUNDING:
        return np.inf
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if growth(middle) <= 1.0 + ROUNDING else (low, middle)
    return low


def study(options: StudyOptions) -> list[StudyRow]:
    """Steps of every scheme, the limit where there is one, and what the whole step does at once."""
    rows = []
    for n in grids(options.largest_grid, COARSEST, LARGEST, LARGEST):
        for name, (growth, published) in schemes(n).items():
            found = float(substeps(growth))
            ratio = None if published is None else found / published
            rows.append(StudyRow(options.name, name, n, "substeps", "value", found, published, ratio))
            once = "overshoot_in_one_step" if name == PART else "growth_in_one_step"
            rows.append(StudyRow(options.name, name, n, once, "value", growth(DIFFUSION)))
            if np.isfinite(largest := limit(growth)):
                rows.append(StudyRow(options.name, name, n, "diffusion_limit", "value", largest))
    return sorted(rows, key=lambda row: (row.quantity, row.table, row.grid))
