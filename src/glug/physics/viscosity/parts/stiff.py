"""Parts of a liquid that are far stiffer than what is around them move almost rigidly.

Coarse grids cannot tell such a motion from one that strains the stiff part where it ends between their samples, and
hold it back: of the slow modes of a cycle around a stiff ball, six are its rigid motions and there are no others. So
what a cycle does is joined by the exact solution among these motions R (an additive coarse space, Dryja and Widlund
1987):

    preconditioner = cycle + Q,        Q = R (R' A R)^-1 R'

Unlike free parts (`parts.free`) they strain what is around them, so R' A R follows from products with A. Stiff parts
that share no sample have a block of 6 x 6 each. Rotations are about the middle of a part: about a point far away they
would be next to the translations, and digits lost between them.
"""

from dataclasses import dataclass

import numpy as np

from glug.physics.viscosity.boxes import JUMP_AT_FACE, extremes
from glug.physics.viscosity.levels import ViscosityLevel
from glug.physics.viscosity.parts.free import Precondition, RigidMotions, label_pairs
from glug.solvers import kernels
from glug.solvers.cg import Vector, zeros_like

MOST = 2000  # stiff parts, the largest ones; more are dust
LEAST = 1e-6  # of the largest eigenvalue of a scaled block: smaller ones are the rounding of products in float32


@dataclass(frozen=True)
class StiffFaces:
    """The faces around which any stress sample is above the threshold, and those of them at jumps (1, else 0)."""

    faces: Vector
    edge: Vector
    threshold: float

    @classmethod
    def of(cls, level: ViscosityLevel, threshold: float) -> "StiffFaces":
        faces, edge = zeros_like(level), zeros_like(level)
        middle = tuple(slice(1, n - 1) for n in level.shape)
        for a, m in enumerate(level.m):
            high, low = extremes(level, a)
            faces[a][middle] = (high > np.float32(threshold)) & (m[middle] > 0)
            edge[a][middle] = faces[a][middle] * (high > JUMP_AT_FACE * low)
        return cls(faces, edge, threshold)


class StiffParts:
    """A cycle that is joined by the rigid motions of stiff parts, those with `labels` from 1 to `count`."""

    def __init__(self, level: ViscosityLevel, cycle: Precondition, stiff: StiffFaces, labels: np.ndarray, count: int):
        self._cycle, self._faces = cycle, stiff.faces
        self._motions, self._about = RigidMotions(level, labels, count), about_centres(labels, count)
        RAR = np.empty((count + 1, 6, 6))
        x, q = zeros_like(level), zeros_like(level)
        for a in range(6):
            motion = np.zeros((count + 1, 6))
            motion[1:, a] = 1.0
            self._add(motion, x)
            level.apply(x, q)
            RAR[:, :, a] = self._forces(q)
            kernels.clear(x, level.blocks)
        self.loose = self._loose(level, stiff, RAR)
        RAR[~self.loose] = 0.0
        self._inverse = positive_inverse(RAR)

    def _loose(self, level: ViscosityLevel, stiff: StiffFaces, RAR: np.ndarray) -> np.ndarray:
        """Whether nothing but what is softer holds a part, by label: cycles know how to move it if walls do."""
        mass = self._forces(level.mass)[:, :3]
        edge = self._forces(stiff.edge)[:, :3].sum(axis=1)
        force = np.einsum("naa->na", RAR)[:, :3]
        loose = (force - mass <= stiff.threshold * edge[:, None]).all(axis=1)
        loose[0] = False
        return loose

    def _forces(self, r: Vector) -> np.ndarray:
        """R' r."""
        return np.einsum("nji,nj->ni", self._about, self._motions.forces(r, self._faces))

    def _add(self, motion: np.ndarray, x: Vector) -> None:
        self._motions.add(np.einsum("nij,nj->ni", self._about, motion), x, self._faces)

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        """z = what the preconditioner makes of r; returns r . z."""
        energy = self._cycle(r, z, scratch)
        force = self._forces(r)
        motion = np.einsum("nij,nj->ni", self._inverse, force)
        self._add(motion, z)
        return energy + float((force * motion).sum())


def with_stiff_parts(level: ViscosityLevel, cycle: Precondition, threshold: float) -> Precondition:
    """`cycle`, and beside it the rigid motions of loose parts stiffer than `threshold`, where there are any."""
    stiff = StiffFaces.of(level, threshold)
    labels, count = largest_parts(*label_pairs(level, stiff.faces), MOST)
    if count == 0:
        return cycle
    parts = StiffParts(level, cycle, stiff, labels, count)
    return parts if parts.loose.any() else cycle


def largest_parts(labels: np.ndarray, count: int, most: int) -> tuple[np.ndarray, int]:
    """Labels of the `most` largest parts, numbered anew from 1 if there are more, and how many are left."""
    if count <= most:
        return labels, count
    size = np.bincount(labels.reshape(-1), minlength=count + 1)[1:]
    number = np.zeros(count + 1, labels.dtype)
    number[1 + np.sort(np.argsort(-size, kind="stable")[:most])] = np.arange(1, most + 1)
    return number[labels], most


def about_centres(labels: np.ndarray, count: int) -> np.ndarray:
    """By label, the matrix that takes a motion about the centre of a part to the same motion about the origin.

    Centres are whole cells, so that rigid motions are exact in float32 and strain no stiff sample at all.
    """
    at = np.nonzero(labels)
    mine = labels[at]
    size = np.maximum(np.bincount(mine, minlength=count + 1), 1)
    x, y, z = (np.rint(2.0 * np.bincount(mine, n, count + 1) / size + 1.0) for n in at)  # labels are of pairs of cells
    out = np.tile(np.eye(6), (count + 1, 1, 1))
    out[:, 0, 4], out[:, 0, 5] = -z, y  # v + w x (p - c) = (v + c x w) + w x p
    out[:, 1, 3], out[:, 1, 5] = z, -x
    out[:, 2, 3], out[:, 2, 4] = -y, x
    return out


def positive_inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of every block on the motions that a part has: those whose energy is more than rounding."""
    matrix = 0.5 * (matrix + matrix.transpose(0, 2, 1))
    size = np.sqrt(np.maximum(np.einsum("naa->na", matrix), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    values, vectors = np.linalg.eigh(scale[:, :, None] * matrix * scale[:, None, :])
    keep = values > LEAST * values.max(axis=1, keepdims=True, initial=0.0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=keep)
    return scale[:, :, None] * np.einsum("nia,na,nja->nij", vectors, inverse, vectors) * scale[:, None, :]
