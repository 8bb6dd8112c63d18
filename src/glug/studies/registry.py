"""The names of all studies and benches. A study's module is imported when it is run, not before."""

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from glug.errors import InputError
from glug.studies.rows import BenchRow, StudyRow


@dataclass(frozen=True)
class StudyOptions:
    """What the command line hands to a study; a study ignores what it has no use for."""

    name: str = ""  # of the study, where one module has several
    largest_grid: int | None = None  # leave out finer grids
    case: str | None = None  # one case by name, or "all", where a study has some; None is the usual ones
    run: Path | None = None  # the run folder to measure, for studies of a run
    pictures: Path | None = None  # where a study may put pictures of its own, NAME-*.png


@dataclass(frozen=True)
class BenchOptions:
    """What the command line hands to a bench."""

    threads: Sequence[int] = (1, 2)  # one process for each
    resolution: int | None = None  # cells along the longest side; None is the bench's own
    steps: int | None = None
    solver: str | None = None  # one solver by name; None is all
    case: str | None = None  # one case by name, or "all"; None is the usual ones
    plot: Path | None = None  # where a picture of the convergence goes
    say: Callable[[str], None] = field(default=print)  # progress and the report, line by line


@dataclass(frozen=True)
class Entry:
    """A study or bench by name; `module` has the function `study(options)` or `bench(options)`."""

    module: str
    summary: str
    needs_run: bool = False  # measures a run folder, given by --run


TABLES = "glug.studies.validate.tables.published"
FLOWS = "glug.studies.validate.classical_flows"
BODIES = "glug.studies.validate.rigid_bodies"
SURFACE = "glug.studies.validate.surface_conditions"
OCTREE = "glug.studies.validate.tables.octree"

