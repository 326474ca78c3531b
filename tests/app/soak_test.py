"""A long training with many saves: neither memory nor open files grow once it is warm. 10,000 steps with 1,000 saves where
CACHET_ROBUSTNESS is "full"; what of it CI has time for otherwise."""
import os
import pathlib
import statistics
import subprocess
import time

import command
import runs

STEPS = 10_000 if os.environ.get("CACHET_ROBUSTNESS") == "full" else 1_500
STEPS_PER_SAVE = 10
SMALLEST_GROWTH = 256 * 1024  # bytes; below it a page here and there is more than 1 %


def resident_bytes(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return None  # it has just ended


def open_files(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


class Soak(runs.RunTest):
    def samples_of(self, process):
        """(resident bytes, open files) fifty times a second until the training ends."""
        samples = []
        while process.poll() is None:
            try:
                memory, files = resident_bytes(process), open_files(process)
            except (FileNotFoundError, ProcessLookupError):
                break
            if memory is not None:
                samples.append((memory, files))
            time.sleep(0.02)
        return samples

    def test_a_long_run_stays_as_large_as_it_was(self):
        words = ["train.epochs=10000", f"train.limit={STEPS} steps", f"train.checkpoint_every={STEPS_PER_SAVE} steps", "train.keep=3",
                 "train.evaluate_every=50 steps", "train.log_every=50 steps", "data.workers=2", "train.ema_decay=0.99",
                 "train.ema_renew_states=5"]
        process = subprocess.Popen([command.COMMAND, "train", "tiny.toml", "--run", "long", "--progress", "none",
                                    *(word for setting in words for word in ("--set", setting))],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        samples = self.samples_of(process)
        errors = process.communicate()[1]
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.events("long")[-1]["step"], STEPS)
        self.assertGreater(len(samples), 40, "it ended too soon to tell")
        # Warm after a quarter.
        quarter = len(samples) // 4
        warm, last = samples[quarter:2 * quarter], samples[-quarter:]
        memory = [statistics.median(sample[0] for sample in part) for part in (warm, last)]
        print(f"{STEPS} steps, {STEPS // STEPS_PER_SAVE} saves: {memory[0] / 2**20:.1f} MiB, then {memory[1] / 2**20:.1f} MiB",
              flush=True)
        self.assertLessEqual(memory[1], max(1.01 * memory[0], memory[0] + SMALLEST_GROWTH))
        # The fewest: a file that a save has open for a moment is not a leak.
        files = [min(sample[1] for sample in part) for part in (warm, last)]
        self.assertLessEqual(files[1], files[0])


if __name__ == "__main__":
    command.main()
