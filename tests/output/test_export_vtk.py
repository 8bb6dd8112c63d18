"""VTK series read back with VTK itself."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from export_runs import FPS, fields, make_run, nothing, particles, scene, surface, write_frame

from glug.output.export import export_run

FRAMES = range(5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("vtk") / "run", with_fields=True)
    return export_run(run.path, "vtk").path


def series(folder, name):
    """(time, part, file) of a .pvd file."""
    found = ET.parse(folder / f"{name}.pvd").getroot().findall("Collection/DataSet")
    return [(float(d.get("timestep")), int(d.get("part")), folder / d.get("file")) for d in found]


def test_series_list_files_that_are_there_with_their_times(folder):
    for name in ("liquid", "particles"):
        times, parts, files = zip(*series(folder, name))
        np.testing.assert_allclose(times, np.arange(5) / FPS, rtol=1e-8)
        assert set(parts) == {0}
        assert all(file.exists() for file in files)
    assert len(series(folder, "solids")) == 2 * 5
    assert len({file for _, part, file in series(folder, "solids") if part == 1}) == 1  # the ball stays
    assert [time for time, _, _ in series(folder, "fields")] == pytest.approx(np.arange(1, 5) / FPS)


# What follows reads with VTK, which is large: `make test-all` installs it.


def read(path):
    vtk = pytest.importorskip("vtk", reason="VTK is not installed: pip install 'glug[readers]'")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLImageDataReader() if path.suffix == ".vti" else vtk.vtkXMLPolyDataReader()
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
    reader.SetFileName(str(path))
    reader.Update()
    assert not errors
    output = reader.GetOutput()
    data = output.GetCellData() if path.suffix == ".vti" else output.GetPointData()
    arrays = {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}
    return output, arrays, vtk_to_numpy


@pytest.mark.slow
def test_surface_comes_back(folder):
    for (_, _, file), index in zip(series(folder, "liquid"), FRAMES):
        mesh, data, to_numpy = read(file)
        expected = surface(index)
        np.testing.assert_array_equal(to_numpy(mesh.GetPoints().GetData()), expected.vertices)
        corners = to_numpy(mesh.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        np.testing.assert_array_equal(corners, expected.triangles)
        np.testing.assert_array_equal(data["velocity"], expected.velocities)
        np.testing.assert_allclose(data["speed"], np.linalg.norm(expected.velocities, axis=1), rtol=1e-6)


@pytest.mark.slow
def test_particles_come_back_with_all_attributes(folder):
    for (_, _, file), index in zip(series(folder, "particles"), FRAMES):
        points, data, to_numpy = read(file)
        expected = particles(index)
        np.testing.assert_array_equal(to_numpy(points.GetPoints().GetData()), expected["position"])
        assert points.GetNumberOfVerts() == len(expected["id"])
        assert set(data) == set(expected) - {"position"}
        for name in data:
            np.testing.assert_array_equal(data[name], expected[name])


@pytest.mark.slow
def test_solids_are_where_they_are_in_each_frame(folder):
    for time, part, file in series(folder, "solids"):
        mesh, data, to_numpy = read(file)
        vertices = to_numpy(mesh.GetPoints().GetData()).astype(float)
        solid = scene().solids[part]
        np.testing.assert_allclose(solid.distance(vertices, time), 0.0, atol=1e-4)
        np.testing.assert_allclose(data["velocity"], solid.velocity(vertices, time), atol=1e-5)


@pytest.mark.slow
def test_fields_are_at_their_cells(folder):
    image, data, _ = read(series(folder, "fields")[0][2])
    expected = fields()
    assert image.GetDimensions() == (4, 5, 6)  # corners of 3 x 4 x 5 cells
    for i, j, k in ((0, 0, 0), (2, 1, 3), (2, 3, 4)):
        cell = image.GetCell(i + 3 * (j + 4 * k))
        bounds = np.array(cell.GetBounds()).reshape(3, 2)
        centre = bounds.mean(axis=1)
        np.testing.assert_allclose(centre, expected["corner"] + 0.05 * (np.array([i, j, k]) + 0.5), rtol=1e-6)
        number = i + 3 * (j + 4 * k)
        assert data["level"][number] == i + 2 * j
        assert data["p"][number] == pytest.approx(centre @ [1, 10, 100], rel=1e-5)
        np.testing.assert_allclose(data["velocity"][number], centre * [1, 2, 3], rtol=1e-5)


@pytest.mark.slow
def test_frames_without_liquid_are_empty(tmp_path):
    run = make_run(tmp_path / "run", frames=1, written=0)
    write_frame(run, 1, nothing())
    run.finish()
    mesh, _, _ = read(series(export_run(run.path, "vtk").path, "liquid")[1][2])
    assert (mesh.GetNumberOfPoints(), mesh.GetNumberOfCells()) == (0, 0)


@pytest.mark.slow
def test_pyvista_steps_through_the_series(folder):
    pyvista = pytest.importorskip("pyvista", reason="PyVista is not installed: pip install 'glug[readers]'")
    liquid, solids = (pyvista.get_reader(folder / f"{name}.pvd") for name in ("liquid", "solids"))
    np.testing.assert_allclose(liquid.time_values, np.arange(5) / FPS, rtol=1e-8)
    for index in FRAMES:
        liquid.set_active_time_point(index)
        solids.set_active_time_point(index)
        (shown,) = liquid.read()
        np.testing.assert_array_equal(shown.points, surface(index).vertices)
        assert [block.n_points > 0 for block in solids.read()] == [True, True]
