"""Which files are read and which are refused: tests/differential/safetensors_differential.py."""
import subprocess
import sys

from comparison import ROOT, Found, comparison

FILES = 20_000


@comparison("safetensors", "whether a changed file is read or refused, and what is read of it", allowed=0)
def verdicts(setting):
    program = ROOT / "tests/differential/safetensors_differential.py"
    done = subprocess.run([sys.executable, program, setting.build / "safetensors_verdicts", "--count", str(FILES)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout[-2000:] + done.stderr[-2000:])
    return Found(FILES, 0)
