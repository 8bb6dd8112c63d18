"""Masses and stress weights of a viscous problem, and the rule for faces with stress but (almost) no mass.

A face is loose when it is not solid and has less than `kernels.LOOSE` of liquid. Cells both of whose faces along an
axis are loose are dropped, and so are shear samples with a loose face (Batty 2010, section 4.7, drops samples next to
faces without liquid; the full-stress scheme is as accurate with that rule). In 3D a shear sample is dropped as well
when two or more of its four faces hang from it alone and one of the four is less than half full: they would give way
together, so it bears no stress, and it would couple them stiffly. This is done in two passes, as the first leaves more
faces hanging. The faces of cells that are left are unknowns with a mass of at least LEAST_MASS. The other such
rules are the floor at solids that slip (`ViscosityProblem.slip_along`) and that of `StokesProblem.build`.
"""

from dataclasses import dataclass

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.geometry.solids.slip import SlipWalls
from glug.grids.regular import CENTRE, EDGES, FACES, Grid, Staggered
from glug.physics.viscosity import kernels
from glug.physics.viscosity.levels import SolidFaces

LEAST_MASS = 1e-3
JUMP = 10.0  # ratio of neighbouring viscosities above which boxes smooth

Diffusion = np.ndarray | float  # mu dt / (rho dx^2): a number or a field over the cells


@dataclass(frozen=True)
class StressWeights:
    """K V of every stress sample (dimensionless)."""

    cell: np.ndarray
    edges: Staggered


def stress_weights(grid: Grid, phi: np.ndarray, diffusion: Diffusion) -> StressWeights:
    """Liquid fractions of cells and edges times the diffusion: twice at cells, the mean of four cells at edges."""
    cell = liquid_volume(phi, grid, CENTRE)
    edges = [liquid_volume(phi, grid, o) for o in EDGES]
    if isinstance(diffusion, np.ndarray):
        padded = np.pad(diffusion, 1, mode="edge")
        for a in range(3):
            total = np.zeros(edges[a].shape, np.float32)
            b, c = (a + 1) % 3, (a + 2) % 3
            for p in (0, 1):
                for q in (0, 1):
                    take = [slice(1, -1)] * 3
                    take[b] = slice(p, p + edges[a].shape[b])
                    take[c] = slice(q, q + edges[a].shape[c])
                    total += padded[tuple(take)]
            edges[a] *= np.float32(0.25) * total
        cell *= np.float32(2.0) * diffusion
    else:
        cell *= np.float32(2.0 * diffusion)
        for e in edges:
            e *= np.float32(diffusion)
    if grid.dim == 2:
        edges[0][:] = 0.0
        edges[1][:] = 0.0
    return StressWeights(cell, (edges[0], edges[1], edges[2]))


def cut_at_slip_walls(grid: Grid, weights: StressWeights, slip: SlipWalls) -> None:
    """No liquid behind slip walls and no shear across them, and no liquid in solids that slip, in place.

    A shear that acts across a wall passes through cell borders: all of it in front of the wall, none on or
    behind it. Other stresses have the share of their volume in front of the wall.
    """
    for b in range(3):
        weights.cell[:] *= along(b, slip.cells[b])
    for e, field_ in enumerate(weights.edges):
        for b in range(3):
            field_ *= along(b, slip.cells[b] if b == e else slip.nodes[b])
    if slip.sliding is not None:
        for field_, offset in zip((weights.cell, *weights.edges), (CENTRE, *EDGES)):
            field_ *= slip.open_volume(grid, offset)


def side_friction(grid: Grid, phi: np.ndarray, diffusion: Diffusion, rubbing: tuple[np.ndarray, ...]) -> Staggered:
    """Friction of the sides of the domain on faces along them, over the mass of a full face."""
    friction = grid.staggered()
    for a in grid.axes:
        for b in grid.axes:
            if b != a:
                friction[a][:] += along(b, rubbing[b])
        if friction[a].any():
            friction[a][:] *= liquid_volume(phi, grid, FACES[a])
            inner = np.moveaxis(friction[a], a, 0)[1:-1]
            field = np.moveaxis(np.broadcast_to(np.float32(diffusion), grid.shape), a, 0)
            inner *= np.float32(0.5) * (field[:-1] + field[1:])
    return friction


