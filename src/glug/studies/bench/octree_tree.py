"""`glug bench octree-tree`: the sparse linear octree of a deep pool, and the pointer octree of the same leaves.

It answers two questions: what does a leaf cost to make, links included, in time and in bytes, in a domain of its own
size and in one of 4096^3; and what does a neighbour cost by stored links, by looking it up in tiles and by climbing and
descending in a pointer tree, whose nodes lie depth first or scattered. Times are core-seconds, the least of some runs:
beside other programs they vary less than the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from glug.studies.bench.solves.measured import Result, alone
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

USUAL, DOMAIN, TIMES = 256, 4096, 3


def least(run: Callable[[], Any]) -> float:
    """The fewest core-seconds of some runs."""
    found = []
    for _ in range(TIMES):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


def measure_build(n: int, domain: int) -> Result:
    """Core-seconds of a tree with its links, from the keys of the cells that are asked for."""
    from glug.grids.octree.linear.tree import LinearTree
    from glug.studies.problems.linear_octree import pool

    pool(32, 32)
    tree = pool(n, domain)
    top = tree.levels - 1
    asked = [tree.key[tree.level == 0], *[np.zeros(0, np.int64)] * (tree.levels - 2), np.unique(tree.key >> (3 * top))]
    again = LinearTree.grown(asked, tree.shape)
    seconds = least(lambda: LinearTree.grown(asked, tree.shape))
    return {"leaves": len(again), "seconds": seconds, "bytes": again.nbytes}


def measure_neighbours(n: int) -> Result:
    """Core-seconds to find all neighbours, once every way has found the same."""
    _neighbours(32)
    return _neighbours(n)


def _neighbours(n: int) -> Result:
    from glug.grids.octree.linear.morton import SIDES, beside
    from glug.grids.octree.linear.tree import OUTSIDE, LinearTree
    from glug.studies.problems import kernels_pointer_tree as kernels
    from glug.studies.problems.linear_octree import BAND, LEVELS, waves
    from glug.studies.problems.pointer_tree import PointerTree

    finest = np.empty((n, n, n), bool)
    for i, slab in enumerate(finest):
        j, k = np.indices(slab.shape).reshape(2, -1) + 0.5
        slab[:] = (np.abs(waves(n)(np.stack([np.full(j.shape, i + 0.5), j, k], axis=1))) < BAND).reshape(slab.shape)
    tree = LinearTree.refined(finest, LEVELS)
    out = np.empty(len(tree), np.int64)
    probes = [np.where(tree.links[:, s] == OUTSIDE, tree.key, beside(tree.key, s)) for s in range(SIDES)]
    ordered, scattered = PointerTree.of(tree), PointerTree.of(tree, 1)
    if not (np.array_equal(ordered.links(), tree.links) and np.array_equal(scattered.links(), tree.links)):
        raise AssertionError("the pointer tree has other neighbours than the linear one")
    seconds = {
        "stored links": least(lambda: kernels.follow(tree.links, out)),
        "tiles": least(lambda: [tree.index.find(keys, tree.levels) for keys in probes]),
        "pointers, depth first": least(ordered.links),
        "pointers, scattered": least(scattered.links),
    }
    return {"leaves": len(tree), "seconds": seconds}


def bench(options: BenchOptions) -> list[BenchRow]:
    """Rows per tree and per way to a neighbour; prints both tables."""
    n, threads = options.resolution or USUAL, max(options.threads)
    rows = []
    lines = [["tree", "leaves", "core-us per leaf", "bytes per leaf"]]
    for domain in (n, max(n, DOMAIN)):
        r = alone(measure_build, threads, n=n, domain=domain)
        each = r["bytes"] / r["leaves"]
        kind = "linear" if domain == n else f"linear in {domain}^3"
        rows.append(
            BenchRow(
                "build",
                kind,
                n,
                r["leaves"],
                threads,
                seconds=r["seconds"],
                peak_gb=r["peak"] / 1e9,
                bytes_per_dof=each,
            )
        )
        lines.append([kind, str(r["leaves"]), f"{r['seconds'] / r['leaves'] * 1e6:.3f}", f"{each:.1f}"])
    options.say(aligned(lines))
    r = alone(measure_neighbours, 1, n=n)
    per = {way: s / (6 * r["leaves"]) * 1e9 for way, s in r["seconds"].items()}
    slow = per["pointers, scattered"]
    rows += [BenchRow("neighbour", way, n, r["leaves"], 1, seconds=s) for way, s in r["seconds"].items()]
    options.say(
        aligned([["neighbour", "ns", "faster"], *([way, f"{ns:.1f}", f"{slow / ns:.1f}x"] for way, ns in per.items())])
    )
    return rows
