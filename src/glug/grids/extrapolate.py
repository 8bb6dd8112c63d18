"""Fill a field outwards from where it is known, layer by layer."""

import numpy as np

from glug.grids import kernels


def extrapolate(field: np.ndarray, known: np.ndarray, layers: int) -> None:
    """Give the samples within `layers` of a known one the mean of their nearer neighbours; in place.

    `known` (uint8) is updated as well.
    """
    field_a, known_a = field, known
    field_b, known_b = np.empty_like(field), np.empty_like(known)
    for _ in range(layers):
        kernels.spread(field_a, known_a, field_b, known_b)
        field_a, field_b, known_a, known_b = field_b, field_a, known_b, known_a
    if field_a is not field:
        field[:] = field_a
        known[:] = known_a
