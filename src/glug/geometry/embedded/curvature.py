"""The curvature of a surface at its vertices: kappa = k1 + k2, 1 / R of a disc and 2 / R of a ball.

2D: the angle by which the curve turns at a vertex, over the mean length of its two segments; exact on circles.
3D: kappa n = sum_j (cot a + cot b) (x_i - x_j) / (2 A) over the neighbours, with the mixed areas A of Meyer et al.
(2003).
"""

import numpy as np


def curvature(vertices: np.ndarray, triangles: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """kappa (n,) [1/m], positive where the liquid bulges; `normal` (n, dim) points out of it."""
    return _of_curve(vertices, triangles) if vertices.shape[1] == 2 else _of_surface(vertices, triangles, normal)


def _of_curve(x: np.ndarray, segments: np.ndarray) -> np.ndarray:
    way = x[segments[:, 1]] - x[segments[:, 0]]
    n, length, angle = len(x), np.hypot(way[:, 0], way[:, 1]), np.arctan2(way[:, 1], way[:, 0])
    after, before = np.zeros(n), np.zeros(n)
    after[segments[:, 0]], before[segments[:, 1]] = angle, angle
    turn = np.mod(after - before + np.pi, 2.0 * np.pi) - np.pi
    both = np.bincount(segments.ravel(), np.repeat(length, 2), n)
    return 2.0 * turn / np.maximum(both, 1e-300)


def _of_surface(x: np.ndarray, triangles: np.ndarray, normal: np.ndarray) -> np.ndarray:
    total, area = np.zeros((len(x), 3)), np.zeros(len(x))
    corner = [x[triangles[:, k]] for k in range(3)]
    double = np.linalg.norm(np.cross(corner[1] - corner[0], corner[2] - corner[0]), axis=1)
    double = np.maximum(double, 1e-300)
    cot = [
        ((corner[(k + 1) % 3] - corner[k]) * (corner[(k + 2) % 3] - corner[k])).sum(axis=1) / double for k in range(3)
    ]
    blunt = np.array(cot) < 0.0
    for k in range(3):
        i, j = triangles[:, (k + 1) % 3], triangles[:, (k + 2) % 3]
        edge = x[i] - x[j]
        pull, part = cot[k][:, None] * edge, cot[k] * (edge**2).sum(axis=1) / 8.0
        for a in range(3):
            total[:, a] += np.bincount(i, pull[:, a], len(x)) - np.bincount(j, pull[:, a], len(x))
        part = np.where(blunt.any(axis=0), 0.0, part)
        area += np.bincount(i, part, len(x)) + np.bincount(j, part, len(x))
        share = np.where(blunt[k], 0.25, np.where(blunt.any(axis=0), 0.125, 0.0)) * double
        area += np.bincount(triangles[:, k], share, len(x))
    return (total * normal).sum(axis=1) / (2.0 * np.maximum(area, 1e-300))
