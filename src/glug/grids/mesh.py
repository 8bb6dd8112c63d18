"""What the physics asks of a mesh, and what follows from the answers on any mesh.

Samples. A face carries one velocity [m/s], along its unit normal. A cell carries a pressure, and, where the mesh has
strains, the normal strain rates; an edge carries one shear strain rate. Every sample stands for a control volume
[m^dim]: V_F of faces, V_C of cells, V_E of edges. V_F is the area of the face times the distance between the pressures
on its two sides, so the faces together hold the volume of the mesh `dim` times, once for every direction of velocity.

Operators. D u is the divergence [1/s] of every cell; V_C D u is its net outflow [m^dim/s]. The strain rates E u [1/s]
are made of the derivatives d u_a / d x_b at cells (a = b) and edges. Only D and E are discretised: the gradient of a
pressure and the force of stresses s on the faces, per volume, are

    G p = -V_F^-1 D' V_C p,        -V_F^-1 E' V s,        V = (V_C for every axis, V_E).

What the lab holds to rounding (`glug validate exactness`, `tests/physics/test_variational.py`) rests on three
properties of a mesh (`tests/grids/test_meshes.py`), whatever part of the control volumes is liquid, air or solid:

    G p = n . grad p for linear p          liquid rests, in any direction of gravity
    D u = 0, E u = 0 for rigid motions u   they are kept
    E' V s = 0 for constant stresses s     uniform tractions are met
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from scipy import sparse

AXES = "xyz"
Distance = Callable[[np.ndarray], np.ndarray]  # of points (n, dim) [m], negative inside [m]


@dataclass(frozen=True)
class Fractions:
    """The part of every control volume that something fills, flat: of cells, faces and edges."""

    cell: np.ndarray
    face: np.ndarray
    edge: np.ndarray  # empty where the mesh has no strains

    @classmethod
    def full(cls, mesh: Mesh) -> Fractions:
        return mesh.fractions(lambda points: np.full(len(points), -np.inf))


class Mesh(Protocol):
    """What pressure needs: samples, control volumes, D, cuts and interpolation. Arrays are flat, float64."""

    @property
    def dim(self) -> int: ...

    @property
    def face_position(self) -> np.ndarray:
        """Where the velocities are (faces, dim) [m]."""

    @property
    def face_normal(self) -> np.ndarray:
        """Their directions, of length 1 (faces, dim)."""

    @property
    def face_volume(self) -> np.ndarray:
        """V_F (faces,) [m^dim]."""

    @property
    def cell_position(self) -> np.ndarray:
        """Where the pressures are (cells, dim) [m]."""

    @property
    def cell_volume(self) -> np.ndarray:
        """V_C (cells,) [m^dim]."""

    @property
    def D(self) -> sparse.csr_matrix:
        """Divergence (cells, faces) [1/m]: the net outflow over the cell's volume."""

    def fractions(self, distance: Distance) -> Fractions:
        """The parts of the control volumes where `distance` is negative; 0 and 1 exactly where it cuts nothing."""

    def open_area(self, distance: Distance) -> np.ndarray:
        """The part of every face's area where `distance` is negative (faces,)."""

    def interpolation(self, points: np.ndarray) -> sparse.csr_matrix:
        """The velocity at points (n, dim) from those of the faces (dim n, faces): component after component."""


class StrainMesh(Mesh, Protocol):
    """What viscosity needs besides: edges and derivatives."""

    @property
    def edge_position(self) -> np.ndarray:
        """Where the shears are (edges, dim) [m], one of the `axis_pairs` after the other."""

    @property
    def edge_volume(self) -> np.ndarray:
        """V_E (edges,) [m^dim]."""

    def derivative(self, component: int, along: int) -> sparse.csr_matrix:
        """d u_component / d x_along [1/m] over all faces: at the cells where both are one axis, else at the edges."""


def axis_pairs(dim: int) -> list[tuple[int, int]]:
    """The axes of every shear, in the order of the edges."""
    return list(combinations(range(dim), 2))


def normal_strains(mesh: StrainMesh) -> list[sparse.csr_matrix]:
    """d_a u_a at the cells, for every axis a."""
    return [mesh.derivative(a, a) for a in range(mesh.dim)]


def shear_strains(mesh: StrainMesh) -> list[sparse.csr_matrix]:
    """d_b u_a + d_a u_b at the edges of every pair (a, b)."""
    return [(mesh.derivative(a, b) + mesh.derivative(b, a)).tocsr() for a, b in axis_pairs(mesh.dim)]


def strain(mesh: StrainMesh) -> sparse.csr_matrix:
    """E: the normal strain rates axis by axis, then the doubled shears pair by pair."""
    return sparse.vstack([*normal_strains(mesh), *shear_strains(mesh)], format="csr")


def gradient(mesh: Mesh) -> sparse.csr_matrix:
    """G of a cell field on the faces [1/m]."""
    unit = mesh.face_volume.max()  # equal volumes are 1 then, and change no digit
    return (-sparse.diags(unit / mesh.face_volume) @ mesh.D.T @ sparse.diags(mesh.cell_volume / unit)).tocsr()


def face_velocities(mesh: Mesh, field: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """What the faces see of a velocity field(points) -> (n, dim)."""
    return (field(mesh.face_position) * mesh.face_normal).sum(axis=1)


def velocity_at(mesh: Mesh, points: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The velocity (n, dim) [m/s] at points, between the faces' own."""
    return (mesh.interpolation(points) @ u).reshape(mesh.dim, -1).T


def transfer(mesh: Mesh, points: np.ndarray, velocity: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Face velocities from particles by the transpose of the interpolation, and the mass [kg] that each face gets.

    With the interpolation I the face f gets the momentum sum_p m_p I_pf . v_p and the mass sum_p m_p I_pf . n_f: where
    its weights lie along its normal, a velocity that is the same everywhere comes out unchanged, and the momentum of
    the particles is that of the faces. Faces that no particle reaches have no mass and the velocity 0.
    """
    to_faces = mesh.interpolation(points).T
    momentum = to_faces @ (mass[:, None] * velocity).T.ravel()
    shares = to_faces @ np.kron(np.eye(mesh.dim), mass[:, None])  # of every component in the mass of a face
    total = (shares * mesh.face_normal).sum(axis=1)
    return np.divide(momentum, total, out=np.zeros_like(momentum), where=total > 0.0), total
