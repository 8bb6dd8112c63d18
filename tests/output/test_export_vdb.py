"""OpenVDB files read back with OpenVDB: its own module, or the one that Blender brings."""

import importlib.util
import sys

import blender
import numpy as np
import pytest
from export_runs import FPS, RADIUS, centre, fields, make_run, nothing, write_frame

from glug.errors import InputError
from glug.output.export import export_run
from glug.output.export.vdb import find_openvdb, require_whole

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def vdb():
    """The module; where there is none, Blender's wheel is put where glug looks for it."""
    try:
        yield find_openvdb()
    except InputError:
        place = str(blender.require_blender())
        sys.path.append(place)  # last: nothing else of it is used
        importlib.invalidate_caches()
        try:
            yield find_openvdb()
        finally:
            sys.path.remove(place)


@pytest.fixture(scope="module", params=[False, True], ids=["particles", "fields"])
def exported(vdb, request, tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("vdb") / "run", with_fields=request.param)
    return export_run(run.path, "vdb").path, request.param


def grids(vdb, folder, index):
    found, metadata = vdb.readAll(str(folder / f"test_shot_{index:04d}.vdb"))
    assert metadata["fps"] == FPS
    assert metadata["frame"] == index
    return {grid.name: grid for grid in found}


def value(grid, place):
    """Of the voxel whose sample is at `place` [m], to a thousandth of a voxel."""
    index = grid.transform.worldToIndex(tuple(float(c) for c in place))
    rounded = tuple(round(i) for i in index)
    np.testing.assert_allclose(index, rounded, atol=1e-3)
    return grid.getConstAccessor().getValue(rounded)


def test_surface_is_the_distance_to_the_ball(vdb, exported):
    for index in range(5):
        grid = grids(vdb, exported[0], index)["surface"]
        assert grid.gridClass == "level set"
        h = grid.transform.voxelSize()[0]
        assert h == pytest.approx(1.0 / 20 / 2)
        accessor, seen = grid.getConstAccessor(), 0
        for i in np.ndindex(40, 40, 40):
            place = np.array(grid.transform.indexToWorld(i))
            true = np.linalg.norm(place - centre(index)) - RADIUS
            if abs(true) < 2 * h:
                # A polyhedron of 80 or 320 faces lies up to 0.2 or 0.05 radii inside its ball.
                assert accessor.getValue(i) == pytest.approx(true, abs=(0.2, 0.05)[index % 2] * RADIUS)
                seen += 1
        assert seen > 500


def test_velocity_is_that_of_the_liquid_at_its_place(vdb, exported):
    folder, with_fields = exported
    grid = grids(vdb, folder, 3)["velocity"]
    if with_fields:
        expected = fields()
        for cell in ((0, 0, 0), (2, 1, 3), (1, 3, 4)):
            place = expected["corner"] + 0.05 * (np.array(cell) + 0.5)
            np.testing.assert_allclose(value(grid, place), place * [1, 2, 3], rtol=1e-5)
    else:
        lower, upper = (grid.transform.indexToWorld(c) for c in grid.evalActiveVoxelBoundingBox())
        np.testing.assert_array_less(np.abs(np.add(lower, upper) / 2 - centre(3)), 0.05)
        np.testing.assert_array_less(np.subtract(upper, lower), 0.2)


def test_frames_without_liquid_are_empty_level_sets(vdb, tmp_path):
    run = make_run(tmp_path / "run", frames=1, written=0)
    write_frame(run, 1, nothing())
    run.finish()
    grid = grids(vdb, export_run(run.path, "vdb").path, 1)["surface"]
    assert grid.activeVoxelCount() == 0
    assert grid.gridClass == "level set"


@pytest.mark.parametrize("cut", [1, 4, 100, 5000, -40, -200])
def test_a_file_that_a_full_disk_cut_is_noticed(vdb, exported, tmp_path, cut):
    """`cut` bytes are missing; or, below zero, all but so many."""
    whole = exported[0] / "test_shot_0003.vdb"
    require_whole(whole)
    path = tmp_path / "cut.vdb"
    path.write_bytes(whole.read_bytes()[:-cut])
    with pytest.raises(OSError, match="No space left"):
        require_whole(path)


def test_blender_opens_them(exported):
    """A sequence is imported by its first file."""
    found = blender.open_in_blender(exported[0] / "test_shot_0003.vdb", FPS)
    (volume,) = found["volumes"].values()
    assert set(volume) == {"surface", "velocity"}
    assert volume["velocity"][0] == "VECTOR_FLOAT"
