"""Which solver a scene's words mean: the only place where names become solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from glug.errors import InputError
from glug.grids.regular import Staggered
from glug.physics.pressure.solvers import SOLVERS, PressureSolver
from glug.physics.reference.scenes import held_surface_viscosity, reference_pressure, reference_viscosity
from glug.physics.viscosity.solvers import OctreeSolver, RegularSolver, ViscositySolver, ViscousFluid
from glug.scene.settings import PRESSURE_SOLVERS, VISCOSITY_SOLVERS
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
    "jacobi-cg": lambda settings: RegularSolver("jacobi-cg"),
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


def register_pressure_solver(name: str, solver: PressureSolver) -> None:
    """Let scenes say `solver.pressure = name`; see `glug.physics.pressure.solvers`."""
    _register(name, PRESSURE_SOLVERS.register, lambda: _pressure.update({name: solver}))


def register_viscosity_solver(name: str, solver: ViscositySolver) -> None:
    """Let scenes say `solver.viscosity = name`; see `glug.physics.viscosity.solvers`."""
    _register(name, VISCOSITY_SOLVERS.register, lambda: _viscosity.update({name: lambda settings: solver}))


def _register(name: str, allow: Callable[[str], bool], keep: Callable[[], None]) -> None:
    if not allow(name):
        raise InputError(f"'{name}' is one of glug's own solvers: give yours another name")
    keep()
