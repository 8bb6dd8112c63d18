"""`glug validate octree-pressure`: projections on octrees by three schemes (`grids.octree.flux`), in 2D and 3D.

In a closed box, u* = vortex + grad p is projected: errors of p and u and, as whole trees are refined, their orders.
`kept` is what a projection changes of a velocity without divergence, `rest` the largest velocity that a constant
acceleration in some direction leaves of its own, and `energy` the largest growth of u' M u among a thousand random
fields, less one (shared alone: the others have no such M). Trees are graded towards a band (`band`), or around random
cells (`random`); with fixed levels the errors follow the coarsest leaf, so all leaves are halved from row to row. The
rows `fast` are the kernels of 3D scenes on the same trees, in float32, to 1e-6: halved twice more, they show how far
orders from 16 to 32 cells are from those of fine trees.
"""

from __future__ import annotations

import math

import numpy as np

from glug.grids.mesh import face_velocities
from glug.grids.octree.flux import SCHEMES, OctreeFlux
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.operators import OctreeOperators
from glug.grids.octree.tree import Octree
from glug.physics.pressure.octree.problem import OctreePressure
from glug.solvers.limits import SolveLimits
from glug.studies.problems.linear_octree import linear
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

NAME = "octree-pressure"
GRIDS = {2: (16, 32, 64, 128), 3: (8, 16, 32)}
LEVELS = {2: 3, 3: 2}
FAST_GRIDS = (8, 16, 32, 64, 128)  # of the same trees in 3D
FIELDS = 1000
Norms = dict[tuple[str, str], float]  # by quantity and norm


def coarse_marks(kind: str, n: int, dim: int) -> np.ndarray:
    """The finest cells of the coarsest tree."""
    finest = np.zeros((n, n, n if dim == 3 else 1), bool)
    if kind == "band":
        finest[:, n * 5 // 8] = True
    else:
        finest[tuple(np.random.default_rng(1).integers(0, m, 3) for m in finest.shape)] = True
    return finest


def halved(tree: Octree, times: int) -> Octree:
    """The tree with every leaf cut in halves along all axes, `times` times."""
    block = (1 << times, 1 << times, 1 << (times * tree.deep))
    return Octree(np.kron(tree.level, np.ones(block, np.uint8)), tree.levels, tree.dim)


def pressure(x: np.ndarray) -> np.ndarray:
    return np.cos(math.pi * x).prod(axis=1)


def gradient(x: np.ndarray) -> np.ndarray:
    parts = [np.cos(math.pi * np.delete(x, a, axis=1)).prod(axis=1) for a in range(x.shape[1])]
    return -math.pi * np.sin(math.pi * x) * np.stack(parts, axis=1)


def vortex(x: np.ndarray) -> np.ndarray:
    """Without divergence, and along the walls of the box."""
    v = np.zeros_like(x)
    v[:, 0] = np.sin(math.pi * x[:, 0]) * np.cos(math.pi * x[:, 1])
    v[:, 1] = -np.cos(math.pi * x[:, 0]) * np.sin(math.pi * x[:, 1])
    return v


def pull(x: np.ndarray) -> np.ndarray:
    """A constant acceleration of 1, along no axis."""
    g = np.arange(1.0, x.shape[1] + 1.0)
    return np.broadcast_to(g / np.linalg.norm(g), x.shape)


def errors(mesh: OctreeOperators, scheme: str) -> Norms:
    """What one scheme makes of the fields on one tree."""
    flux = OctreeFlux(mesh, scheme)
    u, volume = face_velocities(mesh, vortex), mesh.face_volume / mesh.face_volume.sum()
    found, p = flux.project(u + face_velocities(mesh, gradient))
    exact = pressure(mesh.cell_position)
    exact -= (exact * mesh.cell_volume).sum() / mesh.cell_volume.sum()
    kept, _ = flux.project(u)
    rest, _ = flux.project(face_velocities(mesh, pull))
    norms: Norms = {}
    for name, error, weight in (
        ("p", p - exact, mesh.cell_volume / mesh.cell_volume.sum()),
        ("u", found - u, volume),
        ("kept", kept - u, volume),
    ):
        norms[name, "Linf"], norms[name, "L1"] = float(np.abs(error).max()), float((np.abs(error) * weight).sum())
    norms["rest", "value"] = float(np.abs(rest).max())
    return norms


def energy_growth(mesh: OctreeOperators, fields: int = FIELDS) -> float:
    """max u' M u after over before a projection of random fields, less one."""
    flux = OctreeFlux(mesh)
    mass = flux.mass
    rng = np.random.default_rng(0)
    worst = -1.0
    for _ in range(fields):
        u = rng.standard_normal(mesh.faces.count)
        after, _ = flux.project(u)
        worst = max(worst, float(after @ (mass @ after)) / float(u @ (mass @ u)) - 1.0)
    return worst


def fast_errors(tree: Octree) -> Norms:
    """The same by the kernels, in a unit box: errors of p and u, and rest."""
    n = tree.shape[0]
    faces = TreeFaces.of(linear(tree))
    problem, limits = OctreePressure.build(faces, np.full(len(faces.tree), -1.0)), SolveLimits(1e-6, 100)
    exact = faces.sampled(lambda points: vortex(points / n))
    u = exact + faces.sampled(lambda points: gradient(points / n))
    q, _ = problem.project(u, limits)
    weight, volume = (np.ldexp(1.0, 3 * level.astype(np.int32)) for level in (faces.level, faces.tree.level))
    off = q / n - pressure(faces.tree.centre / n)
    off = np.abs(off - (off * volume).sum() / volume.sum())
    rest = faces.sampled(pull)
    problem.project(rest, limits)
    error = np.abs(u.astype(np.float64) - exact)
    return {
        ("p", "Linf"): float(off.max()),
        ("p", "L1"): float((off * volume).sum() / volume.sum()),
        ("u", "Linf"): float(error.max()),
        ("u", "L1"): float((error * weight).sum() / weight.sum()),
        ("rest", "value"): float(np.abs(rest).max()),
    }


def _rows(table: str, n: int, now: Norms, before: Norms | None) -> list[StudyRow]:
    rows = []
    for (quantity, norm), value in now.items():
        order = math.log2(before[quantity, norm] / value) if before and norm != "value" else None
        rows.append(StudyRow(NAME, table, n, quantity, norm, value, order_ours=order))
    return rows


def study(options: StudyOptions) -> list[StudyRow]:
    rows: list[StudyRow] = []
    most = options.largest_grid or 128
    for dim, grids in GRIDS.items():
        for kind in ("band", "random"):
            base = Octree.refined(coarse_marks(kind, grids[0], dim), LEVELS[dim], dim)
            rows.append(
                StudyRow(
                    NAME, f"{kind}-{dim}d/shared", grids[0], "energy", "value", energy_growth(OctreeOperators(base))
                )
            )
            for scheme in SCHEMES:
                before = None
                for times, n in enumerate(n for n in grids if n <= most):
                    now = errors(OctreeOperators(halved(base, times), dx=1.0 / n), scheme)
                    rows += _rows(f"{kind}-{dim}d/{scheme}", n, now, before)
                    before = now
    for kind in ("band", "random"):
        base, before = Octree.refined(coarse_marks(kind, FAST_GRIDS[0], 3), LEVELS[3]), None
        for times, n in enumerate(n for n in FAST_GRIDS if n <= most):
            now = fast_errors(halved(base, times))
            rows += _rows(f"{kind}-3d/fast", n, now, before)
            before = now
    return rows
