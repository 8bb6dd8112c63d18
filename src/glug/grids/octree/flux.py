"""Projections on an octree, assembled: three pairs of a divergence and a gradient (the reference).

Where a coarse face of side H is divided into m parts, between the coarse leaf C and the fine leaves i,

    shared       every part has a velocity of its own in D, and all have one gradient (mean_j p_j - p_C) / (3/4 H)
                 (Losasso, Fedkiw and Osher 2006): the scheme of the fast path;
    coarse-face  the same gradient, and one flow in D, the mean of the parts (Ando and Batty 2020): `OctreeOperators.D`;
    sloped       the velocity of each part in D, and its transpose (p_i - p_C) / (3/4 H) (Losasso et al. 2004).

`shared` and `coarse-face` have the same matrix D G. Although D is not the plain transpose of G in `shared`, there is a
symmetric positive definite mass matrix with M G = -D' V_C, so that its projection is orthogonal: u' M u never grows.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from glug.grids.mesh import gradient
from glug.grids.octree.operators import OctreeOperators

SCHEMES = ("shared", "coarse-face", "sloped")


class OctreeFlux:
    """D [1/m] and G [1/m] of one of the SCHEMES on a mesh in which all faces are kept."""

    def __init__(self, mesh: OctreeOperators, scheme: str = "shared"):
        if scheme not in SCHEMES:
            raise ValueError(f"no scheme is called '{scheme}' (valid: {', '.join(SCHEMES)})")
        self.mesh, self.scheme = mesh, scheme

    @cached_property
    def D(self) -> sparse.csr_matrix:
        return self.mesh.D if self.scheme == "coarse-face" else self.own_flow

    @cached_property
    def G(self) -> sparse.csr_matrix:
        if self.scheme != "sloped":
            return gradient(self.mesh)
        flow = sparse.diags(self.mesh.cell_volume) @ self.own_flow
        return (-sparse.diags(1.0 / self.mesh.face_volume) @ flow.T).tocsr()

    @cached_property
    def cells(self) -> np.ndarray:
        """The leaves below and above every face (faces, 2), numbered as the cells of the mesh."""
        mesh, faces = self.mesh, self.mesh.faces
        number = np.empty(mesh.tree.shape, np.int64)
        for l, index, numbers in mesh._numbered():
            width = [1 << l if a < mesh.dim else 1 for a in range(3)]
            for offset in product(*[range(w) for w in width]):
                number[tuple((index * width + offset).T)] = numbers
        above = faces.corner.astype(np.int64)
        below = above.copy()
        below[np.arange(len(below)), faces.axis] -= 1
        return np.stack([number[tuple(below.T)], number[tuple(above.T)]], axis=1)

    @cached_property
    def own_flow(self) -> sparse.csr_matrix:
        """D in which every part of a divided face has its own velocity."""
        mesh, count = self.mesh, self.mesh.faces.count
        area = (mesh.dx * np.ldexp(1.0, mesh.faces.level.astype(int))) ** (mesh.dim - 1)
        values = np.concatenate([area, -area])
        place = self.cells.T.ravel(), np.tile(np.arange(count), 2)
        flow = sparse.csr_matrix((values, place), shape=(len(mesh.cell_volume), count))
        return (sparse.diags(1.0 / mesh.cell_volume) @ flow).tocsr()

    @cached_property
    def mass(self) -> sparse.csr_matrix:
        """M with M G = -D' V_C of `shared`: V_F, and the couplings of the parts of divided faces to those beside them.

        A part i couples with the faces b between the fine leaves of its group by s h^(d-1) y_i k: s is 1 where the
        fine leaves are above, y_i its offset from the middle of the coarse face along the axis of b, and k 1 in 2D, in
        3D 3/4 for the b that its leaf has, 1/4 for the other.
        """
        mesh = self.mesh
        level = mesh.faces.level.astype(int)
        cell_level = np.repeat(np.arange(mesh.tree.levels), [len(index) for index in mesh._leaves])
        sides = cell_level[self.cells]
        rows, columns, values = [], [], []
        numbers = {(int(a), *map(int, c)): n for n, (a, c) in enumerate(zip(mesh.faces.axis, mesh.faces.corner))}
        for n in np.flatnonzero(sides[:, 0] != sides[:, 1]):
            a, h = int(mesh.faces.axis[n]), 1 << int(level[n])
            fine = 1 if sides[n, 1] < sides[n, 0] else 0
            corner = mesh.faces.corner[n].astype(int)
            for b in mesh.axes:
                if b == a:
                    continue
                up = (corner[b] // h) & 1  # the upper of the two along b
                y = (up - 0.5) * h * mesh.dx
                others = [c for c in mesh.axes if c not in (a, b)]
                for here in (0, 1) if others else (0,):
                    place = corner.copy()
                    place[b] += h * (1 - up)
                    place[a] -= h * (1 - fine)
                    if here:
                        place[others[0]] += h * (1 - 2 * ((corner[others[0]] // h) & 1))
                    k = 1.0 if not others else 0.25 if here else 0.75
                    weight = (2 * fine - 1) * (h * mesh.dx) ** (mesh.dim - 1) * y * k
                    rows += [n, numbers[b, *map(int, place)]]
                    columns += [rows[-1], n]
                    values += [weight, weight]
        coupled = sparse.csr_matrix((values, (rows, columns)), shape=(mesh.faces.count,) * 2)
        return (sparse.diags(mesh.face_volume) + coupled).tocsr()

    @cached_property
    def _factors(self):  # type: ignore[no-untyped-def]
        """Of D G, with the first pressure held."""
        matrix = sparse.diags(self.mesh.cell_volume) @ self.D @ self.G
        return splu(matrix[1:, 1:].tocsc())

    def project(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u - G p with D u = 0 in a closed box, and p, whose mean is zero."""
        volume = self.mesh.cell_volume
        p = np.zeros(len(volume))
        p[1:] = self._factors.solve((volume * (self.D @ u))[1:])
        p -= (p * volume).sum() / volume.sum()
        return u - self.G @ p, p
