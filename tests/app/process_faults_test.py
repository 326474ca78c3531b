"""Processes that train together, of which one is killed, asked to stop or held up at any moment: the others end at once or wait,
and the same command then reaches the weights of a run without faults. Killed and asked at 100 random moments each, held up
at 10, where CACHET_ROBUSTNESS is "full"; at a few of them otherwise."""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import command
import runs
from processes_test import children_of, is_alive

PROCESSES = 4
STEPS = 120
SETTINGS = ["schedule.kind=constant", "train.epochs=400", f"train.limit={STEPS} steps", "train.checkpoint_every=5 steps",
            "train.evaluate_every=12 steps", "train.log_every=4 steps"]


def moments(full, few):
    return full if os.environ.get("CACHET_ROBUSTNESS") == "full" else few


def rank_of(pid):
    """Of one that another process started; None where it has just ended."""
    try:
        found = re.search(rb"(?:^|\0)RANK=(\d+)\0", pathlib.Path(f"/proc/{pid}/environ").read_bytes())
    except OSError:
        return None
    return int(found[1]) if found else None


class ProcessFaults(runs.RunTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(5)
        start = time.monotonic()
        self.assertEqual(self.train_to_end("whole")[0], 0)
        self.seconds = time.monotonic() - start

    def start(self, run):
        return subprocess.Popen([command.COMMAND, "train", "tiny.toml", "--run", run, "--resume", "--progress", "none",
                                 "--processes", str(PROCESSES), *(word for each in SETTINGS for word in ("--set", each))],
                                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def train_to_end(self, run):
        process = self.start(run)
        errors = process.communicate(timeout=300)[1]
        return process.returncode, errors

    def one_at_random(self, process, longest):
        """(process, rank) of one that trains, at some moment of its beginning; None where all have ended."""
        time.sleep(self.chance.uniform(0, longest))
        others = [(pid, rank_of(pid)) for pid in children_of(process)]
        trained_by = [(process.pid, 0), *(each for each in others if each[1] is not None)]
        return None if process.poll() is not None else self.chance.choice(trained_by)

    def send(self, pid, what):
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            return False
        return True

    def ended(self, process, others, seconds):
        """The exit code and the output; all of them are gone within the time."""
        start = time.monotonic()
        errors = process.communicate(timeout=seconds)[1]
        while any(is_alive(pid) for pid in others):
            self.assertLess(time.monotonic() - start, seconds, "some are still there")
            time.sleep(0.02)
        return process.returncode, errors

    def runs_struck(self, count, signal_sent, check):
        """Trains runs, each to its end, which are struck `count` times in all: check(code, errors, rank, run)."""
        struck = number = 0
        while struck < count:
            run = f"run{number}"
            number += 1
            self.assertLess(number, 20 * count, "they end before they can be struck")
            code = None
            while code != 0:
                process = self.start(run)
                # A third of the time that a run takes, so that several fall into one.
                victim = self.one_at_random(process, self.seconds / 3) if struck < count else None
                others = children_of(process)
                sent = victim is not None and self.send(victim[0], signal_sent)
                code, errors = self.ended(process, others, 10 if sent and signal_sent == signal.SIGKILL else 300)
                if sent and code != 0:
                    struck += 1
                    check(code, errors, victim[1], run)
                else:
                    self.assertEqual(code, 0, errors)
            self.assertEqual(self.weights(run), self.weights("whole"), run)
        print(f"{struck} times, in {number} runs", flush=True)

    def test_one_is_killed(self):
        def check(code, errors, rank, run):
            if rank == 0:
                self.assertEqual(code, -signal.SIGKILL, errors)
            else:
                self.assertEqual(code, 1, errors)
                self.assertIn(f"process {rank} was ended by signal 9 (Killed)", errors)

        self.runs_struck(moments(100, 4), signal.SIGKILL, check)

    def test_one_is_asked_to_stop(self):
        def check(code, errors, rank, run):
            # Before it listens to signals, a process ends by them as any other.
            if code == -signal.SIGTERM or "was ended by signal 15" in errors:
                return
            self.assertEqual(code, 143, errors)
            status = json.loads((self.folder / run / "status.json").read_text())
            checkpoints = self.folder / run / "checkpoints"
            if status["step"] > 0:
                self.assertEqual((checkpoints / "last").read_text().strip(), f"step-{status['step']:08}")

        self.runs_struck(moments(100, 4), signal.SIGTERM, check)

    def test_one_is_held_up(self):
        """A minute at most, as a machine may that swaps or migrates: it is named, and the bits are the same."""
        longest = moments(60, 3)
        for number in range(moments(10, 1)):
            run = f"held{number}"
            process = self.start(run)
            self.wait_for_step(process, run, self.chance.randint(1, STEPS // 2))
            pid = self.chance.choice(children_of(process))
            rank = rank_of(pid)
            os.kill(pid, signal.SIGSTOP)
            held = self.chance.uniform(1, longest)
            time.sleep(held)
            log = (self.folder / run / "log.txt").read_text()
            os.kill(pid, signal.SIGCONT)
            if held > 10:
                self.assertIn(f"the other processes have waited 8 s for process {rank}", log)
            code, errors = self.ended(process, [], 300)
            self.assertEqual(code, 0, errors)
            self.assertEqual(self.weights(run), self.weights("whole"), run)


if __name__ == "__main__":
    command.main()
