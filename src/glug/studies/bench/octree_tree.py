"""`glug bench octree-tree`: the sparse linear octree of a deep pool, and the pointer octree of the same leaves.

It answers two questions: what does a leaf cost to make, links included, in time and in bytes, in a domain of its own
size and in one of 4096^3; and what does a neighbour cost by stored links, by looking it up in tiles and by climbing and
descending in a pointer tree, whose nodes lie depth first or scattered. With `--case step` a third one: what does a
whole step cost with neighbours by pointers, for the rows of the published table (Flynn 2018), with the same bits?
Making pointers is left out there, and what looks into tiles otherwise still does: ratios are lower bounds. Times are
core-seconds, the least of some runs: beside other programs they vary less than the clock.
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
PUBLISHED: dict[str, tuple[str, int, int, float, float]] = {  # scene, cells, levels, seconds a step of both trees there
    "resting water 64^3": ("resting-water", 64, 5, 6.57, 3.66),
    "crown 64^3, uniform": ("octree-crown", 64, 1, 15.27, 9.24),
    "crown 64^3": ("octree-crown", 64, 5, 8.69, 4.39),
    "crown 128^3, uniform": ("octree-crown", 128, 1, 249.14, 180.44),
    "crown 128^3": ("octree-crown", 128, 5, 144.87, 89.36),
    "container 48x80x48": ("container-fill", 80, 5, 11.69, 2.47),
}


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


def measure_step(scene: str, n: int, levels: int) -> Result:
    """Core-seconds of steps on the linear tree, and with pointers depth first and scattered."""
    from glug.scene import load
    from glug.simulation import Simulation
    from glug.studies.problems.pointer_tree import with_pointers

    changes = {"domain.resolution": n, "solver.mesh": "octree", "refine.levels": levels}
    seconds, digests = {}, set()
    for way in ("linear", "depth first", "scattered"):
        made: list[float] = []
        seed = 1 if way == "scattered" else None
        stages = None if way == "linear" else (lambda stages: with_pointers(stages, made, seed))  # noqa: B023
        simulation = Simulation(load(scene, changes), stages=stages)
        found = []
        for _ in range(TIMES + 1):
            begin = time.process_time()
            cells = simulation.step_once().cells
            found.append(time.process_time() - begin - (made[-1] if made else 0.0))
        seconds[way] = min(found[1:])
        digests.add(simulation.state.particles.position.tobytes())
    if len(digests) != 1:
        raise AssertionError("steps with pointers have other bits than those on the linear tree")
    return {"leaves": cells, "seconds": seconds}


def bench_steps(options: BenchOptions) -> list[BenchRow]:
    """A row per way and row of the published table; those of at most `--n` cells."""
    rows = []
    lines = [["case", "leaves", "linear s", "pointers s", "scattered s", "faster", "", "published s", "", "faster"]]
    for name, (scene, n, levels, pointer, linear) in PUBLISHED.items():
        if n > (options.resolution or n):
            continue
        r = alone(measure_step, 1, scene=scene, n=n, levels=levels)
        own = r["seconds"]
        rows += [BenchRow(f"step/{name}", way, n, r["leaves"], 1, seconds=s) for way, s in own.items()]
        ratio = [f"{own[way] / own['linear']:.2f}x" for way in ("depth first", "scattered")]
        theirs = [f"{linear:.2f}", f"{pointer:.2f}", f"{pointer / linear:.2f}x"]
        lines.append([name, str(r["leaves"]), *(f"{s:.3f}" for s in own.values()), *ratio, *theirs])
    options.say(aligned(lines))
    return rows


def bench(options: BenchOptions) -> list[BenchRow]:
    """Rows per tree and per way to a neighbour, or per step; prints the tables."""
    if options.case == "step":
        return bench_steps(options)
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
