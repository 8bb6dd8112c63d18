"""Goldade (2021), Tables 5.1 to 5.6: one implicit viscous step on a quadtree and on octrees, on finer and finer trees.

The box [0, pi]^d has walls at rest; the exact solution is sin x sin y (sin z) in every component, dt = 1 s,
rho = 1 kg/m3, mu = x / pi + 1/2 in 2D and x / pi + y + 1 in 3D. Finest cells lie along two spheres (circles) around
opposite corners; every tree but the first is the one before with all leaves cut. The source shows the 2D tree only in a
figure: two quarter circles reproduce its tables. Its 3D input velocity is misprinted; used is the one that follows
from the solution. Beyond a wall the tree goes on as its mirror image, and faces there hold the exact values.

`Linf` is the largest error over the faces of a component, `L1` the sum times the faces' control volumes.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from glug.grids.mesh import Fractions
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.kept import KeptFaces
from glug.grids.octree.operators import OctreeOperators
from glug.grids.octree.tree import Octree
from glug.grids.regular import EDGES, mapped
from glug.physics.reference.viscosity import stiffness
from glug.physics.variational import stress_rows
from glug.physics.viscosity.octree.finest import FinestWeights
from glug.physics.viscosity.octree.rows import OctreeWeights, assemble, coarse_diffusion
from glug.studies.problems.linear_octree import linear
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables.published import Errors, convergence_rows, grids

CASES = {
    "octree-2d": (2, "enhanced", "5.1/5.2"),
    "octree-3d-sloped": (3, "sloped", "5.3/5.5"),
    "octree-3d-enhanced": (3, "enhanced", "5.4/5.6"),
}  # dimension, gradient, published tables (Linf / L1)
COARSEST, USUAL_LARGEST = {2: 32, 3: 16}, {2: 512, 3: 64}  # finest cells along a side, by dimension
LEVELS = {2: 4, 3: 3}
LARGEST_PRODUCT = 64  # cells along a side of a 3D tree up to which sparse products make the matrix


def base_tree(dim: int) -> np.ndarray:
    """Levels of the coarsest tree: finest where the spheres (circles) pass."""
    n = COARSEST[dim]
    x = (np.arange(n) + 0.5) * np.pi / n
    points = np.stack(np.meshgrid(*[x] * dim, indexing="ij"), axis=-1)
    radius = np.sqrt(dim) / 2 * np.pi
    distance = np.minimum(*(np.linalg.norm(points - corner, axis=-1) - radius for corner in (0.0, np.pi)))
    finest = np.abs(distance) <= 0.5 * np.pi / n
    return Octree.refined(finest.reshape(*finest.shape, *[1] * (3 - dim)), LEVELS[dim], dim).level


class OctreeStep:
    """The problem on a tree with n finest cells along a side."""

    def __init__(self, dim: int, n: int, gradient: str = "enhanced"):
        self.dim, self.n, self.gradient = dim, n, gradient
        level = base_tree(dim)
        for axis in range(dim):
            level = np.repeat(level, n // level.shape[axis], axis=axis)
        self.pad = 1 << (LEVELS[dim] - 1)
        mirrored = np.pad(level, [(self.pad, self.pad) if a < dim else (0, 0) for a in range(3)], mode="symmetric")
        self.tree = Octree(np.ascontiguousarray(mirrored), LEVELS[dim], dim)
        self.h = np.pi / n

    @cached_property
    def operators(self) -> OctreeOperators:
        return OctreeOperators(self.tree, self.gradient)

    def world(self, position: np.ndarray) -> np.ndarray:
        """Positions in finest cells of the padded tree, in metres (n, dim)."""
        return (position - self.pad) * self.h

    def viscosity(self, position: np.ndarray) -> np.ndarray:
        x, y = self.world(position)[:, :2].T
        return x / np.pi + 0.5 if self.dim == 2 else x / np.pi + y + 1.0

    @cached_property
    def free(self) -> np.ndarray:
        """Faces strictly inside the box."""
        p = self.world(self.operators.face_position)
        return np.all((p > 1e-9) & (p < np.pi - 1e-9), axis=1)

    @cached_property
    def matrix(self) -> sparse.csr_matrix:
        """M + E' K V E over all faces, in units of the finest cell's volume; fine trees are assembled row by row."""
        if self.dim == 3 and self.n > LARGEST_PRODUCT:
            return self.assembled()
        mesh, full = self.operators, Fractions.full(self.operators)
        viscosity = self.viscosity(mesh.cell_position), self.viscosity(mesh.edge_position)
        rows = stress_rows(mesh, full, full, viscosity, trace_free=False)
        return (sparse.diags(mesh.face_volume) + stiffness(rows) / self.h**2).tocsr()

    def assembled(self) -> sparse.csr_matrix:
        """The same without sparse products, from weights in float32."""
        cell = self._weights((0.5, 0.5, 0.5))
        edges = mapped(self._weights, EDGES)
        tree = linear(self.tree)
        faces, numbers = KeptFaces.of(TreeFaces.of(tree)), self.operators.faces.numbers
        finest = FinestWeights.of(tree, 0, 2 * cell, edges, edges)
        weights = OctreeWeights(np.ones(faces.count, np.float32), finest, *coarse_diffusion(tree, cell))
        matrix = assemble(faces, weights, enhanced=self.gradient == "enhanced").matrix()
        theirs = np.argsort(numbers[faces.place[:, 0], *faces.place[:, 2:].T])  # their order of the same faces
        return matrix[theirs][:, theirs]

    def _weights(self, offset: tuple[float, ...]) -> np.ndarray:
        """mu / h^2 at the samples of the regular grid of finest cells."""
        x, y, _ = np.meshgrid(*(np.arange(n + (o == 0.0)) + o for n, o in zip(self.tree.shape, offset)), indexing="ij")
        shape = x.shape
        mu = self.viscosity(np.stack([x.ravel(), y.ravel(), y.ravel()], axis=1))
        return (mu / self.h**2).astype(np.float32).reshape(shape)

    def solve(self) -> np.ndarray:
        """Velocity of all faces after the step."""
        from scipy.sparse.linalg import cg

        p = self.world(self.operators.face_position)
        exact, start = np.prod(np.sin(p), axis=1), self.input(p)
        rows = self.matrix[self.free]
        b = (self.operators.face_volume * start)[self.free] - rows[:, ~self.free] @ exact[~self.free]
        a = rows[:, self.free].tocsr()
        jacobi = sparse.diags(1.0 / a.diagonal())
        solution, failed = cg(a, b, x0=exact[self.free], rtol=1e-9, M=jacobi)
        assert not failed
        u = exact.copy()
        u[self.free] = solution
        return u

    def input(self, p: np.ndarray) -> np.ndarray:
        """The velocity from which one backward Euler step leads to the exact one."""
        out = np.empty(len(p))
        for a in range(self.dim):
            mine = self.operators.faces.axis == a
            out[mine] = (input_2d if self.dim == 2 else input_3d)(a, *p[mine].T)
        return out

    def errors(self) -> Errors:
        """(Linf, L1) of the velocity components."""
        exact = np.prod(np.sin(self.world(self.operators.face_position)), axis=1)
        error = np.abs(self.solve() - exact)
        volume = self.operators.face_volume * self.h**self.dim
        out = {}
        for a, name in enumerate("uvw"[: self.dim]):
            mine = self.free & (self.operators.faces.axis == a)
            out[name] = (float(error[mine].max()), float((error * volume)[mine].sum()))
        return out


def input_2d(axis: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """u - div(mu (grad u + grad u')) of u = v = sin x sin y."""
    s, mu = np.sin(x) * np.sin(y), x / np.pi + 0.5
    if axis == 0:
        return s - 2 / np.pi * np.cos(x) * np.sin(y) - mu * (np.cos(x + y) - 2 * s)
    return s - mu * (np.cos(x) * np.cos(y) - 3 * s) - np.sin(x + y) / np.pi


def input_3d(axis: int, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The same of u = v = w = sin x sin y sin z."""
    sx, sy, sz = np.sin(x), np.sin(y), np.sin(z)
    mu = x / np.pi + y + 1.0
    xy, xz, yz = np.cos(x + y) * sz, np.cos(x + z) * sy, sx * np.cos(y + z)
    common = sx * sy * sz * (1.0 + 2.0 * mu)
    if axis == 0:
        return common - sz * np.sin(x + y) - 2 / np.pi * np.cos(x) * sy * sz - mu * (xy + xz)
    if axis == 1:
        return common - 2.0 * sx * np.cos(y) * sz - np.sin(x + y) * sz / np.pi - mu * (xy + yz)
    return common - sx * np.sin(y + z) - np.sin(x + z) * sy / np.pi - mu * (xz + yz)


def study(options: StudyOptions) -> list[StudyRow]:
    """The tables of one gradient."""
    dim, gradient, published = CASES[options.name]
    numbers = grids(options.largest_grid, COARSEST[dim], USUAL_LARGEST[dim])
    return convergence_rows(
        options.name, f"Tables {published}", numbers, lambda n: OctreeStep(dim, n, gradient).errors(), published
    )
