"""The Stokes step of scenes, assembled: the same weights as the matrix-free one, factorised in float64."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from scipy import sparse

from glug.grids.regular import Staggered
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.strain_rows import strain_rows
from glug.solvers.assembled.krylov import solve_general
from glug.solvers.cg import Vector
from glug.solvers.stats import SolveStats


def assemble_stokes(problem: StokesProblem) -> tuple[sparse.csr_matrix, sparse.csr_matrix, np.ndarray, np.ndarray]:
    """A and B over the unknown faces and cells, and which these are among all (flat, faces axis by axis)."""
    viscous = problem.viscous
    solid = replace(viscous.solid, velocity=viscous.known_walls)
    rows = strain_rows(problem.grid, solid, viscous.solid_faces, viscous.weights, every=True)
    A, diagonal = rows.assemble(viscous.held_mass, viscous.added())
    faces = np.flatnonzero(_flat(diagonal))
    cells = np.flatnonzero(problem.level.schur.liquid)
    return A.tocsr(), flux_matrix(problem.level.flux)[cells][:, faces].tocsr(), faces, cells


def stress_form(problem: StokesProblem, velocity: Staggered) -> tuple[sparse.csr_matrix, np.ndarray]:
    """The same step for stresses and pressures, without the velocity (Batty 2010, eq. 4.41): matrix, right-hand side.

    With rows R = [E; B] it is C + R M^-1 R', C = 1 / (K V) for stresses and 0 for pressures: positive, or nearly so.
    """
    viscous = problem.viscous
    solid = replace(viscous.solid, velocity=viscous.known_walls)
    rows = strain_rows(problem.grid, solid, viscous.solid_faces, viscous.weights, every=True)
    _, B, faces, cells = assemble_stokes(problem)
    R = sparse.vstack([rows.matrix()[:, faces], B]).tocsr()
    mass, u = (_flat(field)[faces] for field in (viscous.mass, velocity))
    compliance = np.concatenate([1.0 / rows.stiffness, np.zeros(len(cells))])
    b, _ = problem.right_hand_side(velocity)
    known = np.concatenate([rows.known, -_flat(b[3:])[cells]])
    used = np.diff(R.indptr) > 0
    R = R[used]
    return (sparse.diags(compliance[used]) + R @ sparse.diags(1.0 / mass) @ R.T).tocsr(), R @ u + known[used]


def _flat(fields: Vector) -> np.ndarray:
    """All samples end to end, float64."""
    return np.concatenate([f.ravel() for f in fields]).astype(np.float64)


def flux_matrix(flux: Staggered) -> sparse.csr_matrix:
    """B over all cells and faces: the flux at the lower faces less that at the upper ones."""
    shape = flux[0].shape[0] - 1, flux[0].shape[1], flux[0].shape[2]
    cell = np.arange(np.prod(shape)).reshape(shape)
    rows, columns, values, begin = [], [], [], 0
    for a, f in enumerate(flux):
        face = begin + np.arange(f.size).reshape(f.shape)
        for side, sign in ((slice(None, -1), 1.0), (slice(1, None), -1.0)):
            take = tuple(side if b == a else slice(None) for b in range(3))
            rows.append(cell.ravel())
            columns.append(face[take].ravel())
            values.append(sign * f[take].ravel().astype(np.float64))
        begin += f.size
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_matrix(entries, shape=(cell.size, begin))


def reference_stokes(
    problem: StokesProblem, velocity: Staggered, target: np.ndarray | None = None
) -> tuple[np.ndarray, SolveStats]:
    """What `StokesProblem.solve` does, directly; the pressure of closed parts is zero in one of their cells."""
    begin = time.perf_counter()
    A, B, faces, cells = assemble_stokes(problem)
    b, _ = problem.right_hand_side(velocity, target)
    b = tuple(f.astype(np.float64) for f in b)
    given = [term.given(b, velocity) for term in problem.eliminated.terms]
    problem.eliminated.prepare(b, given)
    right = np.concatenate([_flat(b[:3])[faces], _flat(b[3:])[cells]])
    keep = np.ones(len(right), np.bool_)
    if problem.closed is not None:
        part = problem.closed.ravel()[cells]
        _, first = np.unique(part, return_index=True)
        keep[len(faces) + first[part[first] >= 0]] = False
    matrix, low = sparse.bmat([[A, B.T], [B, None]], format="csr"), problem.eliminated.low_rank
    if low is not None:
        matrix = (matrix + low.assemble(problem.level.mask)).tocsr()
    found = np.zeros(len(right))
    found[keep], stats = solve_general(matrix[keep][:, keep], right[keep])
    every = np.zeros(sum(u.size for u in velocity))
    every[faces] = found[: len(faces)]
    parts = np.split(every, np.cumsum([u.size for u in velocity])[:-1])
    x = tuple(p.reshape(u.shape) for p, u in zip(parts, velocity))
    multiplier = np.zeros(problem.cells.shape)
    multiplier.ravel()[cells] = found[len(faces) :]
    problem.eliminated.finish((*x, multiplier), (*x, multiplier), given)
    problem.viscous.write(velocity, x, problem.level.mask[:3])
    return problem.pressure(multiplier), replace(stats, solver="stokes", seconds=time.perf_counter() - begin)
