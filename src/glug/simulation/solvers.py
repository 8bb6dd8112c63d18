"""Which solver a scene's words mean: the only place where names become solvers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from glug.errors import InputError
from glug.grids.regular import Grid, Staggered
from glug.physics.affine.projection import AffineRegions, TiledRegions
from glug.physics.affine.regions import Regions
from glug.physics.pressure.levels import PressureLevel
from glug.physics.pressure.solvers import SOLVERS, PressureSolver
from glug.physics.reference.scenes import (
    AssembledRegions,
    held_surface_viscosity,
    reference_pressure,
    reference_viscosity,
)
from glug.physics.viscosity.preconditioners import JACOBI
from glug.physics.viscosity.solvers import OctreeSolver, RegularSolver, ViscositySolver, ViscousFluid
from glug.scene.settings import BEYOND_A_MATRIX, PRESSURE_SOLVERS, PRESSURE_TAKES, VISCOSITY_SOLVERS, quoted
from glug.scene.settings import Solver as SolverSettings
from glug.simulation.setting import Setting
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats


def _reference(fluid: ViscousFluid, velocity: Staggered, limits: SolveLimits) -> SolveStats:
    return reference_viscosity(fluid.problem(), velocity)


def _laplacian(fluid: ViscousFluid, velocity: Staggered, limits: SolveLimits) -> SolveStats:
    return reference_viscosity(fluid.problem(), velocity, laplacian=True)


def _laplacian_dirichlet(fluid: ViscousFluid, velocity: Staggered, limits: SolveLimits) -> SolveStats:
    full = replace(fluid, phi=np.full_like(fluid.phi, -np.float32(fluid.grid.dx)))
    return held_surface_viscosity(full.problem(), velocity, fluid.phi)


def _octree(settings: SolverSettings) -> OctreeSolver:
    tree = settings.octree
    always = settings.viscosity == "octree"
    return OctreeSolver(tree.levels, tree.band, tree.bend, tree.gradients == "enhanced", always)


_pressure: dict[str, PressureSolver] = {**SOLVERS, "reference": reference_pressure}
_viscosity: dict[str, Callable[[SolverSettings], ViscositySolver]] = {
    "auto": _octree,
    "octree": _octree,
    "multigrid": lambda settings: RegularSolver(),
    "jacobi-cg": lambda settings: RegularSolver(JACOBI),
    "laplacian": lambda settings: _laplacian,
    "laplacian-dirichlet": lambda settings: _laplacian_dirichlet,
    "reference": lambda settings: _reference,
}
ASSEMBLED = ("reference", "laplacian", "laplacian-dirichlet")  # in any dimension; other names are of 3D solvers


def pressure_solver(setting: Setting) -> PressureSolver:
    """The scene's, or in 2D the reference unless it is one that was registered."""
    name = setting.scene.solver.pressure
    return reference_pressure if setting.reference and name in SOLVERS else _pressure[name]


def viscosity_solver(setting: Setting) -> ViscositySolver:
    """The same for viscosity."""
    settings = setting.scene.solver
    built_in = settings.viscosity in VISCOSITY_SOLVERS.built_in and settings.viscosity not in ASSEMBLED
    return _reference if setting.reference and built_in else _viscosity[settings.viscosity](settings)


def affine_regions(setting: Setting) -> Callable[[Grid, PressureLevel, Regions], AffineRegions]:
    """What makes the affine regions that the scene's pressure solver takes."""
    return AssembledRegions if setting.reference or pressure_solver(setting) is reference_pressure else TiledRegions


def register_pressure_solver(name: str, solver: PressureSolver, takes: Collection[str] = ()) -> None:
    """Let scenes say `solver.pressure = name`; see `glug.physics.pressure.solvers`.

    `takes` says what it solves besides the matrix: "tiles", "affine air", "separating walls". Scenes that have another
    are refused.
    """
    for feature in takes:
        if feature not in BEYOND_A_MATRIX:
            raise InputError(f"no solver takes '{feature}'; valid: {quoted(BEYOND_A_MATRIX)}")

    def keep() -> None:
        _pressure[name] = solver
        PRESSURE_TAKES[name] = tuple(takes)

    _register(name, PRESSURE_SOLVERS.register, keep)


def register_viscosity_solver(name: str, solver: ViscositySolver) -> None:
    """Let scenes say `solver.viscosity = name`; see `glug.physics.viscosity.solvers`."""
    _register(name, VISCOSITY_SOLVERS.register, lambda: _viscosity.update({name: lambda settings: solver}))


def _register(name: str, allow: Callable[[str], bool], keep: Callable[[], None]) -> None:
    if not allow(name):
        raise InputError(f"'{name}' is one of glug's own solvers: give yours another name")
    keep()
