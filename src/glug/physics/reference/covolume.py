"""Pressure on meshes that conform to nothing: surfaces and solids where they are inside the cells, and the baselines.

Air changes only the gradient: on a face between liquid and air, p = 0 at the part theta of the way between the
pressures. Solids change only the divergence: a face lets through what of its area is open (Batty, Xenos and Houston
2010). The baselines take the surface to be at the faces (`standard`: ghost pressures are mirrored there), and cells to
be solid or not (`whole`).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from glug.grids.mesh import Distance
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.physics.covolume.projection import LEAST_OPEN, ON_SURFACE, mirrored_fractions
from glug.physics.reference.pressure import AreaPressure, ghost_distance

Surface = Literal["embedded", "standard", "none"]
Walls = Literal["embedded", "whole"]


def embedded_pressure(
    mesh: Tetrahedra,
    liquid: Distance | None = None,
    open_part: Distance | None = None,
    *,
    surface: Surface = "embedded",
    walls: Walls = "embedded",
    dt: float = 1.0,
) -> AreaPressure:
    """The projection of the liquid (everywhere, if None) in what is not solid (everything, if None).

    `surface` "none" has no ghost distances at all: p = 0 at the first pressures in the air.
    """
    area = open_areas(mesh, open_part, walls)
    phi = np.full(len(mesh.cell_volume), -1.0) if liquid is None else liquid(mesh.cell_position)
    inside = phi <= -ON_SURFACE * np.median(mesh.distance)
    wet = inside & (np.abs(mesh.D) @ area > 0)
    theta: np.ndarray | float = 1.0
    if surface == "embedded":
        theta = ghost_distance(mesh, phi, inside)
    elif surface == "standard":
        cut = wet[mesh.beside[0]] != wet[mesh.beside[1]]
        theta = np.where(cut, mirrored_fractions(mesh, wet), 1.0)
    return AreaPressure(mesh, area, wet, theta, dt=dt)


def open_areas(mesh: Tetrahedra, open_part: Distance | None, walls: Walls = "embedded") -> np.ndarray:
    """The part of every face that is open; with `whole` walls, all of it or nothing."""
    if open_part is None:
        return np.ones(len(mesh.area))
    if walls == "embedded":
        area = mesh.open_area(open_part)
        return np.where(area < LEAST_OPEN, 0.0, area)
    solid = open_part(mesh.cell_position) >= 0
    return np.where(solid[mesh.beside].any(axis=0), 0.0, 1.0)
