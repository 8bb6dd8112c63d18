"""Booleans, extruded text and imported meshes."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

from glug.errors import MeshError
from glug.geometry.mesh import read_mesh
from glug.scene.shapes.combined import Difference, Intersection, Shell, SmoothUnion, Union
from glug.scene.shapes.lettering import MARGIN, Text, drawn_distance
from glug.scene.shapes.mesh import Mesh
from glug.scene.shapes.primitives import Box, Sphere
from glug.scene.shapes.sequence import MeshSequence

BALL = Sphere(centre=(0, 0, 0), radius=0.5)
CUBE = Box(centre=(0.4, 0, 0), size=(0.6, 0.6, 0.6))


def _points(count: int = 20_000) -> np.ndarray:
    return np.random.default_rng(3).uniform(-1.0, 1.0, (count, 3))


def test_booleans_follow_set_logic() -> None:
    points = _points()
    ball, cube = BALL.distance(points) < 0, CUBE.distance(points) < 0
    parts = (BALL, CUBE)
    assert np.array_equal(Union(parts=parts).distance(points) < 0, ball | cube)
    assert np.array_equal(Intersection(parts=parts).distance(points) < 0, ball & cube)
    assert np.array_equal(Difference(parts=parts).distance(points) < 0, ball & ~cube)
    assert (ball & cube).any() and (ball & ~cube).any()


def test_boolean_bounds() -> None:
    parts = (BALL, CUBE)
    assert Union(parts=parts).bounds()[1] == pytest.approx([0.7, 0.5, 0.5])
    assert Intersection(parts=parts).bounds()[0] == pytest.approx([0.1, -0.3, -0.3])
    assert Difference(parts=parts).bounds()[1] == pytest.approx([0.5, 0.5, 0.5])
    assert Shell(part=BALL, thickness=0.2).bounds()[0] == pytest.approx([-0.6, -0.6, -0.6])


def test_smooth_union_adds_a_fillet_at_the_crease_only() -> None:
    points = _points()
    sharp = Union(parts=(BALL, CUBE)).distance(points)
    smooth = SmoothUnion(parts=(BALL, CUBE), radius=0.1).distance(points)
    apart = np.abs(BALL.distance(points) - CUBE.distance(points)) > 0.1
    assert np.array_equal(smooth[apart], sharp[apart])
    assert np.all(smooth <= sharp) and np.min(smooth - sharp) == pytest.approx(-0.1 / 4, abs=1e-3)


def test_shell_is_a_skin_on_both_sides() -> None:
    shell = Shell(part=BALL, thickness=0.2)
    where = np.array([[0.0, 0, 0], [0.45, 0, 0], [0.55, 0, 0], [0.7, 0, 0]])
    assert shell.distance(where) == pytest.approx([0.4, -0.05, -0.05, 0.1])


def test_placed_boolean_moves_as_a_whole() -> None:
    points = _points(2000)
    still = Difference(parts=(BALL, CUBE))
    moved = Difference(parts=(BALL, CUBE), translate=(0.3, 0.2, 0.1))
    shift = np.array([0.3, 0.2, 0.1])
    assert moved.distance(points + shift) == pytest.approx(still.distance(points), abs=1e-12)


class TestText:
    text = Text(text="Ag", centre=(0.1, 0.2, 0.3), height=0.5, depth=0.2)

    def test_volume_is_inked_area_times_depth(self) -> None:
        picture = drawn_distance("Ag")
        pixel = 0.5 / (picture.shape[0] - 2 * MARGIN)
        expected = np.count_nonzero(picture < 0) * pixel**2 * 0.2
        lower, upper = self.text.bounds()
        points = np.random.default_rng(0).uniform(lower, upper, (200_000, 3))
        box = np.prod(upper - lower)
        volume = np.mean(self.text.distance(points) < 0) * box
        assert volume == pytest.approx(expected, rel=0.02)
        assert 0.2 < expected / box < 0.7  # letters fill part of their box

    def test_stands_upright_and_reads_along_x(self) -> None:
        bar = Text(text="L", height=1.0, depth=0.2)
        lower, upper = bar.bounds()
        foot = np.array([[upper[0] - 0.05, lower[1] + 0.03, 0.0]])
        head = np.array([[upper[0] - 0.05, upper[1] - 0.05, 0.0]])
        assert bar.distance(foot)[0] < 0 < bar.distance(head)[0]

    def test_distance_has_slope_one_near_the_letters(self) -> None:
        lower, upper = self.text.bounds()
        points = np.random.default_rng(0).uniform(lower - 0.05, upper + 0.05, (5000, 3))
        points = points[self.text.distance(points) > 0.01]  # creases inside the strokes have none
        h = 2e-3
        gradient = np.stack(
            [self.text.distance(points + h * e) - self.text.distance(points - h * e) for e in np.eye(3)], 1
        ) / (2 * h)
        slope = np.linalg.norm(gradient, axis=1)
        assert np.mean(np.abs(slope - 1.0) < 0.05) > 0.9

    def test_thickened_strokes_grow_by_the_given_length(self) -> None:
        bold = Text(text="Ag", centre=(0.1, 0.2, 0.3), height=0.5, depth=0.2, thicken=0.02)
        points = np.random.default_rng(0).uniform(*bold.bounds(), (5000, 3))
        plane = points * (1, 1, 0) + (0, 0, 0.3)  # through the middle, where the faces are far
        thin, thick = self.text.distance(plane), bold.distance(plane)
        outside = thin > 0.021
        assert thick[outside] == pytest.approx(thin[outside] - 0.02)
        assert bold.bounds()[1] - self.text.bounds()[1] == pytest.approx([0.02, 0.02, 0.0])

    def test_far_away_is_outside_and_grows(self) -> None:
        d = self.text.distance(np.array([[2.0, 0, 0], [4.0, 0, 0], [0.1, 0.2, 5.0]]))
        assert 1.0 < d[0] < d[1] and d[2] == pytest.approx(4.6, rel=0.01)

    def test_blank_text_is_refused(self) -> None:
        with pytest.raises(ValueError, match="visible letter"):
            Text(text="  ", height=0.5)


class TestMesh:
    @pytest.mark.parametrize("suffix", ["obj", "ply", "stl"])
    def test_icosphere_matches_the_sphere(self, tmp_path: Path, suffix: str) -> None:
        file = tmp_path / f"ball.{suffix}"
        trimesh.creation.icosphere(4, radius=0.5).export(file)
        points = _points(20_000)
        d, ball = Mesh(file=str(file)).distance(points), BALL.distance(points)
        near, within = np.abs(ball) < 0.03, ball < 0.05
        # The faceted ball lies inside by at most r (1 - cos(half an edge's angle)), below 0.001 here.
        assert near.sum() > 300 and np.max(np.abs(d - ball)[near]) < 1.5e-3
        # Elsewhere interpolated between samples 1/48 apart, worst at the centre.
        assert np.max(np.abs(d - ball)[within]) < 0.5 / 48
        assert np.all(d[~within] > ball[~within] - 0.5 / 48)

    def test_interpolated_far_distances_keep_sign_and_size(self, tmp_path: Path) -> None:
        trimesh.creation.box((1.0, 0.6, 0.3)).export(tmp_path / "box.ply")
        mesh, box = read_mesh(tmp_path / "box.ply"), Box(centre=(0, 0, 0), size=(1.0, 0.6, 0.3))
        points = np.random.default_rng(1).uniform(-0.8, 0.8, (30_000, 3))
        d, exact = mesh.distance(points), box.distance(points)
        near = np.abs(exact) < 0.01  # closer than half a lattice cell
        assert near.any() and np.max(np.abs(d - exact)[near]) < 1e-6
        assert np.array_equal(d < 0, exact < 0)
        assert np.max(np.abs(d - exact)[exact < 0.03]) < 0.01
        assert np.all(d > exact - 0.01)

    def test_placement_and_bounds(self, tmp_path: Path) -> None:
        file = tmp_path / "ball.ply"
        trimesh.creation.icosphere(3, radius=0.5).export(file)
        mesh = Mesh(file=str(file), scale=2.0, translate=(1, 0, 0))
        assert mesh.bounds()[1] == pytest.approx([2.0, 1.0, 1.0], abs=1e-5)
        assert mesh.distance(np.array([[1.0, 0, 0]]))[0] == pytest.approx(-1.0, abs=0.02)

    def test_inside_out_mesh_is_turned(self, tmp_path: Path) -> None:
        ball = trimesh.creation.icosphere(2)
        ball.invert()
        ball.export(tmp_path / "ball.ply")
        assert read_mesh(tmp_path / "ball.ply").distance(np.zeros((1, 3)))[0] < 0

    def test_open_mesh_says_how_many_holes(self, tmp_path: Path) -> None:
        ball = trimesh.creation.icosphere(2)
        top, bottom = np.argmax(ball.triangles_center[:, 1]), np.argmin(ball.triangles_center[:, 1])
        keep = np.ones(len(ball.faces), dtype=bool)
        keep[[top, bottom]] = False
        ball.update_faces(keep)
        ball.export(tmp_path / "open.obj")
        with pytest.raises(MeshError, match=r"open\.obj: the mesh is not closed; it has 2 holes"):
            read_mesh(tmp_path / "open.obj")

    def test_missing_empty_and_unknown_files(self, tmp_path: Path) -> None:
        with pytest.raises(MeshError, match=r"none\.obj: mesh file not found"):
            read_mesh(tmp_path / "none.obj")
        for name, content in (("empty.obj", ""), ("dots.obj", "v 0 0 0\nv 1 0 0\n"), ("empty.stl", "")):
            (tmp_path / name).write_text(content)
            with pytest.raises(MeshError, match=name) as error:
                read_mesh(tmp_path / name)
            assert "empty" in str(error.value) and "\n" not in str(error.value)
        (tmp_path / "mesh.fbx").write_text("x")
        with pytest.raises(MeshError, match=r"unknown mesh format '\.fbx'; valid: \.obj, \.ply, \.stl"):
            read_mesh(tmp_path / "mesh.fbx")


class TestMeshSequence:
    @staticmethod
    def _write(folder: Path, shapes: list[trimesh.Trimesh]) -> MeshSequence:
        files = [folder / f"{i}.ply" for i in range(len(shapes))]
        for file, shape in zip(files, shapes):
            shape.export(file)
        return MeshSequence(files=tuple(map(str, files)), fps=10.0)

    def test_velocity_of_a_moving_and_growing_ball(self, tmp_path: Path) -> None:
        ball = trimesh.creation.icosphere(3, radius=0.5)
        moved = ball.copy()
        moved.vertices = ball.vertices * 1.1 + (0.2, 0.0, 0.0)
        sequence = self._write(tmp_path, [ball, moved, moved])
        points = ball.vertices * 1.02
        # Each surface point travels by 0.1 p + (0.2, 0, 0) in 0.1 s.
        expected = ball.vertices * 1.0 + (2.0, 0.0, 0.0)
        assert sequence.velocity(points, 0.02) == pytest.approx(expected, abs=0.03)
        assert not sequence.velocity(points, 0.15).any() and not sequence.velocity(points, 9.0).any()

    def test_nearest_mesh_in_time_is_shown(self, tmp_path: Path) -> None:
        balls = [trimesh.creation.icosphere(2, radius=r) for r in (0.5, 0.8)]
        sequence = self._write(tmp_path, balls)
        centre = np.zeros((1, 3))
        assert sequence.distance(centre, 0.04)[0] > -0.51 and sequence.distance(centre, 0.06)[0] < -0.7
        assert sequence.bounds(1.0)[1] == pytest.approx([0.8, 0.8, 0.8], abs=0.05)

    def test_different_triangles_give_the_normal_velocity(self, tmp_path: Path) -> None:
        balls = [trimesh.creation.icosphere(n, radius=r) for n, r in ((3, 0.5), (4, 0.6))]
        sequence = self._write(tmp_path, balls)
        direction = np.array([[0.0, 0.6, 0.8]])
        for radius in (0.45, 0.55):  # inside and outside the first ball
            assert sequence.velocity(radius * direction, 0.02) == pytest.approx(1.0 * direction, abs=0.05)
