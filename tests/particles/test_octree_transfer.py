"""Particles of several sizes on a tree's faces: mass and momentum are kept across jumps, and what is uniform stays."""

from collections.abc import Sequence

import numpy as np
import pytest

from glug.grids.octree.transfer import fields_of, to_regular
from glug.grids.octree.tree import Octree
from glug.grids.regular import Grid
from glug.particles import octree_transfer
from glug.particles.octree_transfer import ROUNDS
from glug.particles.storage import Particles

N, LEVELS, DX = 32, 4, 1.0 / 32
NOMINAL = DX**3 / 8


def tree() -> Octree:
    finest = np.zeros((N, N, N), bool)
    finest[:, 20:] = True
    finest[3, 4, 5] = True
    return Octree.refined(finest, LEVELS)


def particles(octree: Octree, velocity, gradient: np.ndarray | None = None) -> Particles:  # type: ignore[no-untyped-def]
    """Eight per leaf at the centres of its octants, all of the leaf's level."""
    corner, level = octree.leaves
    size = np.ldexp(1.0, level.astype(np.int32))[:, None, None]
    octants = 0.25 + 0.5 * np.indices((2, 2, 2)).reshape(3, 8).T
    position = ((corner[:, None, :] + size * octants) * DX).reshape(-1, 3)
    p = Particles.empty(() if gradient is None else ("affine",))
    more = {} if gradient is None else {"affine": np.broadcast_to((gradient * DX).reshape(-1), (len(position), 9))}
    volume = NOMINAL * np.repeat(8.0**level, 8)
    p.append(position.astype(np.float32), velocity=velocity(position), volume=volume, **more)
    return p


def left(octree: Octree, p: Particles) -> list[octree_transfer.Pair]:
    """What particles leave on the lattices of all levels."""
    grid = Grid(DX, (N, N, N))
    u, m = octree_transfer.scattered(p, octree_transfer.lattice_of(grid, 0), NOMINAL, 0)
    finest = [tuple(np.ascontiguousarray(f[1:-1, 1:-1, 1:-1]) for f in fields) for fields in (u, m)]
    return octree_transfer.left(p, (finest[0], finest[1]), grid, LEVELS, NOMINAL)


def transferred(octree: Octree, p: Particles, rounds: Sequence[float] = ROUNDS) -> octree_transfer.OctreeTransfer:
    found = octree_transfer.OctreeTransfer(octree, octree.faces().place, left(octree, p), NOMINAL)
    found.meet(rounds)
    return found


def test_mass_and_momentum_are_kept_across_jumps():
    octree = tree()
    rng = np.random.default_rng(0)
    p = particles(octree, lambda x: rng.standard_normal(x.shape))
    middle = ((p.position > 0.3) & (p.position < 0.7)).all(axis=1)  # nothing of it reaches the border
    p.keep(middle)
    assert len(np.unique(p.volume)) > 2
    axis = octree.faces().axis
    for rounds in ((), ROUNDS):
        found = transferred(octree, p, rounds)
        for a in range(3):
            mass = found.mass[axis == a].astype(np.float64)
            assert mass.sum() == pytest.approx(float(p.volume.sum(dtype=np.float64)), rel=1e-5)
            expected = float((p.volume[:, 0].astype(np.float64) * p.velocity[:, a]).sum())
            scale = float((p.volume[:, 0] * np.abs(p.velocity[:, a])).sum())
            assert (mass * found.u[axis == a]).sum() == pytest.approx(expected, abs=2e-4 * scale)


def test_without_passing_on_what_lies_on_no_face_mass_is_lost():
    """The negative control: what particles leave on their own lattices, at the tree's faces alone."""
    octree = tree()
    p = particles(octree, lambda x: np.ones(x.shape))
    p.keep(((p.position > 0.3) & (p.position < 0.7)).all(axis=1))
    mass = octree_transfer.at_faces(octree.faces().place, [m for _, m in left(octree, p)])
    assert mass[octree.faces().axis == 1].sum() < 0.95 * float(p.volume.sum())


def test_a_uniform_velocity_stays_uniform_on_the_tree_and_on_the_window():
    octree = tree()
    p = particles(octree, lambda x: np.broadcast_to([1.0, -2.0, 0.5], x.shape))
    found, place = transferred(octree, p), octree.faces().place
    assert np.allclose(found.u, np.array([1.0, -2.0, 0.5])[place[:, 0]], rtol=1e-5)
    regular = fields_of(octree, 0)
    to_regular(octree, place, found.u, regular, found.fields)
    for field, value in zip(regular, (1.0, -2.0, 0.5)):
        assert np.allclose(field, value, rtol=1e-5)


def spurious(rounds: Sequence[float]) -> np.ndarray:
    """What faces have besides a rotation of particles with affine parts, over spin times the side of a coarse leaf."""
    octree = tree()
    spin = np.array([0.3, 1.0, -0.5])
    gradient = np.array([[0.0, -spin[2], spin[1]], [spin[2], 0.0, -spin[0]], [-spin[1], spin[0], 0.0]])
    p = particles(octree, lambda x: (x - 0.5) @ gradient.T, gradient)
    place = octree.faces().place.astype(int)
    size = np.ldexp(1.0, place[:, 1])[:, None]
    middle = (place[:, 2:] + 0.5 * size * (np.arange(3) != place[:, :1])) * DX
    exact = ((middle - 0.5) @ gradient.T)[np.arange(len(place)), place[:, 0]]
    inner = ((middle > 0.26) & (middle < 0.74)).all(axis=1)
    off = np.abs(transferred(octree, p, rounds).u - exact)
    return off[inner] / (np.linalg.norm(spin) * 2.0 * size[inner, 0] * DX)


def test_rounds_take_the_spurious_velocity_of_a_rotation_away():
    """At jumps, in one transfer: a tenth of spin times the coarse side without rounds, below a hundredth with them."""
    assert spurious(()).max() > 0.1
    assert spurious(ROUNDS).max() < 0.01
