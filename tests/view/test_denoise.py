"""Grain is averaged away, edges and colours stay."""

import numpy as np

from glug.view.mitsuba.denoise import clean_mean

NOISE = 0.2


def scene() -> np.ndarray:
    """Dark on the left, bright on the right, a soft gradient downwards."""
    picture = np.empty((48, 64, 3), np.float32)
    picture[:, :32], picture[:, 32:] = (0.2, 0.1, 0.05), (0.8, 0.7, 0.6)
    return picture + np.linspace(0, 0.1, 48, dtype=np.float32)[:, None, None]


def passes(count=8) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [scene() * random.gamma(1 / NOISE**2, NOISE**2, (48, 64, 3)).astype(np.float32) for _ in range(count)]


def error(picture: np.ndarray) -> float:
    return float(np.sqrt(((picture - scene()) ** 2).mean()))


def test_noise_falls_to_less_than_half_of_the_plain_mean():
    plain = np.mean(passes(), axis=0)
    assert error(clean_mean(passes())) < 0.5 * error(plain)


def test_the_edge_stays_sharp():
    clean = clean_mean(passes())
    step = clean[:, 32].mean() - clean[:, 31].mean()
    assert step > 0.95 * (scene()[:, 32].mean() - scene()[:, 31].mean())


def test_without_noise_nothing_changes():
    np.testing.assert_allclose(clean_mean([scene()] * 8), scene(), atol=1e-5)


def test_a_stray_in_one_pass_does_not_survive():
    noisy = passes()
    noisy[3][20, 20] = 500.0
    clean = clean_mean(noisy)
    assert np.abs(clean[20, 20] - scene()[20, 20]).max() < 0.15
    assert np.abs(np.mean(noisy, axis=0)[20, 20] - scene()[20, 20]).max() > 10  # it would have


def test_one_pass_comes_back_as_it_is():
    np.testing.assert_array_equal(clean_mean([scene()]), scene())
