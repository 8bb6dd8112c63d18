"""Tracked curves: they split and collapse, join through the outside only, keep their area, never intersect."""

import numpy as np
import pytest

from glug.geometry.curves import kernels
from glug.geometry.curves.curve import TrackedCurve, circle, closed


def shear(points: np.ndarray, time: float) -> np.ndarray:
    """A vortex in the unit square that comes back after two seconds (LeVeque 1996)."""
    x, y = np.pi * points.T
    turn = np.cos(0.5 * np.pi * time)
    u, v = -(np.sin(x) ** 2) * np.sin(2 * y), np.sin(y) ** 2 * np.sin(2 * x)
    return turn * np.stack([u, v], axis=1)


def run(curve: TrackedCurve, until: float = 2.0, dt: float = 0.01) -> None:
    for n in range(round(until / dt)):
        curve.step(shear, n * dt, dt)


def test_a_disc_in_a_vortex_comes_back_with_its_area_and_without_intersections():
    curve = TrackedCurve(*circle((0.5, 0.75), 0.15, 60), 0.016)
    area = curve.volume()
    run(curve, 1.0)
    assert len(curve.vertices) > 80  # it has become long
    assert kernels.intersections(curve.vertices, curve.triangles) == 0
    for n in range(100, 200):
        curve.step(shear, n * 0.01, 0.01)
    radius = np.hypot(*(curve.vertices - [0.5, 0.75]).T)
    assert np.abs(radius - 0.15).max() < 0.5 * curve.dx
    assert curve.volume() == pytest.approx(area, rel=2e-3)
    assert kernels.intersections(curve.vertices, curve.triangles) == 0


def two_discs(gap: float) -> TrackedCurve:
    """Discs with edges that face each other, `gap` cells apart."""
    one, segments = circle((0.0, 0.0), 0.5, 32)
    turned = one @ np.array([[np.cos(np.pi / 32), np.sin(np.pi / 32)], [-np.sin(np.pi / 32), np.cos(np.pi / 32)]])
    other = -turned + [2.0 * 0.5 * np.cos(np.pi / 32) + gap * 0.1, 0.0]
    return TrackedCurve(np.concatenate([turned, other]), np.concatenate([segments, segments + 32]), 0.1)


@pytest.mark.parametrize("gap, parts", [(0.2, 2), (0.04, 1)])
def test_discs_become_one_when_they_are_near(gap, parts):
    curve = two_discs(gap)
    area = curve.volume()
    for _ in range(3):
        curve.improve()
        curve.join()
        curve.settle()
    assert len(curve.target) == parts
    assert kernels.intersections(curve.vertices, curve.triangles) == 0
    assert curve.volume() == pytest.approx(area, rel=5e-3)
    assert curve.target.sum() == pytest.approx(area, rel=1e-9)


def test_a_thin_sheet_stays_a_sheet():
    x = np.array([[a, -0.002] for a in np.linspace(0, 1, 11)] + [[a, 0.002] for a in np.linspace(1, 0, 11)])
    curve = TrackedCurve(x, closed(len(x)), 0.1)
    area = curve.volume()
    for _ in range(5):
        curve.improve()
        curve.join()
        curve.settle()
    assert curve.volume() == pytest.approx(area, rel=0.05)
    assert len(curve.target) == 1


def test_motions_that_would_meet_are_shortened():
    curve = two_discs(0.2)
    away = np.where(np.arange(64)[:, None] < 32, [0.3, 0.0], [0.0, 0.0])
    assert kernels.intersections(curve.vertices + away, curve.triangles) > 0  # control
    curve.move(away)
    assert kernels.intersections(curve.vertices, curve.triangles) == 0
    assert curve.vertices[:32, 0].mean() > 0.01


def test_a_hole_belongs_to_the_liquid_around_it():
    outer, segments = circle((0.0, 0.0), 1.0, 64)
    inner = circle((0.1, 0.0), 0.4, 26)[0][::-1]
    curve = TrackedCurve(np.concatenate([outer, inner]), np.concatenate([segments, closed(26) + 64]), 0.1)
    assert curve.target.max() == pytest.approx(curve.volume())
    assert curve.target.min() == 0.0
