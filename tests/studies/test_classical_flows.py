"""Classical flows through whole runs: within the tolerance of the grid, converging, and not by accident."""

import pytest

from glug.physics import viscosity
from glug.studies import classical_flows
from glug.studies.classical_flows import FLOWS, Pipe, TaylorCouette, TaylorGreen, run
from glug.studies.registry import StudyOptions


def worst(flow) -> float:
    return max(largest for largest, _ in flow.errors(run(flow)).values())


@pytest.mark.parametrize(("name", "limit"), [("taylor-couette", 0.02), ("taylor-green", 0.04), ("pipe", 0.04)])
def test_errors_shrink_at_first_order(name, limit):
    """Half of 32 cells across may have twice the error that 32 may have."""
    coarse, fine = (worst(FLOWS[name](n)) for n in (8, 16))
    print(f"{name}: largest error {coarse:.4f} at 8 cells across, {fine:.4f} at 16")
    assert fine < limit
    assert fine <= 0.5 * coarse


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOWS)
def test_within_two_percent_at_32_cells_across(name):
    rows = classical_flows.study(StudyOptions(name=name))
    errors = {(r.grid, r.quantity): r.ours for r in rows if r.norm == "Linf"}
    largest = {n: max(e for (grid, _), e in errors.items() if grid == n) for n in (8, 16, 32)}
    print(f"{name}: largest errors {largest}")
    assert largest[32] < 0.02
    assert largest[32] <= 0.25 * largest[8]  # first order or better over two doublings


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


def test_pipe_follows_its_viscosity():
    """Negative control: the formula of a liquid a fifth thicker is off by that fifth."""
    flow = Pipe(8)
    simulation = run(flow)
    ours, exact = flow.values(simulation)["axis_speed"]
    assert abs(ours / exact - 1.0) < 0.03
    flow.speed /= 1.2
    ours, exact = flow.values(simulation)["axis_speed"]
    assert ours / exact > 1.15
