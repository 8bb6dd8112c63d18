"""A surface without its shortest ripples: they go, shapes stay."""

import numpy as np
import pytest

from glug.grids.regular import CENTRE, Grid
from glug.grids.tetrahedra.field import values_at
from glug.grids.tetrahedra.lattice import Box
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.grids.tetrahedra.ripples import MOST, without_ripples
from glug.physics.covolume.projection import CovolumeProblem, EmbeddedGeometry, Incidence
from glug.solvers.limits import SolveLimits

DX = 0.1
X, Y, Z = np.meshgrid(*[DX * (np.arange(n) + 0.5) for n in (16, 14, 16)], indexing="ij")
INNER = (slice(2, -2),) * 3


def test_ripples_of_two_cells_go_and_long_waves_stay():
    sign = (-1.0) ** np.indices(X.shape).sum(axis=0)
    found = without_ripples((Y - 0.7 + 1e-3 * DX * sign).astype(np.float32), DX)
    assert np.abs(found - (Y - 0.7))[INNER].max() < 1e-4 * DX
    wave = (Y - 0.7 - 0.2 * DX * np.sin(2.0 * np.pi * X / (16 * DX))).astype(np.float32)
    assert np.abs(without_ripples(wave, DX) - wave)[INNER].max() < 0.002 * 0.2 * DX


@pytest.mark.parametrize("middle", [7.5, 7.75, 8.0])
def test_sheets_and_edges_stay(middle):
    """A sheet a cell thick, which a mean of neighbours would make a quarter thinner."""
    sheet = (np.abs(Y - middle * DX) - 0.5 * DX).astype(np.float32)
    for phi in (sheet, np.maximum(X - middle * DX, sheet)):
        assert np.abs(without_ripples(phi, DX) - phi).max() <= 0.2501 * MOST * DX


def pushed(smoothed: bool) -> float:
    """How fast faces move, over g dt, after a step of water at rest with ripples of two cells, higher at one side."""
    grid = Grid(DX, X.shape)
    ripple = 0.005 * X * DX * np.cos(np.pi * X / DX + 0.5 * np.pi) * np.cos(np.pi * Z / DX + 0.5 * np.pi)
    phi = (Y - 0.72 + ripple).astype(np.float32)
    phi = without_ripples(phi, DX) if smoothed else phi
    mesh = Tetrahedra.over(Box.covering(np.full(3, 0.15), np.array([1.45, 1.25, 1.45]), 2.0 * DX, 1))

    def distance(points: np.ndarray) -> np.ndarray:
        return values_at(phi, grid, CENTRE, points)

    points = mesh.simplices.points
    solid = np.minimum(points - 0.3, np.array([1.3, 1.3, 1.3]) - points).min(axis=1)
    geometry = EmbeddedGeometry(distance(mesh.cell_position), solid, None, True, distance)
    given = geometry.surface(mesh), geometry.open_parts(mesh), np.zeros(len(mesh.area)), geometry.ghosts(mesh)
    problem = CovolumeProblem.build(mesh, Incidence.of(mesh), *given)
    u = -mesh.face_normal[:, 1].copy()
    problem.project(u, SolveLimits(1e-10, 100), "direct")
    return float(np.abs(u[problem.link > 0.0]).max())


def test_tetrahedra_of_two_cells_are_not_pushed_by_what_they_cannot_level():
    without = pushed(smoothed=False)
    assert without > 2e-4  # the control
    assert pushed(smoothed=True) < 0.25 * without
