"""What stays fixed during a run: the scene, read once into the numbers that a step needs."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from glug.errors import SceneError
from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.geometry.solids.sampling import Solid as Sampled
from glug.geometry.solids.still import StillSolids
from glug.grids.blocks import TILE
from glug.grids.regular import Grid
from glug.physics.tension.pressure import capillary_step
from glug.scene import Scene
from glug.scene.bodies import Solid
from glug.scene.mesh_checks import is_viscous
from glug.scene.motions.free import FreeMotion
from glug.scene.schema import SIDES
from glug.simulation.bodies.contact import Contact
from glug.simulation.bodies.motion import body_descriptions
from glug.simulation.nozzles import Nozzle

BORDER = 3  # cells of a window behind a wall
THICK_LIQUID = 1.0  # mu / (rho dx^2 fps) above which `auto` is APIC: its own viscosity is less than the liquid's
IMPLICIT_STEPS = 10.0  # times as long as those of explicit surface tension
MOST_CELLS_A_STEP = {2: 0.5, 3: 0.66}  # of a tracked surface with cells around it (Brochu, Batty and Bridson 2010)
STEP_OF_FALL = 3.0  # cells that liquid at rest could fall in a step, at most, or waves of its surface grow
STEP_OF_BODIES = 0.25  # nu dt / a^2 of a body of radius a, at most: pressure and viscosity push it one after the other


def viscosities(law: Any) -> list[float]:
    """Those that a viscosity law gives, but for what is between them [Pa s]."""
    return [law.value] if law.kind == "constant" else [value for _, value in law.table]


@dataclass
class Setting:
    """A scene made ready for stepping. Static solids are sampled once per window."""

    scene: Scene
    _still: StillSolids | None = None
    _last: tuple[float, list[FreeMotion] | None, SolidField] | None = None
    _held: tuple[Grid, list[Nozzle], SolidField] | None = None
    _kept: dict[str, tuple[np.ndarray, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        domain = self.scene.domain
        self.dx = domain.dx
        self.dim = domain.dim
        self.origin = tuple(float(x) for x in domain.lower)
        sides = domain.sides
        pairs = [[sides[s] for s in pair] for pair in (("left", "right"), ("bottom", "top"), ("back", "front"))]
        if self.dim == 2:
            pairs[2] = ["open", "open"]
        low = tuple(float(x) if s[0] != "open" else -math.inf for x, s in zip(domain.lower, pairs))
        high = tuple(float(x) if s[1] != "open" else math.inf for x, s in zip(domain.upper, pairs))
        own = {"slip": math.inf, "open": 0.0}
        lengths = [own.get(sides[s], domain.slip_length[s]) for s in SIDES]
        slips = tuple(zip(lengths[::2], lengths[1::2]))
        lets_go = [domain.walls[side] == "separating" for side in SIDES]
        separating = tuple((a, b) for a, b in zip(lets_go[::2], lets_go[1::2]))
        self.walls = Walls(low, high, slips, separating)  # type: ignore[arg-type]
        self.gravity = np.asarray(self.scene.gravity, dtype=float)
        self.density = next(iter(self.scene.liquids.values())).density
        self.density_ratios = [liquid.density / self.density for liquid in self.scene.liquids.values()]
        self.per_cell = int(self.scene.solver.particles_per_cell or (8 if self.dim == 3 else 4))
        parts = max(1, round(self.per_cell ** (1.0 / self.dim)))
        self.particle_volume = self.dx**3 / parts**self.dim
        self.solids = list(self.scene.solids)
        self.bodies = body_descriptions(self.scene)
        self.moving = any(s.moving for s in self.solids)
        self.viscosity = self._thickest()
        number = self.viscosity / (self.density * self.dx**2 * self.scene.time.fps)
        self.viscous = is_viscous(self.scene, number)
        transfer = self.scene.solver.transfer
        self.tensions = [liquid.surface_tension for liquid in self.scene.liquids.values()]
        self.tension = max(self.tensions)
        thick = self.viscous and number > THICK_LIQUID
        # FLIP lets a ringing drop gain 5% of its amplitude in a period (`docs/theory/tension.md`).
        self.apic = transfer == "apic" or (transfer == "auto" and (thick or self.tension > 0.0))
        self.reference = self.dim == 2
        self.closed_air = self.scene.solver.air == "constraint"
        self.air_has_pressure = self.scene.solver.air in ("two-phase", "affine")
        self.has_regions = bool(self.scene.solver.tiles) or self.scene.solver.air == "affine"
        self.stokes = self.viscous and self.scene.solver.coupling == "stokes"
        mesh = self.scene.solver.mesh
        if self.viscous and mesh in ("tetrahedra", "voronoi"):
            raise SceneError(
                f"solver.mesh: '{mesh}' has no viscous stresses, and this liquid is too thick to go without; "
                "solver.viscosity = 'none' leaves them out"
            )
        most = MOST_CELLS_A_STEP[self.dim] if mesh == "voronoi" else math.inf
        self.cells_a_step = min(self.scene.time.cfl, most)

    def _thickest(self) -> float:
        """The largest viscosity of all liquids [Pa s]."""
        return max(max(viscosities(law)) for law in self.laws)

    def _thinnest(self) -> float:
        """The smallest viscosity of all liquids over their density [m2/s]."""
        return min(min(viscosities(liquid.viscosity)) / liquid.density for liquid in self.scene.liquids.values())

    def is_thin(self, dt: float) -> bool:
        """Whether viscosity does not reach the next cell within dt [s]."""
        return self.viscosity * dt < self.density * self.dx**2

    @cached_property
    def up(self) -> np.ndarray:
        """The unit vector against gravity (3,), float32; zero where nothing falls."""
        size = float(np.linalg.norm(self.gravity))
        return (-self.gravity / size if size > 0.0 else np.zeros(3)).astype(np.float32)

    @property
    def longest_step(self) -> float:
        """The longest time step [s] in which viscosity and pressure push the bodies as if at once."""
        if not self.viscous or self.stokes or not self.bodies:
            return math.inf
        volume = min(body.mass / float(body.solid.density or 1.0) for body in self.bodies)
        square = (volume / (4.0 / 3.0 * math.pi)) ** (2.0 / 3.0) if self.dim == 3 else volume / (math.pi * self.dx)
        return STEP_OF_BODIES * square * self.density / self.viscosity

    @property
    def surface_step(self) -> float:
        """The longest time step [s] in which a surface comes to rest; thick liquid may take longer ones.

        Surfaces move after the solves: a wave of number k decays if g k dt^2 < 4 + 4 nu k^2 dt (docs/theory/motion.md).
        """
        g = float(np.linalg.norm(self.gravity))
        if g == 0.0:
            return math.inf
        nu = self._thinnest() if self.viscous else 0.0
        k = np.pi / self.dx * 0.5 ** np.arange(1.0 + math.log2(max(self.scene.domain.shape)))
        thick = 2.0 * (nu * k / g + np.sqrt((nu * k / g) ** 2 + 1.0 / (g * k)))
        return max(math.sqrt(STEP_OF_FALL * self.dx / g), float(thick.min()))

    @property
    def capillary_step(self) -> float:
        """The longest time step [s] in which surface tension is stable; inf where nothing limits it."""
        lightest = min(liquid.density for liquid in self.scene.liquids.values())
        longer = IMPLICIT_STEPS if self.scene.solver.tension == "implicit" else 1.0
        return longer * self.scene.time.capillary * capillary_step(self.tension, lightest, self.dx)

    @property
    def laws(self) -> list:
        """The liquids' viscosity laws, in order."""
        return [liquid.viscosity for liquid in self.scene.liquids.values()]

    @property
    def viscosity_varies(self) -> bool:
        """Whether particles need to carry a viscosity."""
        return len(self.laws) > 1 or self.laws[0].kind != "constant"

    @property
    def other_densities(self) -> list[int]:
        """Numbers of the liquids whose density is not the first one's."""
        return [n for n, ratio in enumerate(self.density_ratios) if abs(ratio - 1.0) > 1e-9]

    @property
    def particle_names(self) -> tuple[str, ...]:
        """Optional attributes that this scene's particles carry."""
        if self.scene.solver.mesh == "voronoi":  # they are the sites of its cells
            return ()
        names = []
        if self.apic:
            names.append("affine")
        if self.viscosity_varies:
            names.append("viscosity")
        if self.scene.heat is not None or any(law.kind == "temperature" for law in self.laws):
            names.append("temperature")
        if len(self.scene.liquids) > 1:
            names.append("liquid")
        if self.closed_air:
            names.append("bubble")
        if self.scene.solver.tiles:
            names.append("tile")
        if self.scene.solver.mesh == "octree" and (self.scene.refine.bend or self.scene.refine.vorticity):
            names.append("detail")
        return tuple(names)

    @cached_property
    def contact(self) -> Contact | None:
        """What bodies collide with; None without bodies, and when they pass through everything."""
        if not self.bodies or self.scene.solver.contact == "none":
            return None
        return Contact(self.scene.domain, self.solids, self.bodies)

    def solids_with(self, bodies: list[FreeMotion]) -> list[Solid]:
        """The solids, with the rigid bodies where they are."""
        solids = list(self.solids)
        for description, body in zip(self.bodies, bodies):
            solids[description.number] = body.moved(description.solid)
        return solids

    def window(self, position: np.ndarray, bodies: list[FreeMotion] | None = None) -> Grid:
        """The padded box of the particles and of bodies near them, in whole tiles; the domain where air counts."""
        pad = math.ceil(self.scene.time.cfl) + 3
        lo, shape = [0, 0, 0], [TILE, TILE, TILE]
        position = self._with_bodies(position, bodies or [], pad * self.dx)
        for a in range(self.dim):
            cells = self.scene.domain.shape[a]
            if self.scene.solver.air != "vacuum":  # all of it counts
                first, last = -BORDER, cells + BORDER
            elif len(position):
                first = math.floor((float(position[:, a].min()) - self.origin[a]) / self.dx) - pad
                last = math.ceil((float(position[:, a].max()) - self.origin[a]) / self.dx) + pad
            else:
                first, last = 0, TILE
            first, last = max(first, -BORDER), min(last, cells + BORDER)
            # Whole tiles at tile positions, so that the window stays the same while the liquid moves little.
            first = math.floor((first + BORDER) / TILE) * TILE - BORDER
            lo[a] = first
            shape[a] = max(1, -(-(last - first) // TILE)) * TILE
        if self.dim == 2:
            lo[2], shape[2] = 0, 1
        return Grid(self.dx, (shape[0], shape[1], shape[2]), (lo[0], lo[1], lo[2]), self.origin, self.dim)  # type: ignore[arg-type]

    def _with_bodies(self, position: np.ndarray, bodies: list[FreeMotion], reach: float) -> np.ndarray:
        """Points with the same bounding box as the particles and the bodies near them."""
        if len(position) == 0 or not bodies:
            return position
        low, high = (np.asarray(f(axis=0), float)[: self.dim] for f in (position.min, position.max))
        box = [low, high]
        for description, body in zip(self.bodies, bodies):
            lower, upper = (c[: self.dim] for c in body.moved(description.solid).bounds(0.0))
            if ((lower < high + reach) & (upper > low - reach)).all():
                box += [lower, upper]
        return np.array([np.min(box, axis=0), np.max(box, axis=0)])

    def kept(self, name: str, key: np.ndarray, make: Callable[[], Any]) -> Any:
        """What `make` gives, made anew only when the array `key` differs from that of the last call by this name."""
        last = self._kept.get(name)
        if last is None or not np.array_equal(last[0], key):
            self._kept[name] = last = key.copy(), make()
        return last[1]

    def solid_field(self, grid: Grid, t: float, bodies: list[FreeMotion] | None = None) -> SolidField:
        """The solids at time t on `grid`."""
        if self._still is None or self._still.grid != grid:
            self._still = StillSolids(grid, self.walls, self.solids, self._still)
            self._last = None
        # What a step ends with is what the next one begins with; where nothing moves, it stays.
        last = self._last
        if last is None or (self.moving and (last[0] != t or last[1] is not bodies)):
            solids = self.solids_with(bodies or [])
            last = self._last = t, bodies, sample_solids(grid, self.walls, solids, t, self._still)
        return last[2]

    def holding(self, t: float, bodies: list[FreeMotion] | None = None) -> list[Sampled]:
        """The solids and the sources that are open at time t, as solves see them."""
        return [*self.solids_with(bodies or []), *self.nozzles(t)]

    def nozzles(self, t: float) -> list[Nozzle]:
        """The sources that are open at time t [s], where solves hold their liquid."""
        if self.scene.solver.mesh == "voronoi":
            return []
        return [Nozzle(source) for source in self.scene.sources if source.active(t)]

    def held_field(self, grid: Grid, t: float, bodies: list[FreeMotion] | None = None) -> SolidField:
        """The same as solves see them: with the sources that are open, whose liquid moves as they say."""
        solid, nozzles = self.solid_field(grid, t, bodies), self.nozzles(t)
        if not nozzles:
            return solid
        moving = self.moving or any(nozzle.source.moving for nozzle in nozzles)
        last = self._held
        if moving or last is None or last[0] != grid or last[1] != nozzles:
            field = sample_solids(grid, self.walls, self.holding(t, bodies), t, self._still)
            last = self._held = grid, nozzles, field
        return last[2]
