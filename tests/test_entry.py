"""Ctrl-C ends the command with 130 and without a traceback, also while it still imports."""

import signal
import subprocess
import sys

# What follows `glug.entry` is imported slowly, so that the signal comes in the middle of it.
SLOW = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "glug.cli":
            print("importing", flush=True)
            time.sleep(20)
sys.meta_path.insert(0, Slow())
from glug.entry import main
main()
"""


def test_ctrl_c_while_it_imports_is_130_and_one_line():
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=15)
    assert (process.returncode, err.strip()) == (130, "glug: stopped")
