"""Fill a field outwards from where it is known, layer by layer."""

from collections.abc import Callable

import numpy as np

from glug.grids import kernels


def extrapolate(field: np.ndarray, known: np.ndarray, layers: int) -> None:
    """Give the samples within `layers` of a known one the mean of their nearer neighbours; in place.

    `known` (uint8) is updated as well.
    """
    _layers(kernels.spread, field, known, layers)


def extrapolate_linearly(field: np.ndarray, known: np.ndarray, layers: int) -> None:
    """The same, where samples go on with the smaller slope of the three known samples next to them along the axes.

    A linear field is continued exactly: beyond the surface of a liquid that turns, it turns on. Where slopes change
    their sign it is constant, and where no three known samples lie in a row, the mean of the known neighbours.
    """
    _layers(kernels.spread_linearly, field, known, layers)


def _layers(spread: Callable, field: np.ndarray, known: np.ndarray, layers: int) -> None:
    front = np.empty_like(known)
    for _ in range(layers):
        kernels.find_front(known, front)
        spread(field, known, front)  # reads known samples and writes others: no order matters
        np.bitwise_or(known, front, out=known)
