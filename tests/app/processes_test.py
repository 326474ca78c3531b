"""Several processes that train one model together, and what becomes of them when one ends."""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import command
from runs import RunTest, write_images

STEADY = ["--set", "schedule.kind=constant"]  # another schedule is laid out for the length of the run
LONG = [*STEADY, "--set", "train.epochs=400"]
SHORT = [*STEADY, "--set", "train.limit=16 steps"]
TWO = ["--processes", "2"]


def children_of(process):
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if re.search(rf"(?m)^PPid:\t{process.pid}$", text):
            found.append(int(status.parent.name))
    return found


def is_alive(pid):
    try:
        return "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


class Processes(RunTest):
    def gone_within(self, seconds, pids):
        deadline = time.monotonic() + seconds
        while any(is_alive(pid) for pid in pids):
            self.assertLess(time.monotonic(), deadline, f"{pids} are still there")
            time.sleep(0.02)

    def log_has(self, run, sentence, seconds=60):
        """Whether a line of the run's log ends with the sentence within so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if any(line.endswith(sentence) for line in (self.folder / run / "log.txt").read_text().splitlines()):
                return True
            time.sleep(0.2)
        return False

    def last(self, run, kind="evaluation"):
        return [event for event in self.events(run) if event["kind"] == kind][-1]

    def test_train_what_one_trains(self):
        same = ["--set", "model.dropout=0.0", "--set", "model.stochastic_depth=0.0", "--set", "optimizer.kind=sgd", "--set", "optimizer.lr=0.05", *SHORT]
        done = self.train("two", *TWO, *same)
        self.assertIn("2 processes train together", done.stderr)
        self.assertEqual(done.stderr.count("training in two"), 1)
        self.train("one", *same)
        one, two = self.last("one", "step"), self.last("two", "step")
        for metric in ("loss", "top1", "grad_norm"):
            self.assertAlmostEqual(one["metrics"][metric], two["metrics"][metric], delta=1e-3 * one["metrics"][metric])
        self.assertAlmostEqual(self.last("one")["metrics"]["loss"], self.last("two")["metrics"]["loss"], delta=1e-3)
        self.cachet("eval", "two")
        self.assertEqual([json.loads((self.folder / run / "environment.json").read_text())["processes"] for run in ("two", "one")], [2, 1])
        rows = self.json_of("compare", "two", "one", "--json", cwd=self.folder)["runs"]
        self.assertEqual([row["processes"] for row in rows], [2, 1])
        self.assertTrue(rows[0]["device"].startswith("2 processes, each with "), rows[0]["device"])
        self.assertNotIn("processes", rows[1]["device"])
        text = " ".join(self.cachet("compare", "two", "one").stdout.split())
        self.assertIn("two was trained by 2 processes. The rates and times are for all processes together.", text)
        self.assertNotIn("one was trained", text)
        self.assertIn("each with 1 thread of", (self.folder / "two/report.html").read_text())

    def test_make_the_states_of_averaged_weights_together(self):
        same = ["--set", "model.dropout=0.0", "--set", "model.stochastic_depth=0.0", "--set", "optimizer.kind=sgd", "--set",
                "optimizer.lr=0.05", "--set", "model.norm={kind=\"batch\"}", "--set", "train.ema_decay=0.9", "--set",
                "train.ema_renew_states=5", *SHORT]
        self.train("two", *TWO, *same)
        self.train("one", *same)
        self.assertAlmostEqual(self.last("one")["metrics"]["loss"], self.last("two")["metrics"]["loss"], delta=1e-3)
        last = "two/checkpoints/" + (self.folder / "two/checkpoints/last").read_text().strip()
        self.assertAlmostEqual(self.json_of("eval", last, "--json", cwd=self.folder)["metrics"]["loss"],
                               self.last("two")["metrics"]["loss"], delta=1e-6)

    def test_go_on_as_if_they_had_not_stopped(self):
        self.train("whole", *TWO, *SHORT)
        self.train("parts", *TWO, *STEADY, "--set", "train.limit=7 steps")
        self.cachet("train", "parts", "--resume", *TWO, "--progress", "none", *SHORT)
        self.assertEqual(self.weights("whole"), self.weights("parts"))

    def test_go_on_in_another_number(self):
        self.train("run", *TWO, *STEADY, "--set", "train.limit=7 steps")
        done = self.cachet("train", "run", "--resume", "--progress", "none", *SHORT)
        self.assertIn("the checkpoint was saved with 2 processes, but now there is 1", done.stderr)
        done = self.cachet("train", "run", "--resume", *TWO, "--progress", "none", "--set", "train.limit=20 steps")
        self.assertIn("the checkpoint was saved with 1 process, but now there are 2", done.stderr)
        self.assertEqual(self.last("run")["step"], 20)

    def test_one_that_is_killed_ends_all_and_is_named(self):
        # process_faults_test kills processes at random moments.
        process = self.started("run", *TWO, *LONG)
        other, = children_of(process)
        os.kill(other, signal.SIGKILL)
        output, errors = process.communicate(timeout=20)
        self.assertEqual((process.returncode, output), (1, ""), errors)
        self.assertIn("cachet train: process 1 was ended by signal 9 (Killed)", errors)
        self.cachet("train", "run", "--resume", *TWO, "--progress", "none", "--set", "train.limit=1 epoch")

    def test_one_that_is_held_up_is_named_and_waited_for(self):
        limit = ["--set", "train.limit=400 steps"]
        process = self.started("run", *TWO, *LONG, *limit)
        other, = children_of(process)
        os.kill(other, signal.SIGSTOP)
        told = self.log_has("run", "s for process 1")
        os.kill(other, signal.SIGCONT)
        output, errors = process.communicate(timeout=120)
        self.assertTrue(told)
        self.assertEqual(process.returncode, 0, errors)
        self.train("whole", *TWO, *LONG, *limit)
        self.assertEqual(self.weights("whole"), self.weights("run"))

    def test_one_that_is_held_up_while_it_waits_is_named(self):
        process = self.started("run", *TWO, *LONG)
        other, = children_of(process)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(3)  # the other waits for rank 0, and reports it
        os.kill(other, signal.SIGSTOP)
        os.kill(process.pid, signal.SIGCONT)
        told = self.log_has("run", "s for process 1")
        os.kill(other, signal.SIGCONT)
        process.kill()
        process.communicate(timeout=20)
        self.assertTrue(told)

    def test_the_leader_leaves_no_orphans(self):
        process = self.started("run", *TWO, *LONG)
        others = children_of(process)
        process.kill()
        process.communicate(timeout=20)
        self.gone_within(10, others)

    def test_a_signal_to_any_of_them_saves_a_common_step(self):
        for whom in ("leader", "other"):
            process = self.started(whom, *TWO, *LONG)
            os.kill(process.pid if whom == "leader" else children_of(process)[0], signal.SIGTERM)
            output, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 143, errors)
            self.assertRegex(errors.splitlines()[-1],
                             f"interrupted at step .* resume with: cachet train {whom} --resume --processes 2")
            reached = json.loads((self.folder / whom / "status.json").read_text())["step"]
            limit = ["--set", f"train.limit={reached + 5} steps"]
            self.cachet("train", whom, "--resume", *TWO, "--progress", "none", *limit)
            self.train(f"whole-{whom}", *TWO, *LONG, *limit)
            self.assertEqual(self.weights(f"whole-{whom}"), self.weights(whom))

    def place(self, rank, port, size=2, **variables):
        return {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank),
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **variables}

    def free_ports(self, count):
        with contextlib.ExitStack() as stack:
            probes = [stack.enter_context(socket.socket()) for _ in range(count)]
            for probe in probes:
                probe.bind(("127.0.0.1", 0))
            return [probe.getsockname()[1] for probe in probes]

    def free_port(self):
        return self.free_ports(1)[0]

    def start_place(self, rank, port, *words, **place):
        return subprocess.Popen([command.COMMAND, "train", "tiny.toml", *([] if "--run" in words else ["--run", "run"]), "--progress", "none", *words],
                                cwd=self.folder, env=self.place(rank, port, **place), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def both(self, words_of, place_of=lambda rank: {}, timeout=120):
        port = self.free_port()
        processes = [self.start_place(rank, port, *words_of(rank), **place_of(rank)) for rank in range(2)]
        said = [process.communicate(timeout=timeout) for process in processes]
        return [process.returncode for process in processes], said

    def assert_plain(self, errors, lines=1):
        """A sentence, without the log and the call stacks of LibTorch and Gloo."""
        self.assertLessEqual(len(errors.splitlines()), lines, errors)
        for trace in ("frame #", "c10d", "enforce", ".cc:", ".cpp:", "Exception"):
            self.assertNotIn(trace, errors)

    def test_are_started_as_torchrun_does(self):
        codes, said = self.both(lambda rank: SHORT)
        self.assertEqual(codes, [0, 0], said)
        self.assertIn("run/report.html", said[0][0])
        self.assertEqual(said[1], ("", ""))
        self.train("other", *TWO, *SHORT)
        self.assertEqual(self.weights("run"), self.weights("other"))

    def test_refuse_another_recipe(self):
        codes, said = self.both(lambda rank: ["--set", f"optimizer.lr=0.0{rank + 1}", *SHORT])
        self.assertEqual(codes, [1, 1], said)
        for output, errors in said:
            self.assertIn("process 1 has a different recipe from process 0", errors)
        self.assertFalse((self.folder / "run").exists(), "nothing is written")

    def test_refuse_another_setting_of_a_resume_before_the_run_changes(self):
        self.train("run", *SHORT)
        before = {path: path.read_bytes() for path in (self.folder / "run").rglob("*") if path.is_file()}
        more = [*STEADY, "--resume", "--set", "train.limit=20 steps"]
        codes, said = self.both(lambda rank: more if rank == 0 else [*more, "--set", "optimizer.lr=0.5"])
        self.assertEqual(codes, [1, 1], said)
        for output, errors in said:
            self.assertIn("process 1 has a different recipe from process 0", errors)
        self.assertEqual({path: path.read_bytes() for path in (self.folder / "run").rglob("*") if path.is_file()}, before)

    def test_refuse_other_data(self):
        write_images(self.folder / "others")
        images = self.folder / "others/train-images-idx3-ubyte"
        images.write_bytes(images.read_bytes()[:-1] + b"\0")
        links = [self.folder / name for name in ("a", "b")]
        for link, target in zip(links, ("images", "others")):
            (link / "data").parent.mkdir()
            (link / "images").symlink_to(self.folder / target)
        port = self.free_port()
        processes = [subprocess.Popen([command.COMMAND, "train", "../tiny.toml", "--run", "../run", "--progress", "none", *SHORT],
                                      cwd=link, env=self.place(rank, port), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) for rank, link in enumerate(links)]
        for process in processes:
            errors = process.communicate(timeout=120)[1]
            self.assertEqual(process.returncode, 1, errors)
            self.assertIn("process 1 has a different training data from process 0", errors)
        self.assertFalse((self.folder / "run").exists(), "nothing is written")

    def test_refuse_another_number_of_processes(self):
        codes, said = self.both(lambda rank: SHORT, lambda rank: {"size": 2 + rank}, timeout=30)
        self.assertEqual(codes, [1, 1], said)
        for output, errors in said:
            self.assertIn("was started with WORLD_SIZE", errors)
            self.assert_plain(errors)

    def test_refuse_another_attempt(self):
        codes, said = self.both(lambda rank: SHORT, lambda rank: {"TORCHELASTIC_RESTART_COUNT": str(rank)}, timeout=30)
        self.assertEqual(codes, [1, 1], said)
        for output, errors in said:
            self.assertIn("was started with TORCHELASTIC_RESTART_COUNT", errors)
            self.assert_plain(errors)

    def test_a_leader_that_is_killed_is_named(self):
        port = self.free_port()
        leader, other = [self.start_place(rank, port, *LONG) for rank in range(2)]
        self.wait_for_step(leader, "run", 4)
        leader.kill()
        output, errors = other.communicate(timeout=30)
        leader.communicate()
        self.assertEqual((other.returncode, output), (1, ""), errors)
        self.assertIn("process 0 has ended", errors)
        self.assert_plain(errors)

    def logs_of_c10d(self, runs):
        """For each run and the variables of its environment, (the run's log, the output of process 1). Process 1 begins first and finds no
        other process, and c10d warns of that."""
        ports = self.free_ports(len(runs))
        others = [self.start_place(1, port, "--run", run, *LONG, **variables) for port, (run, variables) in zip(ports, runs.items())]
        time.sleep(13)  # the first try ends after ten seconds
        for port, other, (run, variables) in zip(ports, others, runs.items()):
            leader = self.start_place(0, port, "--run", run, *LONG, **variables)
            self.wait_for_step(leader, run, 4)
            leader.send_signal(signal.SIGTERM)
            leader.communicate(timeout=60)
            yield (self.folder / run / "log.txt").read_text(), other.communicate(timeout=60)[1]

    def test_the_log_of_c10d_is_in_the_runs_log(self):
        (log, said), (log_if_asked, said_if_asked) = self.logs_of_c10d({"run": {}, "asked": {"TORCH_CPP_LOG_LEVEL": "WARNING"}})
        self.assertRegex(log, r"process 1: \[[WE].*\[c10d\]")
        self.assert_plain(said, lines=2)
        self.assertNotIn("[c10d]", log_if_asked)
        self.assertIn("[c10d]", said_if_asked)

    def test_one_that_waits_says_for_whom(self):
        ports = self.free_ports(2)
        processes = [self.start_place(rank, ports[rank], "--run", f"run{rank}", *SHORT) for rank in range(2)]
        time.sleep(14)
        for process, expected in zip(processes, ("waiting for process 1 (10 s)",
                                                 f"waiting for process 0: nothing listens at 127.0.0.1:{ports[1]} (10 s)")):
            process.kill()
            errors = process.communicate()[1]
            self.assertIn(f"cachet train: {expected}", errors)
            self.assert_plain(errors)

    def test_another_program_at_the_port_is_named(self):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            port = server.getsockname()[1]
            leader = self.start_place(0, port, *SHORT)
            errors = leader.communicate(timeout=30)[1]
            self.assertEqual(leader.returncode, 1, errors)
            self.assertIn(f"another program on this machine uses port {port}", errors)
            self.assert_plain(errors)

            def answer():
                while True:
                    try:
                        peer, _ = server.accept()
                    except OSError:  # the end of the test
                        return
                    with peer, contextlib.suppress(OSError):
                        peer.recv(100)
                        peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

            threading.Thread(target=answer, daemon=True).start()
            other = self.start_place(1, port, *SHORT)
            errors = other.communicate(timeout=60)[1]
            self.assertEqual(other.returncode, 1, errors)
            self.assertIn(f"the program that listens at 127.0.0.1:{port} is not the store of this run's processes", errors)
            self.assert_plain(errors, lines=2)  # and perhaps that it waited
            server.shutdown(socket.SHUT_RDWR)

    def test_a_machine_without_its_loopback_interface(self):
        words = ["unshare", "--user", "--map-root-user", "--net"]
        if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this machine makes no networks of their own")
        done = subprocess.run([*words, command.COMMAND, "train", "tiny.toml", "--run", "run", "--progress", "none", *TWO],
                              cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("loopback", done.stderr)
        self.assert_plain(done.stderr)

    def test_more_processes_than_samples_are_refused_before_they_start(self):
        start = time.monotonic()
        errors = self.refused("train", "tiny.toml", "--run", "run", "--processes", "64", "--set", "train.batch_size=20",
                              cwd=self.folder, code=1)
        self.assertIn("the batch size is 20, which is smaller than the number of processes, 64", errors)
        self.assertLess(time.monotonic() - start, 10)
        self.assertFalse((self.folder / "run").exists())

    def test_a_failure_of_another_is_told(self):
        (self.folder / "other.toml").write_text((self.folder / "tiny.toml").read_text().replace('"images"', '"elsewhere"'))
        codes, said = self.both(lambda rank: ["--set", "data.root=elsewhere", *SHORT] if rank else SHORT)
        self.assertEqual(codes[0], 1, said)
        self.assertIn("process 1 failed: ", said[0][1])
        self.assertIn("elsewhere", said[0][1])

    def test_mistakes_are_named(self):
        words = ("train", "tiny.toml", *TWO)
        self.assertIn("--processes works only with a single run",
                      self.refused(*words, "--seeds", "2", cwd=self.folder))
        for preview in ((), ("--dry-run",)):
            self.assertIn("which is smaller than the number of processes",
                          self.refused(*words, *preview, "--set", "train.batch_size=1", cwd=self.folder, code=1))
        self.refused("train", "tiny.toml", "--processes", "0", cwd=self.folder)


if __name__ == "__main__":
    command.main()
