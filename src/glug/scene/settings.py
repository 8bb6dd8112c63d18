"""How a scene is solved, surfaced, written and looked at."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from glug.errors import shown
from glug.scene.model import Count, Fraction, Model, NonNegative, Positive, Vector, fail
from glug.scene.shapes.combined import Shape


class Tolerance(Model):
    """Relative residual |b - A x| / |b| (largest entries) at which a solve stops."""

    pressure: Positive = Field(default=1e-5, lt=1, description="pressure solve")
    viscosity: Positive = Field(default=1e-4, lt=1, description="viscosity solve")


def _gain(value: Any) -> Any:
    return float(value) if isinstance(value, bool) else value


def _tile_size(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value != "whole" and not (whole and (value == 0 or 4 <= value <= 128)):
        raise fail(f"must be 0 (no tiles), 4 to 128 cells (16 and 32 are usual) or 'whole', got {shown(value)}")
    return value


class Octree(Model):
    """The tree of `viscosity = "octree"`: finest cells at surfaces and solids, coarser ones inside."""

    levels: Count = Field(default=4, ge=1, le=4, description="sizes of cells; every level is twice the one before")
    band: Count = Field(default=2, ge=2, le=16, description="finest cells between what is cut and coarser ones")
    bend: NonNegative = Field(
        default=0.0, description="departure of the velocity from linear within which cells grow [m/s]; 0: any"
    )
    gradients: Literal["enhanced", "sloped"] = Field(
        default="enhanced", description="velocity differences between levels; sloped ones stiffen the liquid"
    )


class Tetrahedra(Model):
    """The mesh of `mesh = "tetrahedra"`: finest at the liquid's surface and at solids, coarser elsewhere."""

    levels: Count = Field(default=3, ge=1, le=5, description="sizes of cells; every level is twice the one before")
    band: Count = Field(default=3, ge=1, le=16, description="finest cells on either side of the surface")
    grading: Literal["surface", "camera"] = Field(
        default="surface",
        description="finest all along the surface, or cells that grow with the distance to the camera",
    )
    remesh: Count = Field(default=1, ge=0, description="steps from one mesh to the next; 0 keeps the first")
    shift: Fraction = Field(
        default=0.0, le=0.3, description="how far vertices are moved at random, over the spacing: irregular meshes"
    )
    pressure: Literal["circumcentre", "barycentre"] = Field(
        default="circumcentre", description="where pressures are; barycentres are a baseline"
    )
    surface: Literal["embedded", "standard"] = Field(
        default="embedded", description="the surface at its place between pressures, or (a baseline) at faces"
    )
    walls: Literal["embedded", "whole"] = Field(
        default="embedded", description="open parts of faces, or (a baseline) cells that are solid or not"
    )
    advection: Literal["particles", "semi-lagrangian"] = Field(
        default="particles",
        description="what carries velocities: particles, or (a baseline) the field of the last step",
    )
    interpolation: Literal["refined", "barycentric"] = Field(
        default="refined", description="velocity between faces, cells and vertices, or (a baseline) vertices alone"
    )


class Voronoi(Model):
    """The cells of `mesh = "voronoi"`; lengths in cells of the domain."""

    sites: Literal["surface", "lattice"] = Field(
        default="surface", description="pressures on either side of the surface, or (a baseline) on a lattice alone"
    )
    inside: Fraction = Field(
        default=1.0 / 3.0, gt=0, le=0.5, description="share of the way into the liquid at which its pressures are"
    )
    outside: Fraction = Field(
        default=1.0 / 3.0, gt=0, le=0.5, description="share of the way into the air at which its pressures are"
    )
    lattice: Positive = Field(default=2.0, ge=1, le=4, description="spacing of the pressures elsewhere [cells]")
    gap: NonNegative = Field(
        default=0.05,
        le=0.5,
        description="air narrower than this has no pressure [cells]; 0.2 at least between pieces that touch",
    )
    interpolation: Literal["refined", "barycentric", "generalised"] = Field(
        default="refined", description="velocity between faces, vertices and sites, or (baselines) by fewer of them"
    )


class SolverNames:
    """The names that a key may have: glug's own, and what a program has registered."""

    def __init__(self, *built_in: str):
        self.built_in = built_in
        self.registered: list[str] = []

    def register(self, name: str) -> bool:
        """Allow one more; false for one of glug's own."""
        if name in self.built_in:
            return False
        if name not in self.registered:
            self.registered.append(name)
        return True

    def check(self, value: Any) -> Any:
        names = [*self.built_in, *self.registered]
        if value not in names:
            raise fail(f"{shown(value)} is not valid; valid: {quoted(names)}")
        return value


def quoted(names: Sequence[str]) -> str:
    """'a', 'b' or 'c'."""
    *others, last = (f"'{name}'" for name in names)
    return f"{', '.join(others)} or {last}" if others else last


PRESSURE_SOLVERS = SolverNames("multigrid", "jacobi-cg", "ic-cg", "reference")
VISCOSITY_SOLVERS = SolverNames(
    "auto", "multigrid", "octree", "jacobi-cg", "laplacian", "laplacian-dirichlet", "reference", "none"
)
BEYOND_A_MATRIX = ("tiles", "affine air", "separating walls")  # what a pressure solver has to know of to solve it
PRESSURE_TAKES: dict[str, tuple[str, ...]] = {
    name: () if name == "ic-cg" else BEYOND_A_MATRIX  # its factors are those of a grid
    for name in PRESSURE_SOLVERS.built_in
}
"""Which of them a pressure solver takes, by name."""


