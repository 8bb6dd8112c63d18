"""Pictures of a run's frames, drawn by a process beside the simulation.

Only one thread of a process may run parallel kernels, and the simulation's does. The process has a low priority and one
thread, reads what is to be drawn from its standard input, answers with the bytes of a PNG, and ends with its input.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping

from glug import jit
from glug.errors import OutputError
from glug.geometry.sampled import SampledDistance
from glug.scene import Scene
from glug.scene.motions.scripted import Pose
from glug.view.preview import png_bytes
from glug.view.scene_pictures import ScenePictures

PRIORITY = 15  # far below that of the simulation, whose threads wait for each other: it has the time that they leave


class PictureProcess:
    """Draws frames of `scene`."""

    def __init__(self, scene: Scene):
        command = [sys.executable, "-m", "glug.view.picture_process"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._send(scene)

    def png(self, distance: SampledDistance, time: float, poses: Mapping[str, Pose]) -> bytes:
        """The same bytes as a picture drawn here."""
        self._send((distance, time, dict(poses)))
        try:
            return pickle.load(self._output)
        except (EOFError, pickle.UnpicklingError):
            raise OutputError("the process that draws pictures has ended; go on with --resume") from None

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.communicate()

    def _send(self, what: object) -> None:
        try:
            pickle.dump(what, self._input, protocol=5)
            self._input.flush()
        except BrokenPipeError:
            raise OutputError("the process that draws pictures has ended; go on with --resume") from None


def main() -> None:
    """Draw what comes in until nothing does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the simulation decides
    if hasattr(os, "nice"):
        os.nice(PRIORITY)
    jit.set_threads(1)
    pictures = ScenePictures(pickle.load(sys.stdin.buffer))
    while True:
        try:
            distance, time, poses = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(png_bytes(pictures.picture(distance, time, poses)), sys.stdout.buffer, protocol=5)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
