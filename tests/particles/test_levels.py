"""Splitting and merging particles keeps volume, momentum and the centre of mass, and linear motion."""

import numpy as np
import pytest

from glug.particles.levels import level_of, merge, split
from glug.particles.storage import Particles

DX = 0.1
NOMINAL = DX**3 / 8


def some(seed: int, count: int = 200, affine: bool = False, level: int = 0) -> Particles:
    rng = np.random.default_rng(seed)
    p = Particles.empty(("affine", "temperature") if affine else ("temperature",))
    p.append(
        rng.uniform(0.0, 0.4, (count, 3)).astype(np.float32),
        velocity=rng.standard_normal((count, 3)),
        volume=NOMINAL * 8.0**level * rng.uniform(0.8, 1.2, count),
        temperature=rng.uniform(10.0, 20.0, count),
    )
    return p


def amounts(p: Particles) -> np.ndarray:
    v = p.volume.astype(np.float64)
    return np.concatenate([v.sum(axis=0), (v * p.velocity).sum(axis=0), (v * p.position).sum(axis=0)])


def kinetic(p: Particles) -> float:
    return 0.5 * float((p.volume.astype(np.float64) * p.velocity.astype(np.float64) ** 2).sum())


def cells(p: Particles) -> np.ndarray:
    return np.ravel_multi_index(tuple(np.floor(p.position / DX).astype(int).T), (5, 5, 5))


@pytest.mark.parametrize("level", [0, 1, 3])
def test_levels_are_those_of_volumes(level):
    assert (level_of(some(1, level=level).volume, NOMINAL) == level).all()


def test_splitting_keeps_volume_momentum_and_centre():
    p = some(2, level=2)
    before, energy = amounts(p), kinetic(p)
    split(p, np.arange(0, 200, 3), DX, NOMINAL)
    assert len(p) == 200 + 7 * 67
    assert np.allclose(amounts(p), before, rtol=0.0, atol=2e-6 * np.abs(before).max())
    assert kinetic(p) == pytest.approx(energy, rel=1e-5)
    assert len(np.unique(p.id)) == len(p)
    assert set(level_of(p.volume, NOMINAL)) == {1, 2}


def test_merging_keeps_volume_momentum_and_centre_and_says_what_energy_it_takes():
    p = some(3)
    before, energy = amounts(p), kinetic(p)
    lost = merge(p, np.arange(150), cells(p)[:150])
    assert len(p) == 200 and (p.volume > 0.0).sum() < 200
    assert np.allclose(amounts(p), before, rtol=0.0, atol=2e-6 * np.abs(before).max())
    assert lost > 0.0
    assert kinetic(p) == pytest.approx(energy - lost, rel=1e-5)
    assert (p.temperature > 10.0).all() and (p.temperature < 20.0).all()


def test_linear_motion_is_kept_by_particles_with_affine_parts():
    gradient = np.array([[0.1, -2.0, 0.3], [2.0, 0.0, 0.5], [-0.3, 0.5, -0.1]], np.float32)
    p = some(4, affine=True, level=1)
    p.velocity[:] = p.position @ gradient.T
    p.affine[:] = (gradient * DX).reshape(-1)
    split(p, np.arange(100), DX, NOMINAL)
    assert np.allclose(p.velocity, p.position @ gradient.T, atol=1e-6)
    merge(p, np.arange(len(p)), np.floor(p.position[:, 0] / DX).astype(int))
    assert np.allclose(p.velocity, p.position @ gradient.T, atol=1e-5)


def test_without_affine_parts_splitting_does_not_keep_it():
    """The negative control."""
    gradient = np.diag([1.0, -1.0, 0.0]).astype(np.float32)
    p = some(5, level=1)
    p.velocity[:] = p.position @ gradient.T
    split(p, np.arange(100), DX, NOMINAL)
    assert np.abs(p.velocity - p.position @ gradient.T).max() > 0.1 * DX


def test_one_particle_alone_stays():
    p = some(6, count=3)
    before = amounts(p)
    assert merge(p, np.arange(3), np.array([5, 7, 9])) == 0.0
    assert len(p) == 3 and np.array_equal(amounts(p), before)