def strained(axis: int, weights: StressWeights) -> np.ndarray:
    """The faces of `axis` on which a stress acts."""
    shape = tuple(n + (b == axis) for b, n in enumerate(weights.cell.shape))
    found = np.zeros(shape, np.bool_)
    cell, near = np.moveaxis(weights.cell > 0, axis, 0), np.moveaxis(found, axis, 0)
    near[:-1] |= cell
    near[1:] |= cell
    for b in range(3):
        if b != axis:
            edge = np.moveaxis(weights.edges[3 - axis - b] > 0, b, 0)
            near = np.moveaxis(found, b, 0)
            near |= edge[:-1] | edge[1:]
    return found


def loosen(weights: StressWeights, freed: np.ndarray, solid_faces: SolidFaces) -> None:
    """No stress in freed cells and none between them and solids, in place."""
    weights.cell[freed > 0] = 0.0
    for a, e in enumerate(weights.edges):
        kernels.loosen_edges(a, freed, solid_faces[(a + 1) % 3], solid_faces[(a + 2) % 3], e)


def drop_hanging(weights: StressWeights, mass: Staggered) -> None:
    """No shear from which two or more faces hang, in place."""
    marks = [np.zeros(e.shape, np.uint8) for e in weights.edges]
    for a, marked in enumerate(marks):
        kernels.mark_hanging(a, weights.cell, weights.edges, mass[(a + 1) % 3], mass[(a + 2) % 3], marked)
    for marked, e in zip(marks, weights.edges):
        kernels.clear_marked(marked, e)


def along(axis: int, values: np.ndarray) -> np.ndarray:
    """A vector along `axis`, ready to multiply fields."""
    return np.expand_dims(values, [b for b in range(3) if b != axis])


def face_mass(grid: Grid, phi: np.ndarray, solid_faces: SolidFaces, slip: SlipWalls | None) -> Staggered:
    """Liquid fraction of the faces that are not solid."""
    masses = []
    for a, offset in enumerate(FACES):
        m = liquid_volume(phi, grid, offset)
        if slip is not None:
            for b in range(3):
                if b != a:
                    m *= along(b, slip.cells[b])
        m[solid_faces[a] > 0] = 0.0
        empty_border(grid, a, m)
        masses.append(m)
    if grid.dim == 2:
        masses[2][:] = 0.0
    return masses[0], masses[1], masses[2]


def empty_border(grid: Grid, axis: int, m: np.ndarray) -> None:
    """The border of the window is never liquid: no mass on its faces of `axis`, in place."""
    for b in grid.axes:
        ends = np.moveaxis(m, b, 0)
        ends[0] = 0.0
        ends[-1] = 0.0
        if axis == b:
            ends[-2] = 0.0


def choose_unknowns(mass: Staggered, cell: np.ndarray, solid_faces: SolidFaces) -> None:
    """At least LEAST_MASS at the faces of cells with stress; zero at others with less."""
    for a, m in enumerate(mass):
        kernels.choose_unknowns(a, cell, solid_faces[a], np.float32(LEAST_MASS), m)


def middle_of_jumps(diffusion: Diffusion, phi: np.ndarray) -> float | None:
    """The geometric mean of a typical pair of neighbours that differ by more than a factor of `JUMP`; None without any.

    A side without viscosity counts inside the liquid only: away from it there is none anyway. Infinite where all pairs
    have such a side: no part can be told from them to be stiff.
    """
    if not isinstance(diffusion, np.ndarray):
        return None
    found, to_nothing = [], False
    for axis in range(3):
        along, depth = np.moveaxis(diffusion, axis, 0), np.moveaxis(phi, axis, 0)
        low, high = np.minimum(along[1:], along[:-1]), np.maximum(along[1:], along[:-1])
        at = high > JUMP * low
        to_nothing |= bool((at & (low == 0) & (depth[1:] < 0) & (depth[:-1] < 0)).any())
        at &= low > 0
        found.append(np.sqrt(low[at].astype(np.float64) * high[at]))
    every = np.concatenate(found)
    if len(every):
        return float(np.median(every))
    return np.inf if to_nothing else None
