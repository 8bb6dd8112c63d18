"""The plane problem: boxes take as few iterations as published on any grid, plain conjugate gradients ever more."""

from glug.studies.bench.solves.viscosity_2d import PUBLISHED, measure


def test_iterations_stay_with_boxes_and_grow_without():
    box = [measure(n, "box") for n in (32, 64)]
    plain = [measure(n, "scipy-cg") for n in (32, 64)]
    assert all(r["residual"] <= 1e-6 for r in box + plain)
    assert all(r["iterations"] <= max(PUBLISHED["box"].values()) for r in box)
    assert plain[1]["iterations"] > 1.5 * plain[0]["iterations"]
