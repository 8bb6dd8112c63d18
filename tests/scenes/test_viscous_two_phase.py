"""A ball of honey in air that has pressures of its own: only the honey is viscous, and it falls as in a vacuum."""

import numpy as np
import pytest

from glug.simulation import Simulation

RADIUS, HEIGHT, CELLS = 0.2, 0.6, 24


def falling(air: str) -> Simulation:
    simulation = Simulation(
        {
            "domain": {"size": [1.0, 1.0, 1.0], "resolution": CELLS},
            "time": {"fps": 48},
            "liquids": {"honey": {"density": 1400.0, "viscosity": 10.0}},
            "volumes": [
                {"liquid": "honey", "shape": {"kind": "sphere", "centre": [0.5, HEIGHT, 0.5], "radius": RADIUS}}
            ],
            "solver": {"air": air},
            "output": {"fields": True},
        }
    )
    for _ in range(4):
        stats = simulation.step_once()
    assert all(solve.converged for solve in stats.solves.values())
    return simulation


@pytest.fixture(scope="module")
def runs() -> dict[str, Simulation]:
    return {air: falling(air) for air in ("vacuum", "constraint", "two-phase", "affine")}


@pytest.mark.parametrize("air", ["two-phase", "affine"])
def test_air_has_no_viscous_unknowns(runs, air):
    unknowns = {name: run.steps[-1].solves["viscosity"].unknowns for name, run in runs.items()}
    assert unknowns[air] == pytest.approx(unknowns["vacuum"], rel=0.05)
    assert unknowns[air] < 0.2 * runs[air].steps[-1].solves["pressure"].unknowns * 3  # not all faces of the box


@pytest.mark.parametrize("air", ["vacuum", "constraint", "two-phase", "affine"])
def test_phi_is_the_distance_of_the_honey(runs, air):
    fields = runs[air].state.fields
    inside = np.count_nonzero(fields["phi"] < 0.0) * float(fields["dx"]) ** 3
    assert inside == pytest.approx(4 / 3 * np.pi * RADIUS**3, rel=0.1)


@pytest.mark.parametrize(("air", "less"), [("constraint", 1e-3), ("two-phase", 0.01), ("affine", 0.01)])
def test_it_falls_as_in_a_vacuum(runs, air, less):
    """Closed air flows around it and takes nothing; air that has inertia takes less than a hundredth."""

    def fallen(run: Simulation) -> float:
        p = run.state.particles
        return HEIGHT - float(np.average(p.position[:, 1], weights=p.volume[:, 0]))

    free = fallen(runs["vacuum"])
    steps, dt = runs["vacuum"].state.step, runs["vacuum"].state.time / runs["vacuum"].state.step
    # Every step moves by the velocity that it ends with: g dt, 2 g dt, ...
    assert free == pytest.approx(0.5 * steps * (steps + 1) * 9.81 * dt**2, rel=0.01)
    assert fallen(runs[air]) == pytest.approx(free, rel=less)
