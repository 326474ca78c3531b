#!/usr/bin/env python3
"""Reads the event files that we write with TensorBoard's own readers: the accumulators of its Python code, and its data server.

  tensorboard_differential.py build/release/tests/differential/tensorboard_sample build/release/cachet

Needs `pip install tensorboard`.
"""
import json
import math
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from tensorboard.backend.event_processing import event_accumulator, event_file_loader, plugin_event_accumulator
from tensorboard.context import RequestContext
from tensorboard.data import server_ingester
from tensorboard.util import grpc_util

SAMPLE = COMMAND = None  # set below
RECIPE = """
[data]
root = "images"
kind = "idx"
classes = 2
[model]
name = "vit_tiny_patch16_224"
image_size = 4
patch_size = 2
embed_dim = 8
depth = 1
num_heads = 2
[model.cache]
kind = "grc"
[train]
epochs = 2
batch_size = 4
threads = 1
log_every = "1 step"
checkpoint_every = "3 steps"
tensorboard = true
"""


def float32(value):
    return math.nan if value is None else struct.unpack("<f", struct.pack("<f", value))[0]


def accumulator(path):
    return event_accumulator.EventAccumulator(str(path), size_guidance={event_accumulator.SCALARS: 0,
                                                                        event_accumulator.TENSORS: 0})


def accumulated(path):
    return accumulator(path).Reload()


class Accumulator:
    """What other programs read event files with."""

    def __init__(self, run):
        self.reader = accumulator(run)

    def points(self):
        self.reader.Reload()
        return {tag: [(event.step, event.value) for event in self.reader.Scalars(tag)] for tag in self.reader.Tags()["scalars"]}


class Plugins:
    """What a TensorBoard with --load_fast=false reads them with."""

    def __init__(self, run):
        self.reader = plugin_event_accumulator.EventAccumulator(str(run), tensor_size_guidance={"scalars": 0})

    def points(self):
        self.reader.Reload()
        return {tag: [(event.step, event.tensor_proto.float_val[0]) for event in self.reader.Tensors(tag)]
                for tag in self.reader.PluginTagToContent("scalars")}


class DataServer:
    """The program that reads them for a TensorBoard as it is started."""

    def __init__(self, run):
        try:
            socket.getaddrinfo("localhost", None)
        except OSError:
            raise unittest.SkipTest("this machine does not know the name localhost, at which the data server listens") from None
        self.ingester = server_ingester.SubprocessServerDataIngester(
            server_binary=server_ingester.get_server_binary(), logdir=str(run), reload_interval=1,
            channel_creds_type=grpc_util.ChannelCredsType.LOCAL, samples_per_plugin={"scalars": 0})
        self.ingester.start()

    def points(self):
        runs = self.ingester.data_provider.read_scalars(RequestContext(), experiment_id="", plugin_name="scalars", downsample=10_000)
        return {tag: [(point.step, point.value) for point in points] for tags in runs.values() for tag, points in tags.items()}

    def close(self):
        self.ingester._stdin_handle.close()  # the server ends with it; nothing public ends it before this process does


