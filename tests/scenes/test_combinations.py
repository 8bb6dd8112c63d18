"""Any two features go together: the table of all pairs, each run for a few steps and held to its invariants.

Pairs of {rigid bodies, slip, separating walls, octree viscosity, viscosity that varies with heat, several densities,
affine tiles, and the four kinds of air}. What does not go together is refused for a physical reason.
"""

import functools

import numpy as np
import pytest
from combinations import AIRS, CELLS, missing, pairs, run, scene, watched

from glug.errors import SceneError
from glug.simulation import Simulation
from glug.simulation.context import StepContext

REFUSED = {("separating", "affine"), ("separating", "two-phase")}  # the air flows in behind the liquid: nothing opens
GRAVITY = 9.81
REST = 0.16  # of g dt: what a surface that was just seeded moves by, in thick liquid
PLAIN = {2: 0.2, 3: 0.18}  # of g dt: in thin liquid it is 0.174 and 0.161 where forces act for whole steps
PLAIN_LEAPFROG = {2: 0.17, 3: 0.165}  # 0.150 and 0.146 where the first step has half a push
MORE = 1.12  # of what it moves by in the plain pool: with tiles it is 1.1, with all else 1.02 at most
PUSH, STEPS = 0.5, 3  # [m/s]


PAIRS = [(3, *p) for p in pairs() if p not in REFUSED]
PAIRS += [(2, *p) for _, *p in PAIRS if "octree" not in p]  # by the reference solvers
PAIRS += [(3, "stokes", other) for other in ("bodies", "slip", "heat", "densities", "constraint")]


@functools.cache
def plain_speed(dim: int, whole_steps: bool) -> float:
    """The largest speed [m/s] in the pool with no feature at all, which is level but for its particles' places.

    With bodies forces act for whole steps, the first one too.
    """
    with pytest.MonkeyPatch.context() as patch:
        if whole_steps:
            patch.setattr(StepContext, "leapfrog", False)
        still = run(scene(dim=dim), STEPS)[1][-1]
    assert still.max_speed < (PLAIN if whole_steps else PLAIN_LEAPFROG)[dim] * GRAVITY * still.dt
    return still.max_speed


@pytest.mark.parametrize(("dim", "one", "other"), PAIRS)
def test_a_pair_rests_and_moves(dim, one, other):
    pair = one, other
    _, resting = run(scene(*pair, dim=dim), STEPS)
    still = resting[-1]
    assert still.max_speed < MORE * plain_speed(dim, whole_steps="bodies" in pair)
    pushed = scene(*pair, dim=dim, push=PUSH)
    simulation, moving, seen = watched(pushed, STEPS)
    assert not missing(pair, simulation, moving[-1], seen)
    for stats in resting + moving:
        assert all(solve.converged for solve in stats.solves.values()), stats.solves
        assert not stats.warnings
        assert abs(stats.liquid_volume / stats.target_volume - 1.0) < 0.02
    p = simulation.state.particles
    assert len(p) == len(Simulation(pushed).state.particles)
    assert (p.position >= 0.0).all() and (p.position <= 1.0).all()
    for solid in simulation.setting.solids_with(simulation.state.bodies):
        assert solid.distance(p.position.astype(float), 0.0).min() > -0.1 / CELLS  # none inside
    # Walls take momentum and energy from the liquid, and give none; a pool that moves sideways falls nowhere yet.
    assert seen["energy"][1] < seen["energy"][0]
    mass = p.volume[:, 0].astype(float)
    assert 0.0 < (mass * p.velocity[:, 0]).sum() / mass.sum() < PUSH


def test_at_most_four_pairs_are_refused_each_for_its_reason():
    assert len(REFUSED) <= 4
    for pair in REFUSED:
        with pytest.raises(SceneError, match=r"separating with .* air: it flows in behind the liquid"):
            Simulation(scene(*pair))


@pytest.mark.parametrize("other", [*AIRS, "tiles"])
def test_a_neutral_body_stays_neutral_under_every_air_and_beside_tiles(other):
    simulation, stats = run(scene("bodies", other), 6)
    speed = np.abs(simulation.state.bodies[0].velocity_of_centre).max()
    assert speed < 1e-3 * GRAVITY * stats[-1].dt * len(stats)
    heavy = scene("bodies", other)
    heavy["solids"][0]["density"] = 1500.0
    sinking, _ = run(heavy, 6)
    assert sinking.state.bodies[0].velocity_of_centre[1] < -0.05 * GRAVITY * 0.06  # the control


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("air", ["constraint", "vacuum"])
def test_a_body_in_an_open_pool_has_no_bubble_to_meet(air, dim):
    """Open at the top there is no closed air: bubbles that could be there change nothing."""
    made = scene("bodies", air, dim=dim, push=PUSH)
    made["domain"]["sides"] = {"top": "open"}
    without = scene("bodies", dim=dim, push=PUSH)
    without["domain"]["sides"] = {"top": "open"}
    found = [run(each, 2)[0].state.bodies[0].velocity_of_centre for each in (made, without)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("air", ["vacuum", "two-phase"])
def test_a_light_liquid_rests_on_a_heavy_one(air, dim):
    """Five times lighter, at the surface: a face that is partly air has the density of its liquid part."""
    fastest = [run(scene(*kind, air, dim=dim, light_on_top=280.0), 4)[1][-1].max_speed for kind in (["densities"], [])]
    assert fastest[0] == pytest.approx(fastest[1], rel=0.05)  # as one liquid does


@pytest.mark.parametrize("viscosity", ["multigrid", "octree"])
def test_two_viscous_layers_of_different_densities_rest(viscosity):
    """The heavier below; side by side they do not."""
    made = scene("densities", "octree")
    made["solver"]["viscosity"] = viscosity
    _, stats = run(made, 4)
    resting = stats[-1].max_speed
    assert resting < REST * GRAVITY * stats[-1].dt
    for volume, (left, right) in zip(made["volumes"], ((0.0, 0.5), (0.5, 1.0))):
        volume["shape"] = {"kind": "box", "lower": [left, 0.0, 0.0], "upper": [right, 0.6, 1.0]}
    _, stats = run(made, 4)
    assert stats[-1].max_speed > 3 * resting


@pytest.mark.parametrize("other", ["bodies", "octree", "densities", "tiles", "heat", "slip"])
def test_no_wall_that_lets_go_pulls_whatever_else_there_is(other):
    """A pool thrown upwards leaves its floor; one at ordinary walls is held by suction."""

    def rising(*features: str) -> float:
        made = scene(*features)
        for volume in made["volumes"]:
            volume["velocity"] = [0.0, PUSH, 0.0]
        simulation, _ = run(made, 1)
        p = simulation.state.particles
        low = p.position[:, 1] < 0.1
        return float(p.velocity[low, 1].mean())

    assert rising("separating", other) > 0.6 * PUSH
    assert rising(other) < 0.2 * PUSH