STUDIES: Mapping[str, Entry] = {
    "pressure-free-surface": Entry(TABLES, "Batty 2010, Table 4.1: projection of a free disc of liquid"),
    "pressure-walls": Entry(TABLES, "Batty 2010, Table 4.2: projection in a circular container"),
    "viscosity-free-surface": Entry(TABLES, "Batty 2010, Table 4.3: viscosity of a free annulus"),
    "viscosity-walls": Entry(TABLES, "Batty 2010, Table 4.4: viscosity between circular walls"),
    "stokes-free-surface": Entry(TABLES, "Batty 2010, Table 4.5: Stokes flow in a free disc"),
    "stokes-walls": Entry(TABLES, "Batty 2010, Table 4.6: Stokes flow between circular walls"),
    "stokes-mixed": Entry(TABLES, "Batty 2010, Table 4.7: Stokes flow around a disc, inside a free surface"),
    "stokes-moving-walls": Entry(TABLES, "Batty 2010, Table 4.8: Stokes flow between walls, one of them spinning"),
    "stokes-3d": Entry(
        "glug.studies.validate.tables.stokes_3d", "Batty 2010, Table 4.9: Stokes flow of a ball around a ball, orders"
    ),
    "octree-2d": Entry(OCTREE, "Goldade 2021, Tables 5.1 and 5.2: viscosity on a quadtree"),
    "octree-3d-sloped": Entry(OCTREE, "Goldade 2021, Tables 5.3 and 5.5: octree viscosity with sloped gradients"),
    "octree-3d-enhanced": Entry(OCTREE, "Goldade 2021, Tables 5.4 and 5.6: octree viscosity with enhanced gradients"),
    "octree-pressure": Entry(
        "glug.studies.validate.octree_pressure",
        "projections on octrees by three schemes: orders, rest, energy, in 2D and 3D",
    ),
    "octree-beam": Entry("glug.studies.validate.octree_beam", "a beam sags: octrees against the regular grid"),
    "jet-2d": Entry(
        "glug.studies.validate.jet_2d", "a plane jet with the Stokes solver: folds when thick, not when thin"
    ),
    "explicit-substeps": Entry(
        "glug.studies.validate.explicit_substeps", "steps that explicit and mixed viscosity need, against one"
    ),
    "exactness": Entry(
        "glug.studies.validate.exactness", "rest, rigid motion, prescribed pressure: exact but for rounding"
    ),
    "rotated-vortex": Entry(
        "glug.studies.validate.tilted_boxes", "a vortex in a tilted box: volumes, areas and whole cells"
    ),
    "paddle": Entry(
        "glug.studies.validate.tilted_boxes", "gas stirred by a paddle at all angles: volumes, areas and whole cells"
    ),
    "taylor-couette": Entry(FLOWS, "oil between turning cylinders that cut cells, in 3D: velocity against the formula"),
    "slip": Entry(
        "glug.studies.validate.slip", "slip lengths: oil between turning cylinders, a block of honey on a slope"
    ),
    "taylor-green": Entry(FLOWS, "a vortex decays between slip walls, in 3D: velocity against the formula"),
    "pipe": Entry(FLOWS, "honey runs down a pipe with open ends, in 3D: velocity against the formula"),
    "conservation": Entry(
        "glug.studies.validate.conserved.conservation",
        "a standing wave, a ball that turns, two that collide: energy, momenta, voids",
    ),
    "surface-tension": Entry(
        "glug.studies.validate.tension.surface_tension",
        "drops at rest and ringing, a capillary wave, threads that break: surface tension beside the formulas",
    ),
    "lid-driven": Entry(
        "glug.studies.validate.lid_driven", "Ghia et al. 1982: a box under a sliding lid, Re 100 and 400, in 2D"
    ),
    "rotating-disc": Entry(SURFACE, "a thick disc turns freely: spin left with three conditions at the surface"),
    "beam-conditions": Entry(SURFACE, "a thick beam on a wall sags: tip with three conditions at the surface"),
    "ball-in-circle": Entry(
        "glug.studies.validate.air.affine_tiles",
        "Goldade 2021, Figure 4.11: liquid in affine tiles, and in one stiff region",
    ),
    "bubble-acceleration": Entry(
        "glug.studies.validate.air.bubble_acceleration",
        "Goldade 2021, section 4.2: a disc of any density sets off in a box",
    ),
    "added-mass": Entry(BODIES, "a cylinder set in motion in a cylinder of liquid: the mass it carries along"),
    "floating": Entry(BODIES, "boxes in water: draught against Archimedes, and rest at densities of 0.01 to 10"),
    "tight-channel": Entry(BODIES, "a heavy box in a tube with gaps of half a cell, and on whole cells"),
    "sinking-sphere": Entry(
        "glug.studies.validate.sinking_sphere",
        "a ball sinks in a cylinder of thick liquid: Stokes' speed and the wall's factor",
    ),
    "splash-tank": Entry(
        "glug.studies.validate.air.affine_tiles", "Goldade 2021, Figure 4.12: a splash in affine tiles, after a second"
    ),
    "sinking-bubble": Entry(
        "glug.studies.validate.air.sinking_bubble", "a heavy bubble sinks: affine against two phases"
    ),
    "rising-bubble": Entry(
        "glug.studies.validate.air.rising_bubble", "a bubble rises and breaks up: drift of its volumes"
    ),
    "surface-tracking": Entry(
        "glug.studies.validate.surfaces.tracking",
        "a tracked surface: Enright's deformation, Zalesak's ball, 1,000 random events, each checked exactly",
    ),
    "honey-bubble": Entry(
        "glug.studies.validate.air.honey_bubble",
        "a bubble rises in a cylinder of thick liquid: Hadamard and Rybczynski's speed and the wall's factor",
    ),
    "water-cooler": Entry(
        "glug.studies.validate.air.water_cooler", "a bottle empties: minima of its outflow with bubbles and in a vacuum"
    ),
    "sheet-viscosity": Entry(
        "glug.studies.validate.sheet_viscosity", "a falling sheet, three viscosities: folds appear and grow"
    ),
    "tetrahedra": Entry(
        "glug.studies.validate.unstructured.tetrahedra",
        "Batty 2010, chapter 5: pressure on triangles and tetrahedra: rest, orders, slip, a standing wave",
    ),
    "voronoi": Entry(
        "glug.studies.validate.unstructured.voronoi",
        "Brochu et al. 2010: Voronoi cells around a tracked surface: rest, orders, drops, thin sheets and gaps",
    ),
    "sloshing-tetrahedra": Entry(
        "glug.studies.validate.unstructured.sloshing",
        "water swings in a tank, on triangles of every kind and on the regular grid: period, energy, surface",
    ),
    "coiling": Entry(
        "glug.studies.validate.coiling", "sideways swings of a poured jet, measured in a run folder", needs_run=True
    ),
}