class TensorBoard(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def sample(self):
        return subprocess.run([SAMPLE], stdout=subprocess.PIPE, check=True).stdout

    def test_every_kind_of_record(self):
        (self.folder / "events.out.tfevents.1.cachet").write_bytes(self.sample())
        read = accumulated(self.folder)
        self.assertEqual(sorted(read.Tags()["scalars"]), ["lr", "training/loss"])
        self.assertEqual([(event.wall_time, event.step, event.value) for event in read.Scalars("training/loss")],
                         [(1001.25, 1, float32(0.1)), (1002.25, 1 << 40, -math.inf)])
        self.assertEqual(read.Scalars("lr")[0].value, float32(1e-30))
        described = read.SummaryMetadata("training/loss")
        self.assertEqual((described.display_name, described.summary_description), ("training/Loss", "lower is better"))
        text, = read.Tensors("recipe")
        self.assertEqual(text.step, 2)
        self.assertEqual(text.tensor_proto.string_val[0].decode(), "```toml\n[train]  # ü\n```\n")
        self.assertEqual(read.SummaryMetadata("recipe").plugin_data.plugin_name, "text")

    def test_a_torn_tail_leaves_what_is_before_it(self):
        data = self.sample()
        path = self.folder / "events.out.tfevents.1.cachet"
        path.write_bytes(data)
        whole = list(event_file_loader.RawEventFileLoader(str(path)).Load())
        self.assertEqual(len(whole), 5)
        last = 16 + len(whole[-1])
        for kept in range(len(data) - last, len(data)):
            path.write_bytes(data[:kept])
            self.assertEqual(list(event_file_loader.RawEventFileLoader(str(path)).Load()), whole[:-1], kept)

    def train(self, *words):
        return subprocess.run([COMMAND, "train", "tiny.toml", "--run", "run", "--progress", "none", *words],
                              cwd=self.folder, check=True, capture_output=True)

    def logged_points(self):
        """Of each tag (time, step, value), once a step: the first."""
        run = self.folder / "run"
        expected = {}
        for line in (run / "metrics.jsonl").read_text().splitlines():
            event = json.loads(line)
            kind = "training/" if event["kind"] == "step" else "evaluation/"
            scalars = {kind + name: value for name, value in event["metrics"].items()}
            for name, values in event["series"].items():
                scalars.update({f"{name}/{index}": value for index, value in enumerate(values)})
            machine = dict(event["machine"])
            time = machine.pop("unix_time")
            scalars.update({"machine/" + name: value for name, value in machine.items()})
            for tag, value in scalars.items():
                points = expected.setdefault(tag, [])
                if not points or points[-1][1] != event["step"]:
                    points.append((time, event["step"], float32(value)))
        return expected

    def expect_shows_the_log(self):
        read = accumulated(self.folder / "run")
        expected = self.logged_points()
        self.assertEqual(set(read.Tags()["scalars"]), set(expected))
        self.assertIn("share/blocks.0.attn/0", expected)
        for tag, values in expected.items():
            with self.subTest(tag):
                self.assertEqual([(event.wall_time, event.step, event.value) for event in read.Scalars(tag)], values)
        self.assertIn("kind = \"grc\"", read.Tensors("recipe")[0].tensor_proto.string_val[0].decode())
        return expected

    def write_data(self):
        images = self.folder / "images"
        images.mkdir()
        for prefix, count in (("train", 20), ("t10k", 6)):
            (images / f"{prefix}-images-idx3-ubyte").write_bytes(
                struct.pack(">4I", 0x803, count, 4, 4) + bytes(index % 251 for index in range(16 * count)))
            (images / f"{prefix}-labels-idx1-ubyte").write_bytes(
                struct.pack(">2I", 0x801, count) + bytes(index % 2 for index in range(count)))
        (self.folder / "tiny.toml").write_text(RECIPE)

    def logged_steps(self):
        log = self.folder / "run" / "metrics.jsonl"
        events = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")] if log.exists() else []
        return [event["step"] for event in events if event["kind"] == "step"]

    def test_a_killed_run_leaves_what_it_logged(self):
        self.write_data()
        process = subprocess.Popen([COMMAND, "train", "tiny.toml", "--run", "run", "--progress", "none", "--set",
                                    "train.epochs=1000"], cwd=self.folder, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 100
        while len(self.logged_steps()) < 12 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        steps = self.logged_steps()
        shown = [event.step for event in accumulated(self.folder / "run").Scalars("training/loss")]
        self.assertGreaterEqual(len(steps), 12)
        self.assertIn(shown, (steps, steps[:-1]))
        self.train("--resume", "--set", "train.epochs=1000", "--set", f"train.limit={steps[-1] + 5} steps")
        self.assertEqual([step for _, step, _ in self.expect_shows_the_log()["training/loss"]],
                         list(range(1, steps[-1] + 6)))

    def test_a_run_shows_what_it_logs_and_no_step_twice(self):
        self.write_data()
        self.train("--set", "train.limit=5 steps")
        self.expect_shows_the_log()
        # As a process leaves it that was killed after the checkpoint of step 5.
        log = self.folder / "run" / "metrics.jsonl"
        later = log.read_text().splitlines()[-1].replace('"step":5', '"step":6')
        log.write_text(log.read_text() + later + "\n" + later[:20])
        events, = (self.folder / "run").glob("*tfevents*")
        events.write_bytes(events.read_bytes() + b"\x18\0\0")
        self.train("--resume")
        steps = [step for _, step, _ in self.expect_shows_the_log()["training/loss"]]
        self.assertEqual(steps, list(range(1, 11)))

    def kill_at(self, step, *words):
        """Trains until so many steps are logged, and is then killed."""
        process = subprocess.Popen([COMMAND, "train", "tiny.toml", "--run", "run", "--progress", "none", *words],
                                   cwd=self.folder, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 100
        while max(self.logged_steps(), default=0) < step and time.monotonic() < deadline:
            time.sleep(0.002)
        process.kill()
        process.communicate()
        self.assertGreaterEqual(max(self.logged_steps()), step)

    def expect_points(self, reader, seconds=0):
        """A reader sees what metrics.jsonl has, each step of each tag once; the data server within so many seconds."""
        expected = {tag: [(step, value) for _, step, value in points] for tag, points in self.logged_points().items()}
        deadline = time.monotonic() + seconds
        while (points := reader.points()) != expected and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(set(points), set(expected), type(reader).__name__)
        for tag, values in expected.items():
            self.assertEqual(points[tag], values, f"{type(reader).__name__}: {tag}")

    def test_a_reader_that_was_there_before_sees_each_step_once(self):
        self.write_data()
        endless = ("--set", "train.epochs=1000")
        self.kill_at(9, *endless)  # a kill may come after a step's line in the log and before its event
        run = self.folder / "run"
        server = DataServer(run)
        self.addCleanup(server.close)
        live = [Accumulator(run), Plugins(run)]
        for reader in live:
            self.assertEqual([step for step, _ in reader.points()["training/loss"]][:8], list(range(1, 9)))
        files = {path: path.read_bytes() for path in run.glob("*tfevents*")}
        last = max(self.logged_steps())
        # A clean stop, then two kills at once after each other, then an end; each repeats what came after its checkpoint.
        self.train("--resume", *endless, "--set", f"train.limit={last + 4} steps")
        for reader in live:
            self.expect_points(reader)
        for _ in range(2):
            self.kill_at(max(self.logged_steps()) + 3, "--resume", *endless, "--set", "train.limit=900 steps")
            live[0].points()  # the other one does not look in between
        end = max(self.logged_steps()) + 5
        self.train("--resume", *endless, "--set", f"train.limit={end} steps")
        for path, before in files.items():
            self.assertEqual(path.read_bytes(), before, "a file that may be read is left as it is")
        self.assertEqual(len(list(run.glob("*tfevents*"))), 5)
        self.assertEqual([step for _, step, _ in self.logged_points()["training/loss"]], list(range(1, end + 1)))
        for reader in (*live, Accumulator(run), Plugins(run)):
            self.expect_points(reader)
        self.expect_points(server, seconds=20)
        fresh = DataServer(run)
        self.addCleanup(fresh.close)
        self.expect_points(fresh, seconds=20)

    def test_a_run_that_was_made_before_files_were_left(self):
        """Version 0.1.0 wrote one file with all of the run, and a session from step 0."""
        self.write_data()
        self.train("--set", "train.limit=5 steps")
        first, = (self.folder / "run").glob("*tfevents*")
        first.rename(first.with_name("events.out.tfevents.1700000000.cachet"))
        live = Accumulator(self.folder / "run")
        live.points()
        self.train("--resume")
        self.expect_points(live)
        self.expect_points(Plugins(self.folder / "run"))


if __name__ == "__main__":
    SAMPLE, COMMAND = (str(pathlib.Path(word).resolve()) for word in (sys.argv.pop(1), sys.argv.pop(1)))
    unittest.main(verbosity=2)
