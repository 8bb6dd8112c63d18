"""Classical flows through whole runs: within the tolerance of the grid, converging, and not by accident."""

import numpy as np
import pytest

from glug.physics.viscosity import problem as viscosity
from glug.studies.registry import StudyOptions
from glug.studies.validate import classical_flows
from glug.studies.validate.classical_flows import FLOWS, Pipe, TaylorCouette, TaylorGreen, run
from glug.studies.validate.slip import TaylorCouetteSlipOctree


def worst(flow) -> float:
    return max(largest for largest, _ in flow.errors(run(flow)).values())


@pytest.mark.parametrize(("name", "limit"), [("taylor-couette", 0.02), ("taylor-green", 0.04), ("pipe", 0.04)])
def test_errors_shrink_at_about_first_order(name, limit):
    """Half of 32 cells across may have twice the error that 32 may have. Every component by itself."""
    coarse, fine = (flow.errors(run(flow)) for flow in (FLOWS[name](n) for n in (8, 16)))
    order = {c: np.log2(np.divide(coarse[c], fine[c])) for c in coarse}
    print(f"{name}: errors {fine} at 16 cells across, orders {order}")
    assert max(largest for largest, _ in fine.values()) < limit
    assert min(o.min() for o in order.values()) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOWS)
def test_within_two_percent_at_32_cells_across(name):
    rows = classical_flows.study(StudyOptions(name=name))
    errors = {(r.grid, r.quantity, r.norm): r.ours for r in rows if r.norm != "value"}
    components = {quantity for _, quantity, _ in errors}
    assert max(errors[32, c, "Linf"] for c in components) < 0.02
    for c in components:
        for norm in ("Linf", "L1"):
            order = np.log2(errors[8, c, norm] / errors[32, c, norm]) / 2
            print(f"{name}: {c} {norm} {errors[32, c, norm]:.4f} at 32 cells, average order {order:.2f}")
            assert order >= 0.9


def test_faces_next_to_curved_walls_must_move_with_them(monkeypatch):
    """Negative control, with the axis in the middle of a cell, where many faces nearly touch the cylinders."""
    monkeypatch.setattr(classical_flows, "OFFSET", 0.5)
    monkeypatch.setattr(TaylorCouette, "steps", 4)  # 0.4% of the start is left
    held = worst(TaylorCouette(16))
    monkeypatch.setattr(viscosity, "NEAR_SOLID", 0.0)
    loose = worst(TaylorCouette(16))
    print(f"largest error {held:.4f}, and {loose:.4f} if they are not held")
    assert held < 0.02 < loose


def test_vortex_between_sticking_walls_decays_faster():
    """Negative control of the slip walls."""
    flow = TaylorGreen(8)
    scene = flow.scene()
    scene["domain"]["sides"] = "closed"
    flow.scene = lambda: scene  # type: ignore[method-assign]
    ((ours, exact),) = flow.values(run(flow)).values()
    assert ours > 1.5 * exact


def test_what_the_ends_of_the_pipe_add_is_half_in_one_twice_as_long(monkeypatch):
    """So the force that the formula takes from the run is not what makes it fit: it tends to gravity alone."""
    added = []
    for length in (Pipe.length, 2 * Pipe.length):
        monkeypatch.setattr(Pipe, "length", length)
        flow = Pipe(8)
        added.append(flow.pull(run(flow)) - 1.0)
    print(f"p' / (rho g): {added[0]:.4f}, and {added[1]:.4f} in a pipe twice as long")
    assert 0.02 < added[0] < 0.05
    assert added[1] == pytest.approx(0.5 * added[0], rel=0.1)


def test_pipe_follows_its_viscosity():
    """Negative control: the formula of a liquid a fifth thicker is off by that fifth."""
    flow = Pipe(8)
    simulation = run(flow)
    ours, exact = flow.values(simulation)["axis_speed"]
    assert abs(ours / exact - 1.0) < 0.03
    flow.speed /= 1.2
    ours, exact = flow.values(simulation)["axis_speed"]
    assert ours / exact > 1.15


def test_slip_on_an_octree_is_the_formulas():
    """Taylor-Couette flow with a slip length of a quarter of the gap, in 3D; sticking walls miss it by far."""
    flow = TaylorCouetteSlipOctree(16, 0.25, 0.25)
    simulation = run(flow)
    assert simulation.state.fields["level"].max() > 0  # there are coarser leaves
    assert max(largest for largest, _ in flow.errors(simulation).values()) < 0.03
