"""Kernels of a basis of vectors: the unknowns of fields end to end, and their products by chunks.

A field is flat here; `index` has the places of its unknowns, in order, and every vector or field its own samples.
"""

import numpy as np

from glug.jit import kernel, prange

CHUNK = 1 << 13  # entries of a task, whose products are summed in float32 by rows of `ROW`
ROW = 1024
ZERO = np.float32(0.0)


@kernel(inline=True)
def chunk_range(t, size):
    """First entry of chunk t, and the one after its last."""
    return t * CHUNK, min((t + 1) * CHUNK, size)


@kernel(parallel=True)
def gather(field, index, weight, out):
    """out = weight times the unknowns of a field."""
    for t in prange((len(index) + CHUNK - 1) // CHUNK):
        begin, end = chunk_range(t, len(index))
        for n in range(begin, end):
            out[n] = weight[n] * field[index[n]]


@kernel(parallel=True)
def scatter(vector, index, weight, field):
    """The unknowns of a field = vector / weight."""
    for t in prange((len(index) + CHUNK - 1) // CHUNK):
        begin, end = chunk_range(t, len(index))
        for n in range(begin, end):
            field[index[n]] = vector[n] / weight[n]


@kernel(parallel=True)
def add_at(values, index, field):
    """field += values, at the unknowns."""
    for t in prange((len(index) + CHUNK - 1) // CHUNK):
        begin, end = chunk_range(t, len(index))
        for n in range(begin, end):
            field[index[n]] += values[index[n]]


@kernel(parallel=True)
def dots(a, b, sums):
    """Sums of a . b, one for every chunk."""
    for t in prange(len(sums)):
        begin, end = chunk_range(t, len(a))
        total = np.float64(0.0)
        for row in range(begin, end, ROW):
            part = ZERO
            for n in range(row, min(row + ROW, end)):
                part += a[n] * b[n]
            total += np.float64(part)
        sums[t] = total


@kernel(parallel=True)
def subtract(a, share, b):
    """a -= share b."""
    for t in prange((len(a) + CHUNK - 1) // CHUNK):
        begin, end = chunk_range(t, len(a))
        for n in range(begin, end):
            a[n] -= share * b[n]
