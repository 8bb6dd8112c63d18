"""The momentum of drops that touch nothing: semi-Lagrangian steps lose some of it, and it is given back.

A part of the surface encloses liquid whose centre moves at

    V = 1/volume sum over elements of integral x (v . n) dA

if the velocity is free of divergence. That is what it was a step ago, and what gravity added; a difference is made up
for by a constant velocity, which changes no pressure.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from glug.geometry.embedded.cells import EmbeddedCells
from glug.geometry.tracking.surface import TrackedSurface


def velocities_of_parts(surface: TrackedSurface, velocity: np.ndarray) -> np.ndarray:
    """Of the centres of what the parts of a surface enclose (k, dim) [m/s], from those of its vertices (n, dim)."""
    count, part, dim = len(surface.target), surface.part, surface.vertices.shape[1]
    volume = surface.measure(part, count)[0]
    members = np.maximum(np.bincount(part, minlength=count), 1)
    middle = np.stack([np.bincount(part, x, count) for x in surface.vertices.T], axis=1) / members[:, None]
    x, v = (surface.vertices - middle[part])[surface.triangles], velocity[surface.triangles]
    if dim == 2:
        way = x[:, 1] - x[:, 0]
        area = np.stack([way[:, 1], -way[:, 0]], axis=1)
    else:
        area = 0.5 * np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    flux = (v * area[:, None]).sum(axis=2)  # of every corner's velocity
    moment = (x * flux[:, :, None]).sum(axis=1) + x.sum(axis=1) * flux.sum(axis=1)[:, None]
    owner = part[surface.triangles[:, 0]]
    total = np.stack([np.bincount(owner, m, count) for m in moment.T], axis=1) / (dim * (dim + 1))
    return total / np.where(np.abs(volume) > 0.0, volume, 1.0)[:, None]


def given_back(
    surface: TrackedSurface, cells: EmbeddedCells, used: np.ndarray, opened: np.ndarray, missing: np.ndarray
) -> np.ndarray:
    """What faces gain (faces,) [m/s] where parts that touch no solid and have no cavities miss a velocity (k, dim)."""
    m, wet = cells.mesh, cells.wet
    a, b = m.beside
    both = wet[a] & wet[b] & used
    graph = sparse.coo_matrix((np.ones(int(both.sum()), np.int8), (a[both], b[both])), shape=(len(wet), len(wet)))
    count, component = connected_components(graph, directed=False)
    cell = np.where(wet[a], a, b)
    element = np.where(wet[a], cells.from_first.element, cells.from_second.element)
    crossed = np.flatnonzero(used & (wet[a] != wet[b]) & (element >= 0))
    part = np.full(count, -1)
    part[component[cell[crossed]]] = surface.part[surface.triangles[element[crossed], 0]]
    liquid = used | wet[cell]
    touching = np.bincount(component[cell], liquid & (opened < 1.0), count) > 0
    volume = surface.measure(surface.part, len(surface.target))[0]
    whole = np.isclose(surface.liquid(volume, surface.part), volume)
    missing = np.where((whole & (volume > 0.0))[:, None], missing, 0.0)
    own = np.where(((part >= 0) & ~touching)[:, None], missing[part], 0.0)
    return np.where(used, (own[component[cell]] * m.face_normal).sum(axis=1), 0.0)
