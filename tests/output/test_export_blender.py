"""Exports opened in Blender: frames, scale, axes, topology, velocities."""

import blender
import numpy as np
import pytest
from export_runs import FPS, make_run, particles, scene, surface

from glug.output.export import export_run
from glug.scene.shapes.solid_mesh import rest_mesh

FRAMES = range(5)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["usd", "abc"])
def opened(request, tmp_path_factory):
    blender.require_blender()
    if request.param == "usd":
        pytest.importorskip("pxr", reason="usd-core is not installed: pip install 'glug[usd]'")
    else:
        pytest.importorskip("alembic3d", reason="alembic3d is not installed: pip install 'glug[alembic]'")
    run = make_run(tmp_path_factory.mktemp("blender") / "run")
    return blender.open_in_blender(export_run(run.path, request.param).path, FPS)


def z_up(points):
    """glug's (x, y, z) with y up, in Blender's axes."""
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)


def test_all_frames_are_there_and_no_more(opened):
    assert (opened["first"], opened["last"]) == (0, 4)
    assert opened["metres"] == 1.0


def test_liquid_has_its_size_place_and_topology_in_every_frame(opened):
    for index in FRAMES:
        found, expected = opened["frames"][str(index)]["liquid"], surface(index)
        assert (found["points"], found["faces"]) == (len(expected.vertices), len(expected.triangles))
        world = z_up(expected.vertices)
        np.testing.assert_allclose(found["lower"], world.min(0), atol=1e-6)
        np.testing.assert_allclose(found["upper"], world.max(0), atol=1e-6)
        # Positive: the faces look outwards.
        assert found["volume"] == pytest.approx(expected.volume(), rel=1e-4)


def test_velocities_arrive_for_motion_blur(opened):
    for index in FRAMES:
        expected = z_up(surface(index).velocities.mean(0))
        np.testing.assert_allclose(opened["frames"][str(index)]["liquid"]["velocity"], expected, atol=1e-5)


def test_particles_arrive(opened):
    for index in FRAMES:
        found, expected = opened["frames"][str(index)]["particles"], particles(index)
        assert found["points"] == len(expected["id"])
        np.testing.assert_allclose(found["upper"], z_up(expected["position"]).max(0), atol=1e-6)


def test_solids_move_as_they_did(opened):
    rest, _ = rest_mesh(scene().solids[0], scene().domain)
    places = []
    for index in FRAMES:
        R, x = scene().solids[0].motion.pose(index / FPS)
        world = z_up(rest @ R.T + x)
        found = opened["frames"][str(index)]["paddle_1"]
        np.testing.assert_allclose(found["lower"], world.min(0), atol=1e-5)
        np.testing.assert_allclose(found["upper"], world.max(0), atol=1e-5)
        places.append(found["lower"])
    assert np.ptp(places, axis=0).max() > 0.01  # negative control: it does move


def test_usd_brings_materials(opened, request):
    if "usd" in request.node.callspec.id:
        assert opened["materials"]["liquid"] == ["liquid"]
        assert opened["materials"]["paddle_1"] == ["solid_paddle_1"]
