"""Tables 4.1 to 4.8 of Batty (2010), entry by entry, and the schemes that do better on the same problems."""

import time

import numpy as np
import pytest

from glug.errors import InputError
from glug.studies.problems.manufactured import PROBLEMS
from glug.studies.registry import STUDIES, StudyOptions, run_study
from glug.studies.validate.tables.convergence import Discretised
from glug.studies.validate.tables.published import grids, published
from glug.studies.validate.tables.stokes_3d import REFERENCE, PublishedFlow, Swirl

TOLERANCE = {"pressure": 0.02, "viscosity": 0.01, "stokes": 0.01}


def average_order(name: str, scheme: str, quantity: str, norm: int, coarse: int, fine: int) -> float:
    errors = []
    for n in (coarse, fine):
        discretised = Discretised(PROBLEMS[name], n)
        errors.append(discretised.errors(discretised.solve(scheme))[quantity][norm])
    return float(np.log2(errors[0] / errors[1]) / np.log2(fine / coarse))


@pytest.mark.parametrize("n", [16, 32, 64, 128])
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_published_entry(name, n):
    problem = PROBLEMS[name]
    discretised = Discretised(problem, n)
    for quantity, errors in discretised.errors(discretised.solve("published")).items():
        assert errors == pytest.approx(published()[problem.table, quantity, n], rel=TOLERANCE[problem.physics])


def test_the_published_tables_are_complete():
    for problem in PROBLEMS.values():
        for quantity in problem.quantities:
            for n in (16, 32, 64, 128, 256, 512, 1024):
                assert all(value > 0 for value in published()[problem.table, quantity, n])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "stokes-free-surface",
            {
                "u": (-0.75921543, -1.86497493),
                "v": (-0.11672539, 0.08054317),
                "u_star": (-1.04737503, -10.61880106),
                "v_star": (5.34156433, -4.80543657),
                "p": (-0.97982031, 0.56349093),
                "tau_xx": (0.19894031, -0.55256099),
                "tau_xy": (-1.24851230, -0.49981645),
            },
        ),
        (
            "stokes-mixed",
            {
                "u": (-0.71403226, -1.92957161),
                "v": (-0.07998164, 0.02995497),
                "u_star": (-0.95479903, -12.64330916),
                "v_star": (5.16896388, -5.45032932),
                "p": (-0.87895735, 0.54336514),
                "tau_xx": (0.13482819, -0.56603090),
                "tau_xy": (-1.25046886, -0.56684918),
            },
        ),
    ],
)
def test_the_oscillating_flows_have_their_symbolic_values(name, values):
    """At (0.3, 0.4) and (-0.2, 0.55), from a computer algebra system."""
    fields = PROBLEMS[name].fields(np.array([[0.3, 0.4], [-0.2, 0.55]]))
    for quantity, expected in values.items():
        assert fields[quantity] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_flows_satisfy_their_equations(name):
    """Without divergence, stresses of the velocity, and no traction or no velocity on the boundary."""
    problem, h = PROBLEMS[name], 1e-5
    rng = np.random.default_rng(0)
    r, t = rng.uniform(problem.inner[0] + 0.05, problem.outer[0] - 0.05, 50), rng.uniform(0, 2 * np.pi, 50)
    points = np.column_stack([r * np.cos(t), r * np.sin(t)])

    def slope(quantity: str, axis: int) -> np.ndarray:
        step = h * np.eye(2)[axis]
        return (problem.fields(points + step)[quantity] - problem.fields(points - step)[quantity]) / (2 * h)

    fields = problem.fields(points)
    assert np.abs(slope("u", 0) + slope("v", 1)).max() < 1e-6
    stress = {"tau_xx": 0.0 * r, "tau_xy": 0.0 * r}
    if problem.physics != "pressure":
        stress = {"tau_xx": 0.1 * (slope("u", 0) - slope("v", 1)), "tau_xy": 0.1 * (slope("u", 1) + slope("v", 0))}
        for quantity, value in stress.items():
            assert fields[quantity] == pytest.approx(value, abs=1e-5)
        force = [slope("tau_xx", 0) + slope("tau_xy", 1), slope("tau_xy", 0) - slope("tau_xx", 1)]
    else:
        force = [0.0 * r, 0.0 * r]
    grad = [slope("p", a) for a in (0, 1)] if problem.physics != "viscosity" else [0.0, 0.0]
    for a, (u, star) in enumerate((("u", "u_star"), ("v", "v_star"))):
        assert fields[star] == pytest.approx(fields[u] + grad[a] - force[a], abs=1e-4)
    for radius, kind in (problem.outer, problem.inner):
        if radius == 0:
            continue
        ring = radius * np.column_stack([np.cos(t), np.sin(t)])
        edge = {"tau_xx": 0 * t, "tau_xy": 0 * t, **problem.fields(ring)}
        x, y = ring.T / radius
        if kind == "air":
            p = edge["p"] if problem.physics != "viscosity" else 0.0
            assert np.abs((edge["tau_xx"] - p) * x + edge["tau_xy"] * y).max() < 1e-10
            assert np.abs(edge["tau_xy"] * x - (edge["tau_xx"] + p) * y).max() < 1e-10
        elif problem.physics == "pressure":
            assert np.abs(edge["u"] * x + edge["v"] * y).max() < 1e-12
        else:
            spin = problem.spin if radius == problem.inner[0] else 0.0
            assert np.abs(edge["u"] - spin * ring[:, 1]).max() < 1e-10


