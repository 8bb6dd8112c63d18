"""The tracked surface stays closed and free of intersections whatever happens to it, and keeps its volumes."""

from dataclasses import replace

import numpy as np
import pytest

from glug import jit
from glug.errors import InputError
from glug.geometry.mesh import count_holes
from glug.geometry.tracking import collisions
from glug.geometry.tracking.collisions import clean
from glug.geometry.tracking.exact import intersections, segment_meets_triangle
from glug.geometry.tracking.surface import Limits, TrackedSurface
from glug.geometry.tracking.volumes import inherited
from glug.studies.validate.surfaces.tracking import Crowd, Unchecked, ball, deformation, enright, random_events

DX = 0.1


def balls(*given):
    """Balls (centre, radius) as one surface with edges of DX; a negative radius is a cavity."""
    meshes = [ball(centre, abs(radius), DX) for centre, radius in given]
    first = np.cumsum([0] + [len(v) for v, _ in meshes])
    turned = [t if radius > 0 else t[:, ::-1] for (_, t), (_, radius) in zip(meshes, given)]
    triangles = np.concatenate([t + n for n, t in zip(first, turned)])
    return TrackedSurface(np.concatenate([v for v, _ in meshes]), triangles, DX)


def euler(surface):
    """Vertices - edges + triangles: twice the number of balls, less two for every handle."""
    return len(surface.vertices) - len(surface.triangles) // 2


def whole(surface):
    return count_holes(surface.triangles) == 0 and len(intersections(surface.vertices, surface.triangles)) == 0


def test_improving_brings_edges_into_their_bounds_and_keeps_the_volume():
    surface = balls(((0, 0, 0), 0.5))
    surface.vertices[:, 0] *= 3.0  # edges up to three times too long
    before = surface.volume()
    for _ in range(8):
        surface.improve()
        surface.move(surface.smoothing())
    ends = surface.vertices[surface.triangles], surface.vertices[np.roll(surface.triangles, 1, axis=1)]
    edges = np.linalg.norm(ends[0] - ends[1], axis=2)
    assert surface.events["split"] > 0 and surface.events["flip"] > 0
    assert edges.min() > 0.4 * DX and edges.max() < 1.6 * DX
    assert surface.volume() == pytest.approx(before, rel=0.02)
    assert whole(surface) and euler(surface) == 2


def test_balls_that_are_pushed_together_become_one_and_keep_their_volume():
    surface = balls(((-0.36, 0, 0), 0.3), ((0.36, 0.03, 0.02), 0.3))
    before = surface.volume()

    def together(points, t):
        return -np.sign(points[:, :1]) * np.array([[1.0, 0.0, 0.0]]) * (np.abs(points[:, :1]) > 0.03)

    assert len(surface.target) == 2
    for n in range(25):
        surface.step(together, 0.01 * n, 0.01)
        assert whole(surface)
    assert surface.events["weld"] >= 1 and len(surface.target) == 1
    assert surface.target.sum() == pytest.approx(before, rel=1e-12)


def test_a_thin_neck_is_cut():
    surface = balls(((0, 0, 0), 0.3))
    before = surface.volume()

    def apart(points, t):
        x, y, z = points.T
        away = np.tanh(4.0 * x)
        waist = 2.0 * (1.0 - np.tanh(4.0 * x) ** 2)  # d(away)/dx / 2: no divergence
        return np.stack([away, -waist * y, -waist * z], axis=1)

    for n in range(150):
        surface.step(apart, 0.01 * n, 0.01)
        if len(surface.target) > 1:
            break
    assert surface.events["cut"] >= 1 and len(surface.target) >= 2
    assert whole(surface)
    assert surface.target.sum() + surface.vanished == pytest.approx(before, rel=1e-6)


def test_a_sheet_much_thinner_than_an_edge_is_not_pierced():
    surface = balls(((0, 0, 0), 0.6))
    surface.vertices[:, 2] *= 0.04 * DX / 0.6  # 0.08 of an edge thick in the middle
    surface = TrackedSurface(surface.vertices, surface.triangles, DX)
    before = surface.volume()
    for n in range(20):
        surface.step(lambda points, t: np.array([[0.0, 0.0, -1.0]]) + 0.0 * points, 0.05 * n, 0.05)
    assert len(surface.target) == 1 and whole(surface)
    assert surface.vertices[:, 2].mean() < -0.9  # it fell as far as it should
    assert surface.volume() == pytest.approx(before, rel=0.05)


def test_a_motion_through_another_surface_is_shortened():
    surface = balls(((0, 0, 0), 0.2), ((0, 0, 0.45), 0.2))
    d = np.zeros_like(surface.vertices)
    d[surface.vertices[:, 2] > 0.225, 2] = -0.3
    allowed, _ = clean(surface.vertices, d, surface.triangles, 0.02 * DX)
    assert len(intersections(surface.vertices + d, surface.triangles)) > 0
    assert len(intersections(surface.vertices + allowed, surface.triangles)) == 0
    assert np.abs(allowed).max() == pytest.approx(0.3)  # far from where they meet nothing is held back
    assert (surface.vertices + allowed)[:, 2].max() < surface.vertices[:, 2].max()


