"""Pictures of known bodies, by their statistics."""

import numpy as np
import pytest
from shapes import disc, nothing, sphere

from glug import jit
from glug.geometry.sampled import SampledDistance
from glug.view import Camera, Material, automatic_camera, render

SIZE = (160, 120)
CAMERA = Camera(eye=(0.6, 1.1, 2.6), target=(0.0, 0.5, 0.0), fov_degrees=30.0)
RED = Material((0.8, 0.1, 0.1), clarity=0.0)
WATER = Material((0.55, 0.78, 0.92), clarity=1.0, refraction=1.33)
HONEY = Material((0.90, 0.55, 0.08), clarity=0.7)


def draw(distance, material=RED, solids=(), floor=None, camera=CAMERA):
    return render(distance, material, list(solids), camera, SIZE, floor=floor, scale=1.0)


def changed(picture, empty):
    """Pixels at least half covered by something that was not in `empty`."""
    difference = np.abs(picture.astype(int) - empty.astype(int)).max(-1)
    return difference > 20


def at(picture, point, camera=CAMERA):
    """Brightness 0 to 1 around the pixel that shows a point."""
    x, y = camera.project(np.array([point]), SIZE)[0].astype(int)
    return picture[y - 1 : y + 2, x - 1 : x + 2].mean() / 255.0


def test_silhouette_of_a_sphere_has_the_area_of_its_projection():
    shown = changed(draw(sphere()), draw(nothing()))
    distance = np.linalg.norm(np.subtract(CAMERA.eye, CAMERA.target))
    focal = 0.5 * SIZE[1] / np.tan(np.radians(15.0))
    radius = focal * np.tan(np.arcsin(0.3 / distance))  # the sphere is in the middle of the picture
    assert shown.sum() == pytest.approx(np.pi * radius**2, rel=0.02)


def test_background_is_untouched_beside_the_sphere():
    picture, empty = draw(sphere()), draw(nothing())
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    away = np.hypot(x - SIZE[0] / 2, y - SIZE[1] / 2) > 34
    np.testing.assert_array_equal(picture[away], empty[away])


def test_sphere_is_bright_towards_the_light_and_dark_away_from_it():
    picture = draw(sphere(), Material((0.8, 0.8, 0.8), clarity=0.0), floor=0.0)
    right, _, _ = CAMERA.axes()
    light = 0.22 * (-0.6 * right + np.array([0.0, 0.8, 0.0]))
    centre = np.array([0.0, 0.5, 0.0])
    assert at(picture, centre + light) > 1.5 * at(picture, centre - light)


def test_sphere_on_the_floor_casts_a_shadow_that_fades():
    low = sphere(centre=(0.0, 0.3, 0.0))
    picture, empty = draw(low, floor=0.0), draw(nothing(), floor=0.0)
    right, _, _ = CAMERA.axes()
    near, far, other = 0.42 * right, 0.8 * right, -0.8 * right
    darker = [at(picture, (p[0], 0.0, p[2])) / at(empty, (p[0], 0.0, p[2])) for p in (near, far, other)]
    assert darker[0] < 0.8
    assert darker[0] < darker[1] - 0.05
    assert darker[2] > 0.97


def test_clear_liquid_shows_what_is_behind_and_opaque_liquid_does_not():
    wall = sphere(radius=0.25, centre=(-0.35, 0.2, -1.5))
    for material, see_through in ((WATER, True), (RED, False)):
        pictures = [draw(sphere(), material, [(wall, c)]) for c in ((0.9, 0.1, 0.1), (0.1, 0.1, 0.9))]
        y, x = np.mgrid[: SIZE[1], : SIZE[0]]
        inside = np.hypot(x - SIZE[0] / 2, y - SIZE[1] / 2) < 20
        difference = np.abs(pictures[0][inside].astype(int) - pictures[1][inside].astype(int)).max()
        assert (difference > 60) == see_through


def test_honey_is_amber_and_darker_where_it_is_thick():
    thick, thin = draw(sphere(), HONEY), draw(sphere(radius=0.1), HONEY)
    middle = [p[SIZE[1] // 2 - 3 : SIZE[1] // 2 + 3, SIZE[0] // 2 - 3 : SIZE[0] // 2 + 3] for p in (thick, thin)]
    for part in middle:
        red, green, blue = part.reshape(-1, 3).mean(0)
        assert red > green > blue
    assert middle[0].mean() < middle[1].mean()


def test_liquid_that_ends_with_its_samples_is_closed():
    h = 1 / 32
    full = SampledDistance(np.full((20, 20, 20), -2 * h, np.float32), (-10 * h, 0.5 - 10 * h, -10 * h), h)
    assert changed(draw(full), draw(nothing())).sum() > 600


def test_glass_shows_the_liquid_behind_it():
    shell = sphere(radius=0.4)
    shell = SampledDistance(np.abs(shell.values) - shell.spacing, shell.corner, shell.spacing)
    red = [draw(sphere(radius=0.2), RED, [(shell, (0.5, 0.6, 0.7, opacity))])[60, 80] for opacity in (0.1, 1.0)]
    assert red[0][0] > 1.5 * red[0][2]
    assert red[1][0] < red[1][2]


def test_bytes_do_not_depend_on_the_number_of_threads():
    with jit.threads(1):
        one = draw(sphere(), HONEY, floor=0.0)
    with jit.threads(None):
        np.testing.assert_array_equal(one, draw(sphere(), HONEY, floor=0.0))


def test_one_kernel_is_compiled():
    draw(sphere())
    own = {name: count for name, count in jit.compiled().items() if name.startswith("glug.view")}
    assert own == {"glug.view.trace.kernels.trace": 1}


@pytest.mark.parametrize("aspect", [16 / 9, 1.0, 0.6])
@pytest.mark.parametrize("upper", [(1.0, 1.0, 1.0), (0.2, 3.0, 0.2), (4.0, 0.3, 1.0)])
def test_automatic_camera_sees_the_whole_box_large(aspect, upper):
    size = (int(600 * aspect), 600)
    camera = automatic_camera((0.0, 0.0, 0.0), upper, aspect)
    corners = np.array([[(0.0, upper[a])[(c >> a) & 1] for a in range(3)] for c in range(8)])
    seen = camera.project(corners, size) / size
    assert seen.min() > 0.0
    assert seen.max() < 1.0
    assert np.ptp(seen, axis=0).max() > 0.9


def test_flat_picture_of_a_disc_has_its_area():
    picture = render(disc(), RED, [], CAMERA, (200, 150))
    covered = (picture[..., 0] > picture[..., 1].astype(int) + 60).sum()
    pixel = 1.06 * (63 / 64) / 150
    assert covered * pixel**2 == pytest.approx(np.pi * 0.09, rel=0.01)


def test_flat_picture_shows_solids_under_the_liquid():
    wall = SampledDistance(disc(radius=0.1).values, (0.4, 0.0, 0.0), 1 / 64)
    picture = render(disc(radius=0.1), RED, [(wall, (0.5, 0.5, 0.5))], CAMERA, (200, 150)).astype(int)
    grey = (np.ptp(picture, axis=-1) == 0) & (abs(picture[..., 0] - 128) < 3)
    assert grey.sum() > 400
