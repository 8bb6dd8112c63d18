"""Scenes that a stranger might write are loaded, or refused by one short sentence, in bounded time.

`GLUG_FUZZ=20000 pytest tests/fuzz` looks at more of them (`make soak` does); `GLUG_FUZZ_SEED` says where to begin.
"""

import math
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from generated_scenes import scene_text

import glug
from glug.errors import GlugError
from glug.scene import door, to_toml
from glug.simulation.forecast import forecast

COUNT = int(os.environ.get("GLUG_FUZZ", "300"))
FIRST = int(os.environ.get("GLUG_FUZZ_SEED", "0"))
LONGEST = 10  # [s]
LONGEST_MESSAGE = 300  # characters
MOST_PIXELS = 2**27  # of a picture
EPSILON, COARSEST = 2.0**-24, 0.01  # what single precision leaves of a number; cells that a position may be off by it


class Late(BaseException):
    """Not an Exception: nothing on the way may catch it."""


def _late(*_: object) -> None:
    raise Late


def odd_scene(scene: glug.Scene, folder: Path) -> str:
    """What a scene may not have although its values are valid one by one; empty where it has nothing of it."""
    if (folder / "out" / scene.name).resolve().parent != folder.resolve() / "out":
        return f"would be written outside of out: {scene.name!r:.80}"
    if scene.seed >= 2**63 or math.prod(scene.output.preview_size) > MOST_PIXELS:
        return f"passes with seed {scene.seed} and pictures of {scene.output.preview_size}"
    if max(map(abs, (*scene.domain.lower, *scene.domain.upper))) * EPSILON > COARSEST * scene.domain.dx:
        return f"positions of single precision do not resolve its cells at {scene.domain.origin}"
    if load_text(to_toml(scene)) != scene:
        return "another scene when it is written and read again"
    return ""


def load_text(text: str) -> glug.Scene:
    return glug.load(door.parse(text))


def outcome(path: Path) -> str:
    """'valid', 'refused', or what should not have happened."""
    before = signal.signal(signal.SIGALRM, _late)
    signal.alarm(LONGEST)
    try:
        scene = glug.load(path)
        forecast(scene)
        return odd_scene(scene, path.parent) or "valid"
    except GlugError as error:
        text = str(error)
        if error.exit_code != 2 or "\n" in text or len(text) > LONGEST_MESSAGE:
            return f"a message of {len(text)} characters, exit code {error.exit_code}: {text!r:.200}"
        return "refused"
    except Late:
        return f"not done after {LONGEST} s"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_generated_scenes_are_valid_or_refused_in_one_sentence(tmp_path):
    outcomes, slowest = {}, 0.0
    for seed in range(FIRST, FIRST + COUNT):
        path = tmp_path / ("scene.toml" if seed % 16 else "two\nlines.toml")
        path.write_text(scene_text(seed), encoding="utf-8")
        begun = time.monotonic()
        outcomes[seed] = outcome(path)
        slowest = max(slowest, time.monotonic() - begun)
    counts = Counter(outcomes.values())
    valid, refused = counts["valid"], counts["refused"]
    print(f"\n{COUNT} scenes from seed {FIRST}: {valid} valid, {refused} refused, {slowest:.1f} s at most")
    odd = {seed: what for seed, what in outcomes.items() if what not in ("valid", "refused")}
    assert not odd
    # The generator makes both kinds, or this test shows nothing.
    assert min(valid, refused) > COUNT / 20


def test_the_generator_repeats_itself():
    assert scene_text(7) == scene_text(7) != scene_text(8)