# Table 4.10: apparent orders (Linf, L1) by problem and kind of quantity.
APPARENT = {
    ("4.1", "p"): (1, 1),
    ("4.1", "u"): (0, 1),
    ("4.2", "p"): (1, 1),
    ("4.2", "u"): (0, 1),
    ("4.3", "tau"): (1, 2),
    ("4.3", "u"): (0, 1),
    ("4.4", "tau"): (0, 1),
    ("4.4", "u"): (1, 2),
    **{(table, "p"): (0, 1) for table in ("4.5", "4.6", "4.7", "4.8")},
    **{(table, "tau"): (0, 1) for table in ("4.5", "4.6", "4.7", "4.8")},
    **{(table, "u"): (1, 1) for table in ("4.5", "4.6", "4.7", "4.8")},
}


def test_the_published_errors_have_the_apparent_orders():
    """From 128 to 1024, rounded: what the source summarises."""
    for problem in PROBLEMS.values():
        for quantity in problem.quantities:
            coarse, fine = (np.array(published()[problem.table, quantity, n]) for n in (128, 1024))
            assert tuple(np.rint(np.log2(coarse / fine) / 3)) == APPARENT[problem.table, quantity.split("_")[0]]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_our_errors_have_the_apparent_orders(name):
    """From 64 to 256. The velocity of Stokes flow falls faster than its order 1 in L1 there, as the published does."""
    problem = PROBLEMS[name]
    errors = []
    for n in (64, 256):
        discretised = Discretised(problem, n)
        errors.append(discretised.errors(discretised.solve("published")))
    for quantity in problem.quantities:
        order = np.log2(np.array(errors[0][quantity]) / np.array(errors[1][quantity])) / 2
        theirs = [np.array(published()[problem.table, quantity, n]) for n in (64, 256)]
        # Table 4.2 at 256 is the outlier: the published u differs by 16 %.
        assert order == pytest.approx(np.log2(theirs[0] / theirs[1]) / 2, abs=0.13 if problem.table == "4.2" else 0.02)
        apparent = np.array(APPARENT[problem.table, quantity.split("_")[0]])
        early = 0.9 if (problem.physics, quantity) == ("stokes", "u") else 0.5
        assert (order > apparent - 0.5).all()
        assert (order < apparent + early).all()


def test_full_stress_converges_where_the_published_scheme_does_not():
    better = average_order("viscosity-free-surface", "full-stress", "u", 0, 32, 256)
    theirs = average_order("viscosity-free-surface", "published", "u", 0, 32, 256)
    assert better >= 1.7
    assert theirs < 0.3


@pytest.mark.parametrize(
    ("name", "scheme"), [("pressure-free-surface", "ghost-fluid"), ("pressure-walls", "open-area")]
)
def test_areas_and_ghost_fluid_are_second_order_in_the_pressure(name, scheme):
    assert average_order(name, scheme, "p", 0, 32, 256) >= 1.7
    assert average_order(name, "published", "p", 0, 32, 256) < 1.3
    assert average_order(name, scheme, "u", 0, 32, 256) >= 0.7
    assert average_order(name, "published", "u", 0, 32, 256) < 0.3


@pytest.mark.parametrize("scheme", ["laplacian-neumann", "laplacian-dirichlet"])
def test_componentwise_laplacians_do_not_converge_at_a_free_surface(scheme):
    assert average_order("viscosity-free-surface", scheme, "u", 1, 32, 128) < 0.3


