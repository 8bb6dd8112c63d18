"""What the page says and draws of a scene: sizes, colours, camera, solids, parameters."""

from dataclasses import dataclass
from typing import Any

from glug.errors import GlugError, InputError, SceneError
from glug.scene import Scene, door, load
from glug.scene.bodies import Solid
from glug.scene.schema import Domain
from glug.view.camera import automatic_camera

ASPECT = 16 / 10  # of the picture that the camera is chosen for; the page steps back where its own is narrower


@dataclass(frozen=True)
class Description:
    """`page` goes to the page as JSON, the rest stays with the server."""

    page: dict[str, Any]
    solids: tuple[Solid, ...]
    domain: Domain
    fps: float


def describe(scene_toml: str) -> Description:
    """From a run's scene.toml. A scene whose mesh files are gone is shown without its solids, with a note."""
    try:
        data = door.parse(scene_toml)
    except SceneError as error:
        raise InputError(f"scene.toml: damaged: {error}") from None
    note = ""
    try:
        scene = load(data)
    except GlugError as error:
        note = f"The solids are not shown: {error}"
        try:
            scene = load({**data, "solids": []})
        except GlugError as second:
            raise InputError(f"scene.toml: {second}") from None
    return Description(_page(scene, scene_toml, note), scene.solids, scene.domain, scene.time.fps)


def _page(scene: Scene, scene_toml: str, note: str) -> dict[str, Any]:
    domain = scene.domain
    return {
        "name": scene.name,
        "about": scene.description,
        "note": note,
        "lower": [float(x) for x in domain.lower],
        "upper": [float(x) for x in domain.upper],
        "dim": domain.dim,
        "dx": domain.dx,
        "floor": domain.sides["bottom"] != "open",
        "camera": _camera(scene),
        "liquids": [
            {"name": name, "colour": list(liquid.colour), "clarity": liquid.clarity}
            for name, liquid in scene.liquids.items()
        ],
        "solids": [
            {
                "name": solid.name,
                "colour": list(solid.colour),
                "clarity": solid.clarity,
                "moving": solid.moving,
                "sequence": solid.sequence is not None,
            }
            for solid in scene.solids
        ],
        "facts": _facts(scene),
        "scene": scene_toml,
    }


def _camera(scene: Scene) -> dict[str, Any]:
    given = scene.camera
    if given is not None:
        look = {"eye": list(given.eye), "target": list(given.target), "up": list(given.up), "fov": given.fov}
        return {**look, "aspect": 1.0}
    chosen = automatic_camera(list(scene.domain.lower), list(scene.domain.upper), ASPECT)
    return {"eye": chosen.eye, "target": chosen.target, "up": chosen.up, "fov": chosen.fov_degrees, "aspect": ASPECT}


def _facts(scene: Scene) -> list[tuple[str, str]]:
    """Label and value, in the order in which one asks."""
    domain, solver = scene.domain, scene.solver
    size = " × ".join(f"{x:g}" for x in domain.size)
    cells = " × ".join(str(n) for n in domain.shape[: domain.dim])
    facts = [
        ("domain", f"{size} m"),
        ("cells", f"{cells}, {1000 * domain.dx:.3g} mm"),
        ("time", f"{scene.time.frames} frames at {scene.time.fps:g} per s"),
    ]
    for name, liquid in scene.liquids.items():
        law = liquid.viscosity
        values = [law.value] if law.kind == "constant" else [value for _, value in law.table]
        span = f"{values[0]:g}" if len(values) == 1 else f"{min(values):g} to {max(values):g}, by {law.kind}"
        facts.append((name, f"{liquid.density:g} kg/m³, {span} Pa s"))
    gravity = [f"{x:g}" for x in scene.gravity]
    return [
        *facts,
        ("gravity", f"{', '.join(gravity)} m/s²"),
        ("transfer", solver.transfer),
        ("pressure", f"{solver.pressure}, to {solver.tolerance.pressure:g}"),
        ("viscosity", f"{solver.viscosity}, to {solver.tolerance.viscosity:g}"),
        ("seed", str(scene.seed)),
    ]
