"""Sets of cells that are joined pair by pair: `parent` leads from every cell to the first one of its set."""

from glug.jit import kernel


@kernel(inline=True)
def root_of(parent, c):
    while parent[c] != c:
        parent[c] = parent[parent[c]]
        c = parent[c]
    return c


@kernel(inline=True)
def join(parent, a, b):
    a, b = root_of(parent, a), root_of(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b
