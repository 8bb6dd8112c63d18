"""Alembic archives read again with Alembic's own library, sample by sample."""

import numpy as np
import pytest
from export_runs import FPS, make_run, nothing, particles, scene, surface, write_frame

from glug.output.export import export_run

alembic3d = pytest.importorskip("alembic3d", reason="alembic3d is not installed: pip install 'glug[alembic]'")
from alembic3d import Abc, AbcGeom  # noqa: E402

FRAMES = range(5)


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("abc") / "run")
    archive = Abc.IArchive(str(export_run(run.path, "abc").path))
    return archive.getTop().getChild(0)


def child(parent, *names):
    for name in names:
        parent = next(c for c in parent.children if c.getName() == name)
    return parent


def test_times_are_those_of_the_frames(top):
    schema = AbcGeom.IPolyMesh(child(top, "liquid"), "shape").getSchema()
    assert schema.getNumSamples() == 5
    times = [schema.getTimeSampling().getSampleTime(i) for i in FRAMES]
    np.testing.assert_allclose(times, np.arange(5) / FPS)


def test_surface_changes_topology_and_keeps_every_bit(top):
    schema = AbcGeom.IPolyMesh(child(top, "liquid"), "shape").getSchema()
    assert schema.getTopologyVariance() == AbcGeom.MeshTopologyVariance.kHeterogenousTopology
    for index in FRAMES:
        sample = schema.getValue(Abc.ISampleSelector(index / FPS))
        expected = surface(index)
        np.testing.assert_array_equal(np.array(memoryview(sample.getPositions())), expected.vertices)
        np.testing.assert_array_equal(np.array(memoryview(sample.getVelocities())), expected.velocities)
        corners = np.array(memoryview(sample.getFaceIndices())).reshape(-1, 3)
        np.testing.assert_array_equal(corners[:, ::-1], expected.triangles)  # Alembic's faces are clockwise
        assert set(sample.getFaceCounts()) == {3}
        normals = schema.getNormalsParam().getExpandedValue(Abc.ISampleSelector(index / FPS)).getVals()
        np.testing.assert_array_equal(np.array(memoryview(normals)), expected.normals())


def test_particles_have_ids_velocities_and_widths(top):
    schema = AbcGeom.IPoints(child(top, "particles"), "shape").getSchema()
    for index in FRAMES:
        sample = schema.getValue(Abc.ISampleSelector(index / FPS))
        expected = particles(index)
        np.testing.assert_array_equal(np.array(memoryview(sample.getPositions())), expected["position"])
        np.testing.assert_array_equal(np.array(memoryview(sample.getVelocities())), expected["velocity"])
        assert list(sample.getIds()) == expected["id"].tolist()
        widths = np.array(schema.getWidthsParam().getExpandedValue(Abc.ISampleSelector(index / FPS)).getVals())
        np.testing.assert_allclose(np.pi / 6 * widths.astype(float) ** 3, expected["volume"], rtol=1e-5)


def test_moving_solids_are_meshes_under_a_sampled_matrix(top):
    solid = scene().solids[0]
    place = AbcGeom.IXform(child(top, "solids"), "paddle_1")
    mesh = AbcGeom.IPolyMesh(place, "shape").getSchema()
    assert mesh.getNumSamples() == 1
    rest = np.array(memoryview(mesh.getValue().getPositions()))
    for index in FRAMES:
        matrix = place.getSchema().getValue(Abc.ISampleSelector(index / FPS)).getMatrix()
        matrix = np.array([[matrix[i][j] for j in range(4)] for i in range(4)])
        world = rest @ matrix[:3, :3] + matrix[3, :3]
        np.testing.assert_allclose(solid.distance(world, index / FPS), 0.0, atol=1e-6)
    assert np.abs(solid.distance(world, 0.0)).max() > 0.05  # negative control


def test_still_solids_are_constant(top):
    place = AbcGeom.IXform(child(top, "solids"), "ball")
    assert place.getSchema().getNumSamples() <= 1
    assert AbcGeom.IPolyMesh(place, "shape").getSchema().getNumSamples() == 1


def test_frames_without_liquid_are_empty_samples(tmp_path):
    run = make_run(tmp_path / "run", frames=2, written=1)
    write_frame(run, 2, nothing())
    run.finish()
    archive = Abc.IArchive(str(export_run(run.path, "abc").path))
    schema = AbcGeom.IPolyMesh(child(archive.getTop().getChild(0), "liquid"), "shape").getSchema()
    sizes = [len(schema.getValue(Abc.ISampleSelector(i / FPS)).getPositions()) for i in range(3)]
    assert sizes == [42, 162, 0]