class FineShape(Model):
    """Where cells are small, whatever the liquid does there."""

    shape: Shape
    size: NonNegative = Field(default=0.0, description="largest side of cells in it [m]; 0: finest cells")


class Refine(Model):
    """The tree of `solver.mesh = "octree"`: finest cells along surfaces and cut solids, coarser ones in the liquid."""

    levels: Count = Field(default=5, ge=1, le=8, description="sizes of cells; every level is twice the one before")
    band: Count = Field(default=4, ge=2, le=32, description="finest cells between the surface and coarser ones")
    bend: NonNegative = Field(
        default=0.0, description="departure of the velocity from linear within which cells grow [m/s]; 0: any"
    )
    vorticity: NonNegative = Field(
        default=0.0, description="|curl u| times the side of a cell within which cells grow [m/s]; 0: any"
    )
    decay: Positive = Field(
        default=0.1, description="time in which what a flow asked for falls to 1/e once it is gone [s]"
    )
    pixels: NonNegative = Field(default=0.0, description="largest side of a cell in the picture [pixels]; 0: any")
    shapes: tuple[FineShape, ...] = ()


class Solver(Model):
    """Which method does which stage of a step."""

    transfer: Literal["auto", "apic", "flip"] = Field(
        default="auto",
        description="particles and grid; auto is apic in thick liquids and with tension, else flip",
    )
    flip_ratio: Fraction = Field(default=0.99, description="share of FLIP in flip, the rest is PIC")
    pressure: Annotated[str, BeforeValidator(PRESSURE_SOLVERS.check)] = Field(
        default="multigrid", description="pressure solve: multigrid, jacobi-cg, ic-cg or reference"
    )
    viscosity: Annotated[str, BeforeValidator(VISCOSITY_SOLVERS.check)] = Field(
        default="auto",
        description="viscosity solve; auto is multigrid, octree in large thick liquids, none in thin ones",
    )
    octree: Octree = Octree()
    mesh: Literal["regular", "octree", "tetrahedra", "voronoi"] = Field(
        default="regular", description="where pressure is solved; on voronoi a tracked surface has no particles"
    )
    tetrahedra: Tetrahedra = Tetrahedra()
    voronoi: Voronoi = Voronoi()
    tension: Literal["explicit", "implicit"] = Field(
        default="explicit", description="surface tension; implicit takes steps ten times as long, and slows short waves"
    )
    coupling: Literal["split", "stokes"] = Field(
        default="split", description="pressure and viscosity one after the other, or in one solve"
    )
    air: Literal["vacuum", "constraint", "affine", "two-phase"] = Field(
        default="vacuum",
        description="what surrounds the liquid: nothing, bubbles that keep their volume, or a second fluid",
    )
    air_density: Positive = Field(default=1.2, description="density of the air where it is affine or two-phase [kg/m3]")
    tiles: Annotated[int | Literal["whole"], BeforeValidator(_tile_size)] = Field(
        default=0, description="cells per side of the affine tiles deep in the liquid; 0 has none, whole does not cut"
    )
    tile_band: Count = Field(default=9, ge=1, le=64, description="ordinary cells between the tiles and the surface")
    tile_liquid: str = Field(default="all", description="the only liquid that has tiles, or all")
    tolerance: Tolerance = Tolerance()
    max_iterations: Count = Field(default=4000, ge=1, description="iterations a solve may take")
    volume_correction: Annotated[Fraction, BeforeValidator(_gain)] = Field(
        default=1.0, description="share of the volume drift that is corrected; true is 1, false is 0"
    )
    particles_per_cell: Count | None = Field(
        default=None, ge=1, le=64, description="particles seeded per cell; default 8, in 2D 4"
    )
    contact: Literal["mujoco", "none"] = Field(
        default="mujoco", description="collisions of rigid bodies; none lets them pass through each other"
    )


class Surface(Model):
    """The mesh of the liquid's surface."""

    tracking: Literal["particles", "mesh"] = Field(
        default="particles", description="what the surface is: made of the particles, or a mesh that moves with them"
    )
    resolution: Count = Field(default=2, ge=1, le=4, description="samples per cell edge")
    smoothing: Count = Field(default=4, ge=0, le=100, description="smoothing passes")


class Output(Model):
    """What is written besides the surface."""

    fields: bool = Field(default=False, strict=True, description="write distances, velocities and pressure")
    particles: bool = Field(default=True, strict=True, description="write particles")
    budget: bool = Field(default=False, strict=True, description="write what every stage of a step changes")
    preview: bool = Field(default=True, strict=True, description="write a picture per frame")
    preview_every: Count = Field(default=1, ge=1, description="frames from one picture to the next")
    preview_size: tuple[Annotated[Count, Field(ge=16, le=8192)], Annotated[Count, Field(ge=16, le=8192)]] = Field(
        default=(640, 360), description="width and height [pixels]"
    )


class Camera(Model):
    """Where pictures are taken from."""

    eye: Vector = Field(description="position of the eye [m]")
    target: Vector = Field(description="point in the middle of the picture [m]")
    up: Vector = Field(default=(0.0, 1.0, 0.0), description="direction that is up in the picture")
    fov: Positive = Field(default=35.0, lt=170, description="vertical angle of view [degrees]")
