"""What does not go with meshes other than the regular grid, each with its reason."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from glug.scene.model import fail

if TYPE_CHECKING:
    from glug.scene.schema import Scene


MOST_CELLS = 1 << 21  # along an axis: what keys have bits for
THIN_LIQUID = 0.01  # mu / (rho dx^2 fps) below which `auto` leaves viscosity out: a boundary layer of cells/10
DEEPER = 2  # cells by which the band must be wider than what the surface crosses in a step


def check_mesh(scene: Scene) -> None:
    """An error that names the key if the scene asks for what its mesh does not have."""
    if scene.solver.mesh == "tetrahedra":
        check_tetrahedra(scene)
    elif scene.solver.mesh == "octree":
        check_octree(scene)
    elif scene.solver.mesh == "voronoi":
        check_voronoi(scene)


def check_tetrahedra(scene: Scene) -> None:
    """Refuse scenes whose pressure cannot be on tetrahedra."""
    solver, densities = (scene.solver, [liquid.density for liquid in scene.liquids.values()])
    separating = "separating" in [*scene.domain.walls.values(), *(solid.walls for solid in scene.solids)]
    refusals = {
        "solver.air": (solver.air != "vacuum", f"'{solver.air}' air has pressures, of which tetrahedra have none"),
        "solver.tiles": (bool(solver.tiles), "tiles are made of regular cells; tetrahedra have none"),
        "solver.coupling": (solver.coupling == "stokes", "'stokes' needs viscous stresses; tetrahedra have none"),
        "solver.viscosity": (
            solver.viscosity not in ("auto", "none"),
            f"'{solver.viscosity}' needs viscous stresses; tetrahedra have none; valid with them: 'auto', 'none'",
        ),
        "solver.pressure": (
            solver.pressure not in ("multigrid", "jacobi-cg", "reference"),
            f"'{solver.pressure}' is a solver of regular cells; valid with tetrahedra: 'multigrid', 'jacobi-cg', "
            "'reference'",
        ),
        "domain.walls": (separating, "walls of tetrahedra hold the liquid; none can be 'separating'"),
        "solids": (any(s.free for s in scene.solids), "bodies with a density need regular cells, not tetrahedra"),
        "liquids": (max(densities) > min(densities), "liquids on tetrahedra have one density"),
        "liquids.surface_tension": (_pulls(scene), "surface tension needs regular cells, not tetrahedra"),
        "solver.tetrahedra.advection": (
            solver.tetrahedra.advection == "semi-lagrangian"
            and (solver.transfer == "apic" or solver.flip_ratio > 0.0 or bool(scene.sources)),
            "'semi-lagrangian' needs solver.flip_ratio = 0, particles without velocities of their own, and no sources, "
            "whose velocities only particles bring",
        ),
        "solver.tetrahedra.grading": (
            solver.tetrahedra.grading == "camera" and scene.camera is None,
            "'camera' has cells grow with the distance to the camera, and the scene has no [camera]",
        ),
    }
    for key, (refused, reason) in refusals.items():
        if refused:
            raise fail(reason, key)


def is_viscous(scene: Scene, thickness: float) -> bool:
    """Whether viscosity is solved for at all, in a liquid with mu / (rho dx^2 fps) = `thickness`."""
    choice = scene.solver.viscosity
    return choice != "none" and thickness > (THIN_LIQUID if choice == "auto" else 0.0)


def _thickness(scene: Scene) -> float:
    """The largest mu / (rho dx^2 fps) of its liquids with one viscosity."""
    per_second = scene.domain.dx**2 * scene.time.fps
    found = [0.0]
    for liquid in scene.liquids.values():
        if liquid.viscosity.kind == "constant":
            found.append(liquid.viscosity.value / (liquid.density * per_second))
    return max(found)


def _pulls(scene: Scene) -> bool:
    """Whether a liquid has surface tension."""
    return any(liquid.surface_tension > 0.0 for liquid in scene.liquids.values())


def check_octree(scene: Scene) -> None:
    """Refuse scenes whose liquid cannot be on a tree."""
    solver, refine = scene.solver, scene.refine
    if scene.domain.dim == 2:
        raise fail("'octree' is available in 3D scenes only; valid here: 'regular'", "solver.mesh")
    least = math.ceil(scene.time.cfl) + DEEPER
    if refine.band < least:
        raise fail(
            f"the surface may cross {scene.time.cfl:g} cells in a step (time.cfl), and coarse cells must stay below: "
            f"at least {least}, got {refine.band}",
            "refine.band",
        )
    camera = scene.camera
    if refine.pixels > 0.0 and (camera is None or camera.eye == camera.target):
        raise fail("the size of cells in a picture needs a [camera] that looks somewhere", "refine.pixels")
    for i, wish in enumerate(refine.shapes):
        if 0.0 < wish.size < scene.domain.dx:
            raise fail(
                f"no cell is smaller than {scene.domain.dx:g} m (domain.resolution), got {wish.size:g}",
                f"refine.shapes.{i}.size",
            )
    longest = max(scene.domain.shape)
    if longest >= MOST_CELLS:
        raise fail(f"a tree has fewer than {MOST_CELLS} cells along an axis, not {longest}", "domain.resolution")
    if 1 << (refine.levels - 1) > longest:
        raise fail(
            f"{refine.levels} levels do not fit: the largest cells have {1 << (refine.levels - 1)} finest ones a side, "
            f"and the domain has {longest}",
            "refine.levels",
        )
    separating = [*scene.domain.walls.values(), *(solid.walls for solid in scene.solids)]
    for found, what, key in (
        (solver.coupling == "stokes", "'stokes' is solved on regular grids", "solver.coupling"),
        (solver.air != "vacuum", f"'{solver.air}' air is on the regular grid; valid with it: 'vacuum'", "solver.air"),
        (bool(solver.tiles), "affine tiles are on the regular grid", "solver.tiles"),
        (solver.pressure != "multigrid", "its pressure is solved by multigrid on the tree", "solver.pressure"),
        (
            solver.viscosity not in ("auto", "multigrid", "none"),
            f"'{solver.viscosity}' is not on its faces; valid with it: 'auto', 'multigrid', 'none'",
            "solver.viscosity",
        ),
        (
            any(liquid.viscosity.kind != "constant" for liquid in scene.liquids.values()),
            "viscosity is one number in coarse cells so far",
            "liquids.viscosity",
        ),
        (len(scene.liquids) > 1, "it has one liquid so far", "liquids"),
        (_pulls(scene), "surface tension needs regular cells so far", "liquids.surface_tension"),
        (any(s.density is not None for s in scene.solids), "rigid bodies are on the regular grid so far", "solids"),
        (
            any(s.moving for s in scene.solids) and is_viscous(scene, _thickness(scene)),
            "solids that move do not drag viscous liquid so far",
            "solids",
        ),
        ("separating" in separating, "its walls do not let go so far", "solver.mesh"),
        (scene.heat is not None, "heat is exchanged on the regular grid so far", "heat"),
        (scene.output.fields, "fields are those of the regular grid so far", "output.fields"),
    ):
        if found:
            raise fail(f"does not go with solver.mesh = 'octree': {what}", key)


def check_voronoi(scene: Scene) -> None:
    """Refuse scenes whose liquid cannot be on Voronoi cells around its surface."""
    solver = scene.solver
    separating = [*scene.domain.walls.values(), *(solid.walls for solid in scene.solids)]
    for found, what, key in (
        (bool(scene.sources), "its surface moves and does not grow: no sources so far", "sources"),
        (bool(scene.sinks), "its surface has no holes for sinks so far", "sinks"),
        (len(scene.liquids) > 1, "it has one liquid so far", "liquids"),
        (any(s.density is not None for s in scene.solids), "rigid bodies are on the regular grid so far", "solids"),
        (any(s.moving for s in scene.solids), "its solids stand still so far", "solids"),
        (solver.coupling == "stokes", "'stokes' needs viscous stresses, of which it has none", "solver.coupling"),
        (
            solver.viscosity not in ("auto", "none"),
            f"'{solver.viscosity}' needs viscous stresses, of which it has none; valid with it: 'auto', 'none'",
            "solver.viscosity",
        ),
        (solver.air != "vacuum", f"'{solver.air}' air is on the regular grid; valid with it: 'vacuum'", "solver.air"),
        (bool(solver.tiles), "affine tiles are on the regular grid", "solver.tiles"),
        (
            solver.pressure not in ("multigrid", "jacobi-cg", "reference"),
            f"'{solver.pressure}' is a solver of regular cells; valid with it: 'multigrid', 'jacobi-cg', 'reference'",
            "solver.pressure",
        ),
        (solver.tension == "implicit", "its tension is 'explicit'", "solver.tension"),
        ("separating" in separating, "its walls do not let go so far", "solver.mesh"),
        (scene.heat is not None, "heat is exchanged on the regular grid so far", "heat"),
        (scene.output.fields, "fields are those of the regular grid so far", "output.fields"),
    ):
        if found:
            raise fail(f"does not go with solver.mesh = 'voronoi': {what}", key)
