"""Volume, centre and moments of inertia of shapes, against their formulas."""

import numpy as np
import pytest

from glug.geometry.mass import mass_properties
from glug.scene.bodies import Solid


def of(shape: dict, depth: float | None = None):
    solid = Solid(name="body", shape=shape)
    return mass_properties(solid.shape.distance, *solid.shape.bounds(), depth)


def test_an_aligned_box_is_exact() -> None:
    found = of({"kind": "box", "centre": [0.1, 0.2, 0.3], "size": [0.4, 0.2, 0.1]})
    assert found.volume == pytest.approx(0.008, rel=1e-9)
    np.testing.assert_allclose(found.centre, [0.1, 0.2, 0.3], atol=1e-12)
    expected = 0.008 / 12.0 * np.diag([0.2**2 + 0.1**2, 0.4**2 + 0.1**2, 0.4**2 + 0.2**2])
    np.testing.assert_allclose(found.inertia, expected, atol=1e-9)


def test_a_ball() -> None:
    found = of({"kind": "sphere", "centre": [1.0, 2.0, 3.0], "radius": 0.3})
    volume = 4 / 3 * np.pi * 0.3**3
    assert found.volume == pytest.approx(volume, rel=2e-3)
    np.testing.assert_allclose(found.inertia, 0.4 * volume * 0.09 * np.eye(3), rtol=5e-3, atol=1e-6)


def test_a_flat_disc_is_as_deep_as_is_said() -> None:
    found = of({"kind": "sphere", "centre": [0.5, 0.5], "radius": 0.2}, depth=0.05)
    mass = np.pi * 0.04 * 0.05
    assert found.volume == pytest.approx(mass, rel=2e-3)
    assert found.inertia[2, 2] == pytest.approx(0.5 * mass * 0.04, rel=5e-3)
    assert found.centre[2] == pytest.approx(0.025)
