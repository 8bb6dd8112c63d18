"""Collisions of rigid bodies with each other, with solids and with the domain, by MuJoCo.

The solves of a step change a body's velocity from v0 to v1. A body in the liquid begins with v1, as the liquid around
it moves with its new velocity from the beginning of the step: if it lagged behind, it would bob ever higher. One that
meets no liquid gets the change as a steady force over the step and flies as it should. MuJoCo moves them, in shorter
steps of its own, against whatever they meet. Its state is a vector, part of the simulation's: setting it before and
reading it after makes a step a function of the state alone.

MuJoCo has limits of its own (masses and moments of inertia below 1e-15, places beyond 1e10), so it works in units in
which the domain and the heaviest body are about 1. They are powers of two: nothing is rounded by them.
"""

import math
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from glug.errors import SceneError, sentence
from glug.extras import require
from glug.scene.bodies import Solid
from glug.scene.motions.free import FreeMotion
from glug.scene.schema import Domain
from glug.simulation.bodies.contact_shapes import Part, numbers, parts_of, plane
from glug.simulation.bodies.motion import BodyDescription, full, reduced

STEP = 5e-4  # [s] longest of MuJoCo's own steps
# Two bodies that touch are a spring and a damper, mass-normalised: v'' + 2 zeta w v' + w^2 v = 0. The spring's half
# period is resolved by about ten of MuJoCo's steps; its damping gives the restitution.
FREQUENCY = 0.3 / STEP  # [1/s]
MOST_DAMPING = 1.6  # zeta: with more, a step of MuJoCo's would turn the speed around
HEAVY = 1e6  # of the heaviest body: what scripted solids weigh, so that nothing stops them
FRICTION, RESTITUTION = 0.5, 0.0  # of bodies that do not say
FREE, FIXED = 'contype="1" conaffinity="3"', 'contype="2" conaffinity="1"'


def restitution_of(zeta: float) -> float:
    """Share of the speed that a spring and damper returns which lets go instead of pulling (Schwager, Pöschel 2007)."""
    if zeta < 1.0:
        w = np.sqrt(1.0 - zeta**2)
        return float(np.exp(-zeta / w * (np.pi - np.arctan2(2.0 * zeta * w, w**2 - zeta**2))))
    w = np.sqrt(max(zeta**2 - 1.0, 1e-12))
    return float(np.exp(-zeta / w * np.log((zeta + w) / (zeta - w))))


def damping_ratio(restitution: float) -> float:
    """The inverse, by halving; no more than what MuJoCo's steps resolve, which is a restitution of about 0.07."""
    low, high = 0.0, MOST_DAMPING
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if restitution_of(middle) > restitution else (low, middle)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class _Joint:
    """Where a body's coordinates are in MuJoCo's vectors."""

    body: int
    position: int
    velocity: int
    kind: str  # free, planar, axle


