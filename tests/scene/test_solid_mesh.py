"""Solids as meshes: closed, of the right size, at the right place."""

import numpy as np
import pytest
import trimesh

import glug
from glug.geometry.mesh import count_holes
from glug.scene.shapes.solid_mesh import rest_mesh

DOMAIN = {"size": [1.0, 1.0, 1.0], "resolution": 16}
CUP = [
    {"kind": "cylinder", "start": [0.5, 0.1, 0.5], "end": [0.5, 0.6, 0.5], "radius": 0.2},
    {"kind": "cylinder", "start": [0.5, 0.11, 0.5], "end": [0.5, 0.7, 0.5], "radius": 0.19},
]


def solid(shape=None, domain=DOMAIN, **more):
    """The scene's domain and its one solid."""
    if shape is not None:
        more["shape"] = shape
    ball = {"kind": "sphere", "centre": [0.5] * len(domain["size"]), "radius": 0.2}
    scene = glug.load(
        {
            "domain": domain,
            "liquids": {"water": {"material": "water"}},
            "volumes": [{"liquid": "water", "shape": ball}],
            "solids": [{"name": "it", **more}],
        }
    )
    return scene.solids[0], scene.domain


def volume(mesh):
    vertices, triangles = mesh
    assert count_holes(triangles) == 0
    return float(trimesh.Trimesh(vertices, triangles, process=False).volume)


def test_a_box_keeps_its_corners_when_placed():
    box = {"kind": "box", "lower": [0.1, 0.2, 0.3], "upper": [0.3, 0.6, 0.4], "rotate": [0, 0, 90], "scale": 2.0}
    vertices, triangles = rest_mesh(*solid(box))
    assert len(vertices) == 8
    assert volume((vertices, triangles)) == pytest.approx(8 * 0.2 * 0.4 * 0.1, rel=1e-5)
    # Turned and scaled about its centre (0.2, 0.4, 0.35).
    np.testing.assert_allclose(vertices.min(0), [0.2 - 0.4, 0.4 - 0.2, 0.35 - 0.1], atol=1e-6)
    np.testing.assert_allclose(vertices.max(0), [0.2 + 0.4, 0.4 + 0.2, 0.35 + 0.1], atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.2}, 4 / 3 * np.pi * 0.008),
        (CUP[0], np.pi * 0.04 * 0.5),
        ({"kind": "difference", "parts": CUP}, np.pi * (0.04 * 0.5 - 0.19**2 * 0.49)),
        ({"kind": "plane", "point": [0.5, 0.5, 0.5], "normal": [0, 1, 0], "thickness": 0.1}, 0.1),
        ({"kind": "half-space", "point": [0, 0.25, 0], "normal": [0, 1, 0]}, 0.25),
    ],
    ids=["sphere", "cylinder", "cup with thin walls", "endless plane", "half-space"],
)
def test_sampled_solids_are_closed_and_have_their_volume(shape, expected):
    # Cut edges lose at most half a spacing squared along their length: under 2% for these.
    assert volume(rest_mesh(*solid(shape))) == pytest.approx(expected, rel=0.02)


def test_a_coarse_lattice_would_lose_the_thin_wall(monkeypatch):
    """Negative control: without the finer lattice the cup's volume is wrong."""
    monkeypatch.setattr("glug.scene.shapes.solid_mesh.SAMPLES", 12)
    monkeypatch.setattr("glug.scene.shapes.solid_mesh.MOST_SAMPLES", 12)
    vertices, triangles = rest_mesh(*solid({"kind": "difference", "parts": CUP}))
    found = trimesh.Trimesh(vertices, triangles, process=False).volume if len(triangles) else 0.0
    assert abs(found / (np.pi * (0.04 * 0.5 - 0.19**2 * 0.49)) - 1.0) > 0.1


def test_motion_is_left_out_and_moving_planes_reach_beyond_the_domain():
    motion = {"kind": "linear", "velocity": [1.0, 0.0, 0.0]}
    ball = {"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.2}
    vertices, _ = rest_mesh(*solid(ball, motion=motion), time=0.3)
    np.testing.assert_allclose(vertices.mean(0), 0.5, atol=0.01)
    plane = {"kind": "plane", "point": [0.5, 0.5, 0.5], "normal": [0, 1, 0], "thickness": 0.1}
    vertices, _ = rest_mesh(*solid(plane, motion=motion))
    assert vertices[:, 0].min() < -1.0


def test_mesh_files_keep_their_vertices(tmp_path):
    mesh = trimesh.creation.icosphere(subdivisions=1, radius=0.2)
    mesh.export(tmp_path / "ball.obj")
    shape = {"kind": "mesh", "file": str(tmp_path / "ball.obj"), "translate": [0.5, 0.5, 0.5]}
    vertices, triangles = rest_mesh(*solid(shape))
    assert triangles.shape == mesh.faces.shape
    np.testing.assert_allclose(np.linalg.norm(vertices - 0.5, axis=1), 0.2, atol=1e-6)


def test_a_sequence_gives_the_mesh_of_its_time(tmp_path):
    for i, radius in enumerate((0.1, 0.2)):
        trimesh.creation.icosphere(subdivisions=1, radius=radius).export(tmp_path / f"{i}.obj")
    sequence = {"files": [str(tmp_path / "0.obj"), str(tmp_path / "1.obj")], "fps": 10.0}
    it = solid(sequence=sequence)
    for time, radius in ((0.0, 0.1), (0.1, 0.2)):
        np.testing.assert_allclose(np.linalg.norm(rest_mesh(*it, time=time)[0], axis=1), radius, atol=1e-6)


def test_in_2d_it_is_a_slab_as_deep_as_a_cell():
    disc = {"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.2}
    vertices, triangles = rest_mesh(*solid(disc, domain={"size": [1.0, 1.0], "resolution": 16}))
    assert volume((vertices, triangles)) == pytest.approx(np.pi * 0.04 / 16, rel=0.01)
    np.testing.assert_allclose([vertices[:, 2].min(), vertices[:, 2].max()], [0.0, 1 / 16], atol=1e-6)
