"""Particles on a tree's faces: mass and momentum are kept across jumps, linear motions are met, paths are straight."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.lattice import TreeLattice
from glug.grids.octree.linear.tree import LinearTree
from glug.particles.leaves import ROUNDS, LeafTransfer, Place, sort_by_leaf
from glug.particles.storage import Particles

N, LEVELS, DX = 32, 4, 1.0 / 32
NOMINAL = DX**3 / 8


def transfer() -> LeafTransfer:
    finest = np.zeros((N, N, N), bool)
    finest[:, 20:] = True
    finest[3, 4, 5] = True  # its corner neighbours are two levels coarser
    tree = LinearTree.refined(finest, LEVELS)
    return LeafTransfer(TreeLattice.of(TreeFaces.of(tree)), Place(np.zeros(3), DX))


def particles(on: LeafTransfer, velocity: Callable, gradient: np.ndarray | None = None) -> Particles:
    """Eight per leaf at the centres of its octants, all of the leaf's level."""
    tree = on.lattice.faces.tree
    octants = 0.25 + 0.5 * np.indices((2, 2, 2)).reshape(3, 8).T
    position = ((tree.corner[:, None, :] + tree.size[:, None, None] * octants) * DX).reshape(-1, 3)
    p = Particles.empty(() if gradient is None else ("affine",))
    more = {} if gradient is None else {"affine": np.broadcast_to((gradient * DX).reshape(-1), (len(position), 9))}
    volume = NOMINAL * np.repeat(tree.size**3, 8)
    p.append(position.astype(np.float32), velocity=velocity(position), volume=volume, **more)
    sort_by_leaf(p, tree, on.place)
    assert len(p) == 8 * len(tree)
    return p


def linear(on: LeafTransfer, gradient: np.ndarray) -> np.ndarray:
    """A velocity that is linear in space on the faces, and on the ghosts that are made of them."""
    lattice = on.lattice
    u = lattice.vector()
    u[: lattice.faces.count] = lattice.faces.sampled(lambda x: x @ gradient.T)
    lattice.fill(u)
    lattice.fill_behind(u)
    return u


def test_mass_and_momentum_are_kept_across_jumps():
    on = transfer()
    rng = np.random.default_rng(0)
    p = particles(on, lambda x: rng.standard_normal(x.shape))
    p.keep(((p.position > 0.3) & (p.position < 0.7)).all(axis=1))  # nothing of it reaches the border
    sort_by_leaf(p, on.lattice.faces.tree, on.place)
    assert len(np.unique(p.volume)) > 2
    axis, faces = on.lattice.faces.axis, on.lattice.faces.count
    _, mass = on.scattered(p)
    assert mass[:faces].sum() < 0.98 * mass.sum()  # the control: some of it is on ghosts
    on.lattice.pass_on(mass)
    for rounds in ((), ROUNDS):
        u, _ = on.velocities(p, NOMINAL, rounds)
        for a in range(3):
            mine = mass[:faces][axis == a].astype(np.float64)
            assert mine.sum() == pytest.approx(float(p.volume.sum(dtype=np.float64)), rel=1e-5)
            expected = float((p.volume[:, 0].astype(np.float64) * p.velocity[:, a]).sum())
            scale = float((p.volume[:, 0] * np.abs(p.velocity[:, a])).sum())
            assert (mine * u[:faces][axis == a]).sum() == pytest.approx(expected, abs=2e-4 * scale)


def test_passing_on_is_the_transpose_of_filling():
    lattice = transfer().lattice
    rng = np.random.default_rng(1)
    u, p = (rng.standard_normal(len(lattice.vector())).astype(np.float32) for _ in range(2))
    u[lattice.faces.count :] = 0.0
    p[-1] = 0.0
    p[lattice.faces.count + np.flatnonzero(~np.isin(np.arange(lattice.ghosts), np.concatenate(lattice.groups)))] = 0.0
    filled, passed = u.copy(), p.copy()
    lattice.fill(filled)
    lattice.pass_on(passed)
    assert float(filled.astype(float) @ p) == pytest.approx(float(u.astype(float) @ passed), rel=1e-4)


def test_linear_velocities_are_met_between_faces_at_jumps_too():
    on = transfer()
    gradient = np.random.default_rng(2).standard_normal((3, 3))
    u = linear(on, gradient)
    points = np.random.default_rng(3).uniform(0.27, 0.73, (4000, 3))  # away from walls, where it is held
    found = on.sample(points, u)
    assert np.abs(found - points / DX @ gradient.T).max() < 1e-3


def test_particles_get_linear_velocities_and_their_gradient():
    on = transfer()
    gradient = np.random.default_rng(4).standard_normal((3, 3))
    p = particles(on, lambda x: np.zeros(x.shape))
    velocity, affine = on.apic(p, linear(on, gradient))
    inner = ((p.position > 0.27) & (p.position < 0.73)).all(axis=1)
    assert np.abs(velocity[inner] - p.position[inner] / DX @ gradient.T).max() < 1e-3
    assert np.abs(affine[inner].reshape(-1, 3, 3) - gradient).max() < 1e-3
    on.flip(p, linear(on, gradient), linear(on, 0.5 * gradient), 1.0)
    assert np.abs(p.velocity[inner] - 0.5 * p.position[inner] / DX @ gradient.T).max() < 1e-3


def test_particles_in_a_uniform_flow_move_straight_through_jumps():
    on = transfer()
    p = particles(on, lambda x: np.zeros(x.shape))
    u = on.lattice.vector()
    way = np.array([0.3, -0.5, 0.2])
    u[: on.lattice.faces.count] = way[on.lattice.faces.axis]
    on.lattice.fill(u)
    on.lattice.fill_behind(u)
    before = p.position.copy()
    on.advect(p, u, 0.2, 4)
    inner = ((before > 0.3) & (before < 0.7)).all(axis=1)
    assert np.abs(p.position - before - 0.2 * way)[inner].max() < 1e-5


def spurious(rounds: Sequence[float]) -> np.ndarray:
    """What faces have besides a rotation of particles with affine parts, over spin times the side of a coarse leaf."""
    on = transfer()
    spin = np.array([0.3, 1.0, -0.5])
    gradient = np.array([[0.0, -spin[2], spin[1]], [spin[2], 0.0, -spin[0]], [-spin[1], spin[0], 0.0]])
    p = particles(on, lambda x: (x - 0.5) @ gradient.T, gradient)
    faces = on.lattice.faces
    middle = faces.position * DX
    exact = ((middle - 0.5) @ gradient.T)[np.arange(faces.count), faces.axis]
    inner = ((middle > 0.26) & (middle < 0.74)).all(axis=1)
    u, _ = on.velocities(p, NOMINAL, rounds)
    off = np.abs(u[: faces.count] - exact)
    return off[inner] / (np.linalg.norm(spin) * 2.0 * np.ldexp(1.0, faces.level[inner].astype(int)) * DX)


def test_rounds_take_the_spurious_velocity_of_a_rotation_away():
    """At jumps, in one transfer: a tenth of spin times the coarse side without rounds, below a hundredth with them."""
    assert spurious(()).max() > 0.1
    assert spurious(ROUNDS).max() < 0.01