class Contact:
    """The world of a scene's solids. `advance` moves the bodies."""

    def __init__(self, domain: Domain, solids: list[Solid], descriptions: list[BodyDescription]):
        self.mujoco = require("mujoco", "rigid", "rigid bodies that collide")
        self.dim, self.bodies = domain.dim, descriptions
        self.scripted = [s for s in solids if s.moving and not s.free and s.sequence is None]
        self._meshes: list[np.ndarray] = []
        self.metre = 1.0 / _power_of_two(float((domain.upper - domain.lower).max()))  # in MuJoCo's unit of length
        self.kilogram = 1.0 / _power_of_two(max(s.mass for s in descriptions))
        xml = self._describe(domain, solids)
        try:
            self.model = self.mujoco.MjModel.from_xml_string(xml)
        except ValueError as error:
            lightest, heaviest = (f(body.mass for body in descriptions) for f in (min, max))
            raise SceneError(
                f"solids: bodies of {lightest:.3g} to {heaviest:.3g} kg cannot collide ({sentence(str(error))[:120]}); "
                "solver.contact = 'none' lets them pass through each other"
            ) from error
        self.data = self.mujoco.MjData(self.model)
        self.spec = self.mujoco.mjtState.mjSTATE_INTEGRATION
        self.size = self.mujoco.mj_stateSize(self.model, self.spec)
        kinds = ["axle" if s.on_axle else "free" if self.dim == 3 else "planar" for s in descriptions]
        self.joints = [self._joint(f"body{n}", kind) for n, kind in enumerate(kinds)]
        self.drivers = [self._joint(f"scripted{n}", "free") for n in range(len(self.scripted))]

    # -- description ---------------------------------------------------------------------------------------

    def _describe(self, domain: Domain, solids: list[Solid]) -> str:
        world = [self._geom(part, None, FIXED) for part in _walls(domain)]
        for solid in solids:
            if not solid.moving:
                world += [self._geom(p, solid, FIXED) for p in parts_of(solid, domain, np.zeros(3))]
        heaviest = self.kilogram * max(s.mass for s in self.bodies)
        for n, solid in enumerate(self.scripted):
            mass = HEAVY * heaviest
            size = mass * (self.metre * float((domain.upper - domain.lower).max())) ** 2
            geoms = [self._geom(p, solid, FIXED) for p in parts_of(solid, domain, np.zeros(3))]
            inertial = f'<inertial pos="0 0 0" mass="{mass!r}" diaginertia="{size!r} {size!r} {size!r}"/>'
            world.append(f'<body name="scripted{n}"><freejoint/>{inertial}{"".join(geoms)}</body>')
        for n, body in enumerate(self.bodies):
            geoms = [self._geom(p, body.solid, FREE) for p in parts_of(body.solid, domain, body.centre)]
            joints, inertial = self._joints(body), self._inertial(body)
            place = f'name="body{n}" pos="{numbers(self.metre * body.centre)}"'
            world.append(f"<body {place}>{joints}{inertial}{''.join(geoms)}</body>")
        meshes = "".join(
            f'<mesh name="mesh{n}" vertex="{numbers(self.metre * corners)}"/>' for n, corners in enumerate(self._meshes)
        )
        return (
            f'<mujoco><compiler angle="radian" balanceinertia="true"/>'
            f'<option timestep="{STEP}" gravity="0 0 0" cone="elliptic" integrator="implicitfast"/>'
            f'<default><geom condim="3" solimp="0.99 0.99 0.001"/></default>'
            f"<asset>{meshes}</asset><worldbody>{''.join(world)}</worldbody></mujoco>"
        )

    def _geom(self, part: Part, solid: Solid | None, group: str) -> str:
        attributes = dict(part.attributes)
        for name, lengths in part.lengths.items():
            attributes[name] = numbers(self.metre * np.asarray(lengths))
        if part.corners is not None:
            attributes["mesh"] = f"mesh{len(self._meshes)}"
            self._meshes.append(part.corners)
        # Of two solids MuJoCo takes the larger friction and the larger damping: those that do not say yield.
        friction = solid.friction if solid is not None else None
        restitution = solid.restitution if solid is not None else None
        if solid is not None and solid.free:
            friction = FRICTION if friction is None else friction
            restitution = RESTITUTION if restitution is None else restitution
        zeta = damping_ratio(1.0 if restitution is None else restitution)
        attributes["friction"] = f"{float(friction or 0.0)!r} 0 0"
        attributes["solref"] = f"{-(FREQUENCY**2)!r} {-2.0 * max(zeta, 1e-6) * FREQUENCY!r}"
        return f"<geom {group} {' '.join(f'{k}={quoteattr(v)}' for k, v in attributes.items())}/>"

    def _moment(self, inertia: np.ndarray) -> np.ndarray:
        """A moment of inertia [kg m2] in MuJoCo's units."""
        return self.kilogram * self.metre**2 * inertia

    def _inertial(self, description: BodyDescription) -> str:
        inertia = self._moment(description.inertia)
        if self.dim == 2:  # of a plate, which only turns in its plane
            inertia = np.diag([0.5, 0.5, 1.0]) * inertia[2, 2]
        order = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        return f'<inertial pos="0 0 0" mass="{self.kilogram * description.mass!r}" fullinertia="{numbers(order)}"/>'

    def _joints(self, description: BodyDescription) -> str:
        if description.on_axle:
            assert description.solid.axle is not None
            return f'<joint type="hinge" axis="{numbers(description.solid.axle)}" damping="0"/>'  # type: ignore[arg-type]
        if self.dim == 3:
            return "<freejoint/>"
        slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0"))
        return slides + '<joint type="hinge" axis="0 0 1"/>'

    def _joint(self, name: str, kind: str) -> _Joint:
        body = self.model.body(name).id
        joint = self.model.body_jntadr[body]
        return _Joint(body, int(self.model.jnt_qposadr[joint]), int(self.model.jnt_dofadr[joint]), kind)

    # -- state ---------------------------------------------------------------------------------------------

    def begin(self, bodies: list[FreeMotion]) -> np.ndarray:
        """The state vector of bodies that nothing has moved yet."""
        self.mujoco.mj_resetData(self.model, self.data)
        for joint, body, description in zip(self.joints, bodies, self.bodies):
            self._place(joint, body.R, body.centre, body.velocity_of_centre, body.spin, description)
        return self._state()

    def advance(
        self,
        state: np.ndarray,
        bodies: list[FreeMotion],
        velocity: np.ndarray,
        t: float,
        dt: float,
        start: np.ndarray | None = None,
    ) -> tuple[np.ndarray, list[FreeMotion]]:
        """The bodies `dt` later, and the state vector.

        A steady force takes them to `velocity` (n, m) if they meet nothing, from `start` or the velocity they have.
        """
        mj, model, data = self.mujoco, self.model, self.data
        mj.mj_setState(model, data, state, self.spec)
        for driver, solid in zip(self.drivers, self.scripted):
            R, x = solid.motion.pose(t)
            spin, rate = solid.motion.twist(t)
            self._place(driver, R, x, rate, spin, None)
        if start is None:
            start = np.array([reduced(body, self.dim) for body in bodies])
        for joint, body, description, v, v0 in zip(self.joints, bodies, self.bodies, velocity, start):
            self._set_velocity(joint, body.R, *full(v0), description)
            linear, angular = full(v - v0)
            force, torque = data.xfrc_applied[joint.body, :3], data.xfrc_applied[joint.body, 3:]
            force[:] = self.kilogram * self.metre * description.mass * linear / dt
            torque[:] = self._moment(body.R @ description.inertia @ body.R.T) @ angular / dt
        count = max(1, int(np.ceil(dt / STEP - 1e-9)))
        model.opt.timestep = dt / count
        for _ in range(count):
            mj.mj_step(model, data)
        moved = [self._read(j, b, s) for j, b, s in zip(self.joints, bodies, self.bodies)]
        return self._state(), moved

    def _state(self) -> np.ndarray:
        state = np.empty(self.size)
        self.mujoco.mj_getState(self.model, self.data, state, self.spec)
        return state

    def _place(
        self,
        joint: _Joint,
        R: np.ndarray,
        centre: np.ndarray,
        velocity: np.ndarray,
        spin: np.ndarray,
        description: BodyDescription | None,
    ) -> None:
        p = self.data.qpos[joint.position :]
        if joint.kind == "free":
            quaternion = np.empty(4)
            self.mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R, float).ravel())
            p[:3], p[3:7] = self.metre * centre, quaternion
        elif joint.kind == "planar":
            assert description is not None
            p[:2] = self.metre * (centre - description.centre)[:2]
            p[2] = np.arctan2(R[1, 0], R[0, 0])
        self._set_velocity(joint, R, velocity, spin, description)

    def _set_velocity(
        self, joint: _Joint, R: np.ndarray, velocity: np.ndarray, spin: np.ndarray, description: BodyDescription | None
    ) -> None:
        v = self.data.qvel[joint.velocity :]
        if joint.kind == "free":
            v[:3], v[3:6] = self.metre * velocity, R.T @ spin
        elif joint.kind == "planar":
            v[:2], v[2] = self.metre * velocity[:2], spin[2]
        else:
            assert description is not None and description.solid.axle is not None
            v[0] = np.asarray(description.solid.axle) @ spin / np.linalg.norm(description.solid.axle)

    def _read(self, joint: _Joint, body: FreeMotion, description: BodyDescription) -> FreeMotion:
        p, v = self.data.qpos[joint.position :], self.data.qvel[joint.velocity :]
        if joint.kind == "free":
            R, centre, velocity = self._rotation(p[3:7]), p[:3] / self.metre, v[:3] / self.metre
            return replace(body, R=R, centre=centre, velocity_of_centre=velocity, spin=R @ v[3:6])
        if joint.kind == "planar":
            c, s = np.cos(p[2]), np.sin(p[2])
            R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            centre = description.centre + np.array([p[0], p[1], 0.0]) / self.metre
            velocity, spin = np.array([v[0], v[1], 0.0]) / self.metre, np.array([0.0, 0.0, v[2]])
            return replace(body, R=R, centre=centre, velocity_of_centre=velocity, spin=spin)
        axis = np.asarray(description.solid.axle, float) / np.linalg.norm(description.solid.axle)  # type: ignore[arg-type]
        quaternion = np.concatenate([[np.cos(0.5 * p[0])], np.sin(0.5 * p[0]) * axis])
        return replace(body, R=self._rotation(quaternion), spin=axis * v[0])

    def _rotation(self, quaternion: Any) -> np.ndarray:
        R = np.empty(9)
        self.mujoco.mju_quat2Mat(R, quaternion)
        return R.reshape(3, 3)


def _walls(domain: Domain) -> list[Part]:
    sides = (("left", "right"), ("bottom", "top"), ("back", "front"))
    walls = []
    for a in range(domain.dim):
        for side, at, sign in zip(sides[a], (domain.lower, domain.upper), (1.0, -1.0)):
            if domain.sides[side] != "open":
                walls.append(plane(at, sign * np.eye(3)[a]))
    return walls


def _power_of_two(value: float) -> float:
    """The power of two that is not above a positive number."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)
