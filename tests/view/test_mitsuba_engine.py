"""Mitsuba renders of a ball of liquid on a floor, by their statistics: each look has the others as its control."""

import colorsys

import numpy as np
import pytest
from rendered_runs import SCENE, frame, write_run

import glug.scene
from glug.view import Camera
from glug.view.material import PRESETS
from glug.view.sequence import RenderOptions, render_run

pytestmark = pytest.mark.slow
mitsuba = pytest.importorskip("mitsuba", reason="needs the render extra: pip install 'glug[render]'")

from glug.view.mitsuba.engine import MitsubaEngine, choose_variant, creased  # noqa: E402

SIZE = (96, 72)
CAMERA = Camera(eye=(0.25, 0.45, 1.6), target=(0.0, 0.2, 0.0), fov_degrees=26.0)
SAMPLES = 48


def draw(look: str, radius: float = 0.2, samples: int = SAMPLES, variant: str | None = "scalar_rgb", **scene):
    """The picture of a ball of `radius` in the middle, and which of its pixels show it."""
    ball = frame(1, radius=radius).surface
    engine = MitsubaEngine(glug.scene.load({**SCENE, **scene}), CAMERA, PRESETS[look], SIZE, samples, variant)
    picture = engine.picture([(ball, 0.0)])
    y, x = np.mgrid[: SIZE[1], : SIZE[0]] + 0.5
    centre = CAMERA.project(np.array([[0.0, radius, 0.0]]), SIZE)[0]
    edge = CAMERA.project(np.array([[0.0, radius, 0.0]]) + radius * CAMERA.axes()[1], SIZE)[0]
    inside = np.hypot(x - centre[0], y - centre[1]) < 0.9 * np.linalg.norm(edge - centre)
    return picture, inside


def hue_and_saturation(picture: np.ndarray, where: np.ndarray) -> tuple[float, float]:
    """Hue [degrees] and saturation of the mean colour."""
    hue, saturation, _ = colorsys.rgb_to_hsv(*(picture[where].mean(axis=0) / 255.0))
    return 360.0 * hue, saturation


@pytest.fixture(scope="module")
def pictures():
    return {look: draw(look) for look in ("honey", "water", "milk", "chocolate")}


def test_honey_is_amber_and_clear(pictures):
    picture, ball = pictures["honey"]
    hue, saturation = hue_and_saturation(picture, ball)
    assert 15 < hue < 45  # from red amber to gold
    assert saturation > 0.6


def test_honey_lets_amber_light_through_to_the_floor_and_chocolate_does_not(pictures):
    found = {}
    for look in ("honey", "chocolate"):
        picture, ball = pictures[look]
        x, y = CAMERA.project(np.array([[0.22, 0.0, 0.1]]), SIZE)[0].astype(int)  # opposite to the key light
        patch = np.zeros_like(ball)
        patch[y - 3 : y + 4, x - 6 : x + 7] = True
        found[look] = hue_and_saturation(picture, patch & ~ball)
    hue, saturation = found["honey"]
    assert 5 < hue < 45
    assert saturation > 0.15 > 2 * found["chocolate"][1]


def test_water_is_pale_and_not_amber(pictures):
    picture, ball = pictures["water"]
    hue, saturation = hue_and_saturation(picture, ball)
    assert 150 < hue < 240
    assert saturation < 0.35


def test_milk_is_white_and_chocolate_dark_and_brown(pictures):
    milk, ball = pictures["milk"]
    assert milk[ball].mean() > 170
    assert hue_and_saturation(milk, ball)[1] < 0.1
    chocolate, _ = pictures["chocolate"]
    assert chocolate[ball].mean() < 110
    assert 5 < hue_and_saturation(chocolate, ball)[0] < 40


def test_the_floor_is_light_and_grey_and_shaded_by_the_ball(pictures):
    for picture, ball in pictures.values():
        far = picture[:8][~ball[:8]]
        assert far.mean() > 120
        assert np.ptp(far.mean(axis=0)) < 15
    # Behind and to the right of the ball, away from the key light, opaque liquid keeps the light off the floor.
    picture, _ = pictures["chocolate"]
    x, y = CAMERA.project(np.array([[0.3, 0.0, 0.02], [-0.45, 0.0, 0.02]]), SIZE).astype(int).T
    shade, light = (picture[b - 2 : b + 3, a - 2 : a + 3].mean() for a, b in zip(x, y))
    assert shade < light - 10


