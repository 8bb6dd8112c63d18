"""Which kernels a scene calls, as runs of the library's scenes were seen to call them."""

import functools
import json
from dataclasses import dataclass

from glug import jit
from glug.kernel_store import SHIPPED
from glug.precompile import KernelCall
from glug.scene import Scene
from glug.simulation.setting import Setting
from glug.simulation.stages import stages_of

RECORD = SHIPPED / "calls.json"


@dataclass(frozen=True)
class Seen:
    """A scene that ran: what kind it is, and what it called."""

    traits: frozenset[str]
    calls: tuple[KernelCall, ...]


def traits_of(scene: Scene) -> frozenset[str]:
    """What decides which kernels a scene calls: its dimension, stages, solvers, and what its solids do."""
    setting = Setting(scene)
    solver = scene.solver
    traits = {f"{setting.dim}D", solver.pressure, f"viscosity {solver.viscosity}", f"{solver.air} air"}
    traits |= {stage.name for stage in stages_of(setting)}
    traits |= {"moving"} if setting.moving else set()
    traits |= {"sources"} if scene.sources else set()
    return frozenset(traits)


def needed(scene: Scene) -> tuple[KernelCall, ...]:
    """The calls of a scene of the library; those of the most similar one for others."""
    seen = recorded()
    if scene.name in seen:
        return seen[scene.name].calls
    traits = traits_of(scene)
    alike = max(seen.values(), key=lambda other: len(traits & other.traits) - len(traits ^ other.traits), default=None)
    return alike.calls if alike is not None else ()


def all_needed() -> list[KernelCall]:
    """The calls of all scenes of the library."""
    return sorted({call for seen in recorded().values() for call in seen.calls})


def called() -> set[KernelCall]:
    """The calls of this process so far."""
    return {KernelCall.of(name, types) for name, found in jit.signatures().items() for types in found}


@functools.cache
def recorded() -> dict[str, Seen]:
    """What is known of the library's scenes, by name; nothing where the package has no such record."""
    if not RECORD.exists():
        return {}
    data = json.loads(RECORD.read_text())
    calls = [KernelCall.parse(text) for text in data["calls"]]
    return {
        name: Seen(frozenset(entry["traits"]), tuple(calls[n] for n in entry["calls"]))
        for name, entry in data["scenes"].items()
    }


def write_record(seen: dict[str, Seen]) -> None:
    """Replace what is known."""
    calls = sorted({call for entry in seen.values() for call in entry.calls})
    place = {call: n for n, call in enumerate(calls)}
    scenes = {
        name: {"traits": sorted(entry.traits), "calls": sorted(place[call] for call in entry.calls)}
        for name, entry in sorted(seen.items())
    }
    texts = ",\n".join(f"  {json.dumps(str(call))}" for call in calls)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in scenes.items())
    RECORD.write_text(f'{{"calls": [\n{texts}\n],\n"scenes": {{\n{lines}\n}}}}\n')
    recorded.cache_clear()