def test_surfaces_that_meet_go_on_together(monkeypatch):
    """Two boxes' worth of ball, pressed a little against each other while both move by an edge; not so before."""
    surface = balls(((0, 0, 0), 0.2), ((0, 0, 0.43), 0.2))
    x = surface.vertices
    upper = x[:, 2] > 0.215
    apart = x[upper, 2].min() - x[~upper, 2].max()
    x[upper, 2] -= apart - 0.03 * DX
    d = np.tile([0.0, 0.0, -DX], (len(x), 1))
    d[upper, 2] -= 0.2 * DX
    at = np.abs(x[:, 2] - x[~upper, 2].max()) < 0.02 * DX  # where they meet
    assert at.sum() >= 1
    found = []
    for passes in (collisions.TOGETHER, 0):
        monkeypatch.setattr(collisions, "TOGETHER", passes)
        allowed, _ = clean(x, d, surface.triangles, 0.02 * DX)
        assert len(intersections(x + allowed, surface.triangles)) == 0
        found.append(allowed[at, 2] / -DX)
    assert found[0].min() > 0.95
    assert found[1].max() < 0.5


def test_an_independent_library_finds_no_collision_in_what_is_allowed():
    ipctk = pytest.importorskip("ipctk")
    crowd = Crowd(3)
    surface = crowd.surface
    mesh = ipctk.CollisionMesh(surface.vertices, ipctk.edges(surface.triangles), surface.triangles)
    d = 0.12 * crowd.velocity(surface.vertices, 0.0)
    allowed, _ = clean(surface.vertices, d, surface.triangles, 0.02 * surface.dx)
    step = ipctk.compute_collision_free_stepsize
    assert step(mesh, surface.vertices, surface.vertices + d) < 1.0
    assert step(mesh, surface.vertices, surface.vertices + allowed) == 1.0
    assert not ipctk.has_intersections(mesh, surface.vertices + allowed)


def test_the_same_bits_on_any_number_of_threads():
    found = []
    for count in (1, 2):
        crowd = Crowd(5)
        with jit.threads(count):
            for n in range(12):
                crowd.step(n, lambda: None)
        found.append(crowd.surface)
    assert (found[0].triangles == found[1].triangles).all()
    assert (found[0].vertices == found[1].vertices).all()


def test_the_exact_check_sees_touching_and_nothing_else():
    a, b, c = np.eye(3)
    middle = (a + b + c) / 4  # below the plane x + y + z = 1
    out = np.full(3, 0.25 + 2.0**-50)
    assert segment_meets_triangle(middle, 2 * middle, a, b, c)
    assert segment_meets_triangle(middle, a + 0.0, a, b, c)  # ends in a corner
    assert not segment_meets_triangle(middle, out, a, b, c)
    assert not segment_meets_triangle(np.array([1.0, 1e-9, 0.0]), np.array([2.0, 0.0, 0.0]), a, b, c)
    assert segment_meets_triangle(np.array([1.0 - 2.0**-53, 0.0, 0.0]), np.array([2.0, 0.0, 0.0]), a, b, c)


def test_the_exact_check_decides_in_a_plane():
    a, b, c = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])

    def meets(p, q):
        return segment_meets_triangle(np.array([*p, 1.0]), np.array([*q, 1.0]), a, b, c)

    assert meets((0.1, 0.1), (0.2, 0.2))  # inside
    assert meets((-1.0, 0.3), (2.0, 0.3))  # through
    assert meets((0.5, 0.5), (1.0, 1.0))  # begins on an edge
    assert not meets((0.6, 0.6), (0.9, 0.3))  # its box meets that of the triangle
    assert not meets((2.0, 0.0), (3.0, 0.0))  # in line with an edge


def test_parts_hand_their_volume_on():
    before, after = np.array([0, 0, 1, 1, 2, 2, -1]), np.array([0, 0, 0, 0, 1, 2, 2])
    # 0 and 1 have become 0, 2 has come apart into 1 and 2
    target = inherited(before, np.array([3.0, 4.0, 6.0]), after, np.array([7.5, 1.0, 2.0]))
    assert target == pytest.approx([7.0, 2.0, 4.0])


def test_a_cavity_keeps_no_volume_of_its_own():
    surface = balls(((0, 0, 0), 0.4), ((0, 0, 0), -0.2))
    assert surface.target[1] == 0.0
    assert surface.target[0] == pytest.approx(surface.volume())
    surface.vertices[surface.part == 1] *= 0.75  # it collapses, and the surface around has not followed
    wanted = surface.correction()
    assert (np.linalg.norm(wanted[surface.part == 1], axis=1) == 0.0).all()
    assert (np.einsum("ij,ij->i", wanted, surface.vertices)[surface.part == 0] < 0.0).all()


def test_an_open_surface_is_refused():
    vertices, triangles = ball((0, 0, 0), 0.3, DX)
    with pytest.raises(InputError, match="closed"):
        TrackedSurface(vertices, triangles[1:], DX).improve()


def test_a_deformation_there_and_half_back_keeps_the_volume_and_does_not_intersect():
    found = enright(0.06, steps=60)
    assert found["volume_error_max"] < 0.02
    assert found["intersections"] == 0


def test_random_events_do_not_intersect_and_without_the_check_they_do():
    found = random_events(12, 2)
    assert found["events"] >= 12 and found["intersecting"] == 0
    assert random_events(12, 2, Unchecked)["intersecting"] > 0


def test_without_the_correction_volume_drifts():
    surface = TrackedSurface(*ball((0.35, 0.35, 0.35), 0.15, 0.06), 0.06, replace(Limits(), correction=0.0))
    other = TrackedSurface(*ball((0.35, 0.35, 0.35), 0.15, 0.06), 0.06)
    before = surface.volume()
    for n in range(100):
        surface.step(deformation, 0.01 * n, 0.01)
        other.step(deformation, 0.01 * n, 0.01)
    assert abs(surface.volume() / before - 1.0) > 5.0 * abs(other.volume() / before - 1.0)
