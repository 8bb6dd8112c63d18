"""Whole runs with known answers: rest, free fall, uniform fall of a block of uneven viscosity, a bending beam."""

import numpy as np
import pytest

from glug.simulation import Simulation

G = 9.81


def tilted_tank(viscosity: float) -> dict:
    """Liquid 32 cells deep over a tilted floor, its surface at an arbitrary height within a cell."""
    return {
        "domain": {"size": [1.0, 1.5, 0.5], "resolution": 48},
        "time": {"fps": 24, "frames": 100},
        "liquids": {"liquid": {"density": 1000.0, "viscosity": viscosity}},
        "volumes": [{"liquid": "liquid", "shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 1.1137, 0.5]}}],
        "solids": [
            {
                "name": "floor",
                "shape": {"kind": "half-space", "point": [0.5, 0.1, 0.25], "normal": [-0.2, 1.0, 0.1]},
            }
        ],
    }


@pytest.mark.parametrize(
    ("name", "viscosity"),
    # Honey: mu dt / (rho dx^2) = 10 at the frame's length.
    [("water", 0.0), ("honey", 10 * 1000.0 * (1 / 32) ** 2 * 24)],
)
def test_liquid_over_a_tilted_floor_stays_at_rest(name, viscosity):
    simulation = Simulation(tilted_tank(viscosity))
    speeds = []
    while simulation.state.frame < 100:
        simulation.step_once()
        if simulation.state.substep == 0:
            speeds.append(float(np.abs(simulation.state.particles.velocity).max()))
    limit = 0.02 * np.sqrt(G * 1.0)
    print(f"{name}: fastest particle over 100 frames {max(speeds) / np.sqrt(G):.4f} sqrt(g H)")
    assert max(speeds) < limit


def falling_blob(viscosity: float) -> dict:
    return {
        "domain": {"size": [1.0, 2.0, 1.0], "resolution": 64, "sides": "open"},
        "time": {"fps": 60, "frames": 30, "cfl": 1.0},
        "liquids": {"liquid": {"density": 1000.0, "viscosity": viscosity}},
        "volumes": [{"liquid": "liquid", "shape": {"kind": "sphere", "centre": [0.5, 1.65, 0.5], "radius": 0.2}}],
    }


def height(simulation: Simulation) -> float:
    """Height of the centre of mass [m]."""
    p = simulation.state.particles
    return float(np.average(p.position[:, 1].astype(np.float64), weights=p.volume[:, 0]))


@pytest.mark.parametrize("viscosity", [0.0, 50.0], ids=["inviscid", "viscous"])
def test_blob_in_free_fall_follows_the_parabola(viscosity):
    simulation = Simulation(falling_blob(viscosity))
    start = height(simulation)
    velocity, fall = 0.0, 0.0
    while simulation.state.frame < 20:
        dt = simulation.step_once().dt
        velocity += G * dt
        fall += velocity * dt  # for equal steps g dt^2 n (n + 1) / 2
    if not viscosity:  # a leapfrog, which takes steps of any length as they are
        fall = 0.5 * G * simulation.state.time**2
    fallen = start - height(simulation)
    print(f"fallen {fallen:.6f} m, formula {fall:.6f} m, relative error {abs(fallen / fall - 1):.1e}")
    assert abs(fallen / fall - 1.0) < 1e-4


def test_block_of_uneven_viscosity_falls_without_tilting():
    """Viscosity varies 1 : 10^4 along the block; gravity is uniform, so nothing may turn it."""
    scene = falling_blob(0.0) | {
        "liquids": {
            "liquid": {
                "density": 1000.0,
                "viscosity": {"kind": "position", "axis": "x", "table": [[0.25, 0.1], [0.75, 1000.0]]},
            }
        },
        "volumes": [
            {
                "liquid": "liquid",
                "shape": {"kind": "box", "lower": [0.25, 1.5, 0.35], "upper": [0.75, 1.8, 0.65]},
            }
        ],
    }
    simulation = Simulation(scene)
    while simulation.state.frame < 15:
        simulation.step_once()
    p = simulation.state.particles
    assert p.viscosity.max() / p.viscosity.min() > 5e3
    x, v = p.position[:, 0] - p.position[:, 0].mean(), p.velocity[:, 1]
    slope = float((x * v).sum() / (x * x).sum())  # angular velocity about z [rad/s]
    speed = float(np.abs(v).mean())
    print(f"fall at {speed:.3f} m/s, spread of the fall {np.ptp(v):.1e} m/s, rotation {slope:.1e} rad/s")
    assert abs(slope) * 0.5 < 1e-3 * speed
    assert np.ptp(v) < 0.02 * speed


def beam(viscosity_solver: str) -> Simulation:
    return Simulation(
        {
            "domain": {"size": [0.64, 0.64, 0.24], "resolution": 32, "sides": "open"},
            "time": {"fps": 24, "frames": 12},
            "liquids": {"paste": {"density": 1000.0, "viscosity": 2000.0}},
            "volumes": [
                {
                    "liquid": "paste",
                    "shape": {"kind": "box", "lower": [0.06, 0.36, 0.06], "upper": [0.42, 0.5, 0.18]},
                }
            ],
            "solids": [
                {
                    "name": "wall",
                    "shape": {"kind": "box", "lower": [-0.1, -0.1, -0.1], "upper": [0.093, 0.9, 0.5]},
                }
            ],
            "solver": {"viscosity": viscosity_solver, "max_iterations": 3000},
        }
    )


def tip_angle(simulation: Simulation, tip: np.ndarray) -> float:
    """Rotation of the tip about z since the start [degrees], by a least-squares fit of its particles."""
    before = {int(i): x for i, x in zip(simulation.state.particles.id[:, 0], simulation.state.particles.position)}
    while simulation.state.frame < 12:
        simulation.step_once()
    p = simulation.state.particles
    now = {int(i): x for i, x in zip(p.id[:, 0], p.position)}
    both = [i for i in tip if i in now]
    a = np.array([before[i] for i in both], float)
    b = np.array([now[i] for i in both], float)
    a, b = a - a.mean(0), b - b.mean(0)
    cross = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()
    dot = (a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1]).sum()
    return float(np.degrees(np.arctan2(cross, dot)))


def test_beam_on_a_wall_bends_instead_of_shearing():
    angles = {}
    for solver in ("multigrid", "laplacian"):
        simulation = beam(solver)
        p = simulation.state.particles
        tip = p.id[p.position[:, 0] > 0.36, 0]
        angles[solver] = -tip_angle(simulation, tip)
    print(f"tip rotates by {angles['multigrid']:.1f} degrees, with a Laplacian by {angles['laplacian']:.1f}")
    assert angles["multigrid"] > 10.0
    assert angles["laplacian"] < 0.5 * angles["multigrid"]  # negative control: it shears