def test_voxelised_walls_keep_their_steps():
    for n in (32, 64, 128):
        discretised = Discretised(PROBLEMS["pressure-walls"], n)
        assert discretised.errors(discretised.solve("voxelised"))["u"][0] > 0.5


def test_rows_have_ratios_and_orders():
    rows = run_study("pressure-walls", StudyOptions(largest_grid=32))
    assert "pressure-walls" in STUDIES
    (row,) = [r for r in rows if (r.table, r.grid, r.quantity, r.norm) == ("Table 4.2", 32, "p", "Linf")]
    assert row.published == 1.1997e-3
    assert row.ratio == pytest.approx(1.0, abs=0.01)
    assert row.order_published == pytest.approx(1.97, abs=0.01)
    assert row.order_ours == pytest.approx(1.97, abs=0.01)
    assert {r.published for r in rows if r.table == "open-area"} == {None}


def test_grids_double_up_to_the_largest():
    assert grids(100) == [16, 32, 64]
    with pytest.raises(InputError, match="16"):
        grids(8)


def test_the_swirl_between_balls_satisfies_its_equations():
    """Its stresses are those of its velocity and its input what the momentum equation asks for."""
    flow, h = Swirl(4), 1e-5
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(40, 3))
    points = rng.uniform(0.3, 0.95, (40, 1)) * direction / np.linalg.norm(direction, axis=1)[:, None]

    def slope(quantity: str, axis: int) -> np.ndarray:
        step = h * np.eye(3)[axis]
        return (flow.exact(points + step)[quantity] - flow.exact(points - step)[quantity]) / (2 * h)

    fields = flow.exact(points)
    assert np.abs(sum(slope("uvw"[a], a) for a in range(3))).max() < 1e-8
    for a, b in ((0, 0), (1, 1), (0, 1), (0, 2), (1, 2), (2, 2)):
        stress = 0.1 * (slope("uvw"[a], b) + slope("uvw"[b], a))
        assert fields[f"tau_{'xyz'[a]}{'xyz'[b]}"] == pytest.approx(stress, abs=1e-8)
    for a in range(3):
        force = sum(slope("tau_" + "".join(sorted("xyz"[a] + "xyz"[b])), b) for b in range(3))
        assert flow.start(points)[:, a] == pytest.approx(fields["uvw"[a]] + slope("p", a) - force, abs=1e-7)
    surface = direction / np.linalg.norm(direction, axis=1)[:, None]
    assert max(np.abs(v).max() for k, v in flow.exact(surface).items() if k not in "uvw") < 1e-14
    assert max(np.abs(flow.exact(0.25 * surface)[c]).max() for c in "uvw") < 1e-14


def test_stokes_flow_in_3d_converges():
    """A known flow from 12 to 24 cells. In the maximum norm only the velocity: stresses and pressure do not converge
    there in 2D either (Table 4.10)."""
    coarse, fine = (Swirl(n).errors() for n in (12, 24))
    assert set(coarse) == {"p", "u", "v", "w", "tau_xx", "tau_yy", "tau_xy", "tau_xz", "tau_yz"}
    order = {q: np.log2(np.array(coarse[q]) / np.array(fine[q])) for q in coarse}
    assert min(o[1] for o in order.values()) > 1.5
    assert min(order[q][0] for q in "uvw") > 1.5


@pytest.mark.slow
def test_the_published_flow_in_3d_converges_towards_a_finer_solution():
    """In L1 and, the velocity, in the maximum norm; stresses do not converge reliably there."""
    reference = PublishedFlow(REFERENCE)
    coarse, fine = (PublishedFlow(n).errors(reference) for n in (24, 48))
    order = {q: np.log2(np.array(coarse[q]) / np.array(fine[q])) for q in coarse}
    print({q: o.round(2).tolist() for q, o in order.items()})
    assert len(order) == 9
    assert min(o[1] for o in order.values()) >= 0.8
    assert min(order[q][0] for q in "uvw") >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_table_up_to_256_takes_less_than_a_minute(name):
    begin = time.perf_counter()
    rows = run_study(name, StudyOptions(largest_grid=256))
    seconds = time.perf_counter() - begin
    print(f"{name}: {seconds:.1f} s")
    assert max(row.grid for row in rows) == 256
    assert seconds < 60.0
