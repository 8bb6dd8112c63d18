"""Distances between surfaces of known bodies."""

import numpy as np
import pytest
import trimesh

from glug.geometry.sampled import SurfaceMesh
from glug.geometry.surface_distance import surface_distance


def mesh(body) -> SurfaceMesh:
    vertices = np.asarray(body.vertices, np.float32)
    return SurfaceMesh(vertices, np.asarray(body.faces, np.int32), np.zeros_like(vertices))


def ball(radius, x=0.0):
    return mesh(trimesh.creation.icosphere(subdivisions=4, radius=radius).apply_translation([x, 0, 0]))


def test_a_surface_is_not_apart_from_itself():
    assert surface_distance(ball(0.3), ball(0.3)) == pytest.approx((0.0, 0.0), abs=1e-7)


def test_concentric_balls_are_apart_by_the_difference_of_their_radii():
    # The faces of these balls lie up to 0.1% of the radius inside them.
    assert surface_distance(ball(0.3), ball(0.4)) == pytest.approx((0.1, 0.1), rel=0.005)


def test_mean_and_largest_differ_for_a_ball_inside_another_off_centre():
    # Over a sphere of radius R the mean of |p - c| with c at distance d from the middle is R + d^2 / (3 R).
    outer, inner, d = 0.25, 0.2, 0.05
    ways = (outer + d**2 / (3 * outer) - inner, outer - inner - d**2 / (3 * inner))
    mean, largest = surface_distance(ball(inner), ball(outer, d))
    assert mean == pytest.approx(np.mean(ways), rel=0.005)
    assert largest == pytest.approx(0.1, rel=0.005)


def test_it_does_not_matter_which_is_first():
    assert surface_distance(ball(0.2), ball(0.3, 0.4)) == pytest.approx(surface_distance(ball(0.3, 0.4), ball(0.2)))


def test_the_mean_is_over_area_not_over_vertices():
    """A coarse half and a fine half count alike."""
    plane = mesh(trimesh.creation.box(extents=[1.0, 1e-3, 1.0]))
    fine = trimesh.creation.box(extents=[1.0, 1e-3, 1.0]).subdivide().subdivide().subdivide()
    far = trimesh.creation.box(extents=[1.0, 1e-3, 1.0])
    both = trimesh.util.concatenate([fine, far.apply_translation([0, 0.2, 0])])
    mean, _ = surface_distance(mesh(both), plane)
    # One way half the area is 0 and half 0.2 away, the other way nothing is.
    assert mean == pytest.approx(0.5 * 0.1, rel=0.02)


def test_nothing_has_no_distance():
    nothing = SurfaceMesh(np.empty((0, 3), np.float32), np.empty((0, 3), np.int32), np.empty((0, 3), np.float32))
    assert surface_distance(nothing, ball(0.1)) is None
    assert surface_distance(ball(0.1), nothing) is None