BENCHES: Mapping[str, Entry] = {
    "bodies": Entry(
        "glug.studies.bench.solves.bodies", "projection of a tank with 100 rigid bodies, known and coupled"
    ),
    "bubbles": Entry("glug.studies.bench.solves.bubbles", "projections with bubbles, two phases and a free surface"),
    "export": Entry(
        "glug.studies.bench.export", "100 frames of 100 thousand triangles in every format: seconds, memory"
    ),
    "memory": Entry(
        "glug.studies.bench.memory", "whole runs: peak memory beside the budget and what glug check predicts"
    ),
    "octree-pressure": Entry(
        "glug.studies.bench.solves.octree_pressure",
        "projection of a deep pool on a sparse octree: iterations, core-microseconds and bytes per leaf",
    ),
    "octree-scenes": Entry(
        "glug.studies.bench.octree_scenes",
        "thick liquids on octrees: seconds per stage of a step, beside Goldade 2021, Table 5.8",
    ),
    "octree-step": Entry(
        "glug.studies.bench.octree_step",
        "whole steps on an octree beside the regular grid, and in a domain of 4096^3 cells: seconds and bytes",
    ),
    "octree-tree": Entry(
        "glug.studies.bench.octree_tree", "the sparse linear octree: seconds and bytes per leaf, neighbours by pointers"
    ),
    "octree-viscosity": Entry(
        "glug.studies.bench.solves.octree_viscosity",
        "a viscous solve of several scenes on the regular grid and on octrees",
    ),
    "render": Entry(
        "glug.studies.bench.render", "one 640x480 picture of the honey coil: seconds and memory by renderer"
    ),
    "pressure-solve": Entry("glug.studies.bench.solves.pressure", "projection of a splash by every solver"),
    "separation": Entry(
        "glug.studies.bench.solves.separation", "projection between walls that let go, beside ordinary ones"
    ),
    "solids": Entry("glug.studies.bench.solids", "a still cup and a moving spoon: what solids take of a step"),
    "start": Entry(
        "glug.studies.bench.start", "honey-coil: seconds to the first pictures with kernels cold, kept and carried"
    ),
    "step": Entry("glug.studies.bench.step", "dam-break: seconds per stage, scaling with threads, memory"),
    "stokes-solve": Entry(
        "glug.studies.bench.solves.stokes",
        "pressure and viscosity in one solve, beside three and assembled ones",
    ),
    "surface-tracking": Entry(
        "glug.studies.bench.surface_tracking", "a step of a tracked surface: microseconds per triangle by stage"
    ),
    "tetrahedra": Entry(
        "glug.studies.bench.solves.tetrahedra",
        "pressure on tetrahedra: meshing, weights, solve, reconstruction, a step",
    ),
    "voronoi": Entry(
        "glug.studies.bench.solves.voronoi",
        "liquids on Voronoi cells around a tracked surface: seconds per stage beside published ones",
    ),
    "tiles": Entry("glug.studies.bench.solves.tiles", "projection of a deep pool with affine tiles and without"),
    "view": Entry(
        "glug.studies.bench.view", "the browser viewer: first picture, scrubbing, memory, cost to a simulation"
    ),
    "viscous-scenes": Entry(
        "glug.studies.bench.viscous_scenes", "viscous scenes: seconds per viscosity solve and per step"
    ),
    "viscosity-solve": Entry("glug.studies.bench.solves.viscosity", "the published viscosity problem by every solver"),
    "viscosity-solve-2d": Entry(
        "glug.studies.bench.solves.viscosity_2d",
        "the published plane viscosity problem, assembled: iterations by smoother",
    ),
}


def run_study(name: str, options: StudyOptions) -> list[StudyRow]:
    """The rows of the study `name`."""
    entry = _find(name, STUDIES, "study")
    if entry.needs_run and options.run is None:
        raise InputError(f"study '{name}' measures a run: give its folder with --run DIR")
    return import_module(entry.module).study(replace(options, name=name))


def chosen_cases(study: str, asked: str | None, usual: Sequence[str], every: Collection[str]) -> tuple[str, ...]:
    """The cases of a study that `--case` asks for: the usual ones, all, or one by name."""
    if asked is None:
        return tuple(usual)
    if asked == "all":
        return tuple(every)
    if asked not in every:
        raise InputError(f"{study} has no case '{asked}': {_hint(asked, every)}")
    return (asked,)


def run_bench(name: str, options: BenchOptions) -> list[BenchRow]:
    """The rows of the bench `name`."""
    return import_module(_find(name, BENCHES, "bench").module).bench(options)


def _find(name: str, entries: Mapping[str, Entry], kind: str) -> Entry:
    if name in entries:
        return entries[name]
    raise InputError(f"no {kind} is called '{name}': {_hint(name, entries)}")


def _hint(name: str, names: Collection[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(names)}"
