"""Rotations and boxes under rotation."""

import numpy as np

Bounds = tuple[np.ndarray, np.ndarray]
UNBOUNDED = np.full(3, np.inf)


def rotation_matrix(degrees: tuple[float, float, float]) -> np.ndarray:
    """R = Rz Ry Rx: turn about the fixed x, then y, then z axis, angles in degrees."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )


def axis_rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """R = I + sin(a) K + (1 - cos(a)) K^2 for a unit axis and an angle in radians (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def unit(direction: tuple[float, float, float]) -> np.ndarray:
    """The direction with length 1."""
    vector = np.asarray(direction, dtype=np.float64)
    return vector / np.linalg.norm(vector)


def moved_bounds(bounds: Bounds, R: np.ndarray, x: np.ndarray) -> Bounds:
    """The axis-aligned box around R box + x; infinite sides stay infinite, also when turned."""
    lower, upper = bounds
    low, high = np.array(x, dtype=np.float64), np.array(x, dtype=np.float64)
    for i in range(3):
        for j in range(3):
            if abs(R[i, j]) > 1e-12:  # 0 * inf has no meaning here
                ends = R[i, j] * lower[j], R[i, j] * upper[j]
                low[i] += min(ends)
                high[i] += max(ends)
    return low, high
