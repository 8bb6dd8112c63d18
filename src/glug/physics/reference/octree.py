"""Viscosity on an octree by sparse products: the reference, any dimension, float64 (Goldade 2021, chapter 5).

    (M + dt E' K V E) u = M u*,        K = 2 mu for normal strains, mu for shears

over all faces of a tree; rows and columns of faces with known velocities are taken out by the caller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from glug.grids.octree.operators import OctreeOperators, Samples

Field = Callable[[np.ndarray], np.ndarray]  # of positions (n, 3) in finest cells


def stiffness(operators: OctreeOperators, viscosity: Field, *, laplacian: bool = False) -> sparse.csr_matrix:
    """E' K V E for lengths in finest cells.

    `laplacian` is the baseline: the gradient of every component on its own, so that the components decouple.
    """
    count = operators.faces.count
    total = sparse.csr_matrix((count, count))
    for samples in all_samples(operators):
        k = viscosity(samples.position) * samples.volume
        if laplacian:
            for part in samples.parts:
                total = total + part.T @ sparse.diags(k) @ part
        else:
            rows = samples.rows
            total = total + rows.T @ sparse.diags(k if samples.shear else 2.0 * k) @ rows
    return total


def all_samples(operators: OctreeOperators) -> list[Samples]:
    """The samples of every component of the strain."""
    normal = [operators.normal_strains(a) for a in operators.axes]
    shears = [operators.shears(a) for a in (operators.axes if operators.tree.dim == 3 else (2,))]
    return normal + shears
