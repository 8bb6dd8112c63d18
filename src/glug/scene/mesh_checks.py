"""What does not go with meshes other than the regular grid, each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glug.scene.model import fail

if TYPE_CHECKING:
    from glug.scene.schema import Scene


def check_mesh(scene: Scene) -> None:
    """An error that names the key if the scene asks for what its mesh does not have."""
    if scene.solver.mesh != "tetrahedra":
        return
    solver, densities = scene.solver, [liquid.density for liquid in scene.liquids.values()]
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
        "liquids.surface_tension": (
            any(liquid.surface_tension > 0.0 for liquid in scene.liquids.values()),
            "surface tension needs regular cells, not tetrahedra",
        ),
        "output.fields": (scene.output.fields, "fields are those of the regular grid; tetrahedra have their own"),
    }
    for key, (refused, reason) in refusals.items():
        if refused:
            raise fail(reason, key)