def test_thick_honey_is_deeper_than_thin():
    thin, thin_ball = draw("honey", radius=0.08)
    thick, thick_ball = draw("honey", radius=0.2)
    blue_green = [picture[ball][:, 1:].mean() for picture, ball in ((thin, thin_ball), (thick, thick_ball))]
    assert blue_green[0] > 1.15 * blue_green[1]


def test_no_black_where_the_liquid_meets_the_floor(pictures):
    for look in ("honey", "water"):
        picture, _ = pictures[look]
        assert (picture.max(axis=2) < 25).mean() < 0.002


def test_solids_are_shown_and_clear_ones_let_light_through():
    block = {"name": "block", "shape": {"kind": "box", "lower": [-0.4, 0, 0.25], "upper": [0.4, 0.5, 0.3]}}
    shown = {}
    for clarity in (0.0, 1.0):
        picture, ball = draw("chocolate", solids=[{**block, "colour": [0.1, 0.2, 0.9], "clarity": clarity}])
        shown[clarity] = picture, ball
    picture, ball = shown[0.0]
    assert 200 < hue_and_saturation(picture, ball)[0] < 260  # a blue block hides the ball
    clear = draw("chocolate", solids=[{**block, "colour": [1.0, 1.0, 1.0], "clarity": 1.0}])[0]
    assert clear[ball].mean() < 0.7 * clear[~ball].mean()  # a dark ball behind glass


def test_the_same_picture_comes_twice():
    first, second = (draw("honey", samples=8)[0].astype(int) for _ in range(2))
    assert np.abs(first - second).max() <= 1


def test_the_fast_variant_shows_the_same():
    if choose_variant() == "scalar_rgb":
        pytest.skip("Mitsuba's LLVM variant does not run here: no shared library of LLVM, or one too old")
    fast, ball = draw("honey", variant="llvm_ad_rgb")
    slow, _ = draw("honey")
    np.testing.assert_allclose(fast[ball].mean(axis=0), slow[ball].mean(axis=0), rtol=0.05)


def test_more_samples_are_cleaner():
    truth = draw("honey", samples=512)[0].astype(int)
    few, many = (np.abs(draw("honey", samples=n)[0] - truth).mean() for n in (8, 128))
    assert many < 0.6 * few


def test_edges_of_a_box_stay_sharp_and_a_ball_smooth():
    from glug.scene.shapes.solid_mesh import rest_mesh

    box = {"name": "box", "shape": {"kind": "box", "lower": [-0.4, 0, 0.2], "upper": [0.4, 0.5, 0.3]}}
    ball = {"name": "ball", "shape": {"kind": "sphere", "centre": [0, 0.3, 0], "radius": 0.2}}
    scene = glug.scene.load({**SCENE, "solids": [box, ball]})
    _, _, normals = creased(*rest_mesh(scene.solids[0], scene.domain))
    assert np.sort(np.abs(normals), axis=1) == pytest.approx(np.tile([0.0, 0.0, 1.0], (36, 1)), abs=1e-6)
    vertices, _, normals = creased(*rest_mesh(scene.solids[1], scene.domain))
    outward = (vertices - [0, 0.3, 0]) / 0.2
    assert np.einsum("ij,ij->i", normals, outward).min() > np.cos(np.radians(4))


def test_renders_a_run_with_blur_and_goes_on(tmp_path):
    run = write_run(tmp_path / "run", speed=4.0).path
    sharp = RenderOptions("mitsuba", (64, 48), 16)
    assert render_run(run, sharp).rendered == 4
    assert render_run(run, sharp).kept == 4
    blurred = render_run(run, RenderOptions("mitsuba", (64, 48), 16, shutter=1.0, only=[1]))
    assert blurred.rendered == 1
