"""The estimate of a run's memory is within 15 % of what its steps take, for each family of models at two batch sizes; what does not fit is
refused before it is allocated. Measures four families; all of them where CACHET_ROBUSTNESS is "full" (`make memory-check`)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import command

RECIPES = command.ROOT / "recipes"
PROBE = None  # set by main
FULL = os.environ.get("CACHET_ROBUSTNESS") == "full"
SAMPLE = ("vit", "vit, cache", "retinanet", "language, cache")  # what they measure is the same each time
MIB = 1 << 20
# Family: a recipe, settings that make it small, the key of its batch and two values of it.
FAMILIES = {
    "vit": ("vision/demo_plain", ["data.resize.image_size=56"], "train.batch_size", (32, 128)),
    "vit, cache": ("vision/demo_cached", ["data.resize.image_size=56"], "train.batch_size", (32, 128)),
    "pvt": ("imagenet/imagenet_pvt_tiny_cached", ["model.depths=[1, 1, 1, 1]", "data.resize.image_size=96"], "train.batch_size", (8, 24)),
    "swin, UN": ("imagenet/imagenet_swin_tiny_un", ["model.depths=[1, 1, 1, 1]", "data.resize.image_size=112"], "train.batch_size", (4, 16)),
    "t2t": ("imagenet/imagenet_t2t_vit_14_bn", ["model.depth=2", "data.resize.image_size=96", "train.accumulate=2"], "train.batch_size", (8, 24)),
    "retinanet": ("detection/shapes_retinanet", [], "train.batch_size", (2, 8)),
    "mask rcnn, cache": ("detection/shapes_mask_rcnn_cached", [], "train.batch_size", (2, 6)),
    "transformer-xl": ("language/wikitext2_transformer_xl", ["data.vocabulary=3000"], "train.batch_size", (8, 32)),
    "language, cache": ("language/wikitext2_grc", ["data.vocabulary=3000"], "train.batch_size", (8, 32)),
    "translation": ("translation/multi30k_de_en", ["data.vocabulary=3000"], "data.max_tokens", (1024, 4096)),
    "translation, UN": ("translation/multi30k_de_en_un", ["data.vocabulary=3000"], "data.max_tokens", (1024, 4096)),
    "sequences": ("lra/lra_listops_transformer_cached", ["model.max_length=500", "data.max_length=500"], "train.batch_size", (4, 16)),
    "sequences, pairs": ("lra/lra_short_matching", [], "train.batch_size", (4, 16)),
}


# Where memory is short: of a limit in MiB, a few samples fit, and these sizes of batch do not.
SHORT_OF_MEMORY = {"vit": (270, 512), "language, cache": (400, 64), "translation": (450, 4096)}

HALF_LENGTH = ["--set", "data.max_length=500", "--set", "model.max_length=500"]


def probe(what, recipe, settings, **variables):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROBE, what, str(RECIPES / f"{recipe}.toml"), *settings], cwd=folder, capture_output=True, text=True, timeout=600,
                              env={**os.environ, **variables})
    if done.returncode:
        raise AssertionError(f"{what} {recipe} {settings}: {done.stderr}")
    return int(done.stdout), done.stderr


def control_group(limit):
    """The folder of a new control group below that of this process, which may take so many bytes. Skips the test if none can be made."""
    own = {kinds: path for _, kinds, path in (line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())}
    root = pathlib.Path("/sys/fs/cgroup")
    folder, file = (root / "memory", "memory.limit_in_bytes") if "memory" in own else (root, "memory.max")
    group = folder / own.get("memory", own.get("", "/")).lstrip("/") / f"cachet-{os.getpid()}"
    try:
        group.mkdir()
        (group / file).write_text(str(limit))
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        raise unittest.SkipTest(f"this machine makes no control group with a limit: {error}")
    return group


class Memory(command.FolderTest):
    def test_estimates_are_within_15_percent_of_the_peak(self):
        for family, (recipe, settings, key, sizes) in FAMILIES.items():
            if not FULL and family not in SAMPLE:
                continue
            for size in sizes:
                with self.subTest(family=family, size=size):
                    given = [*settings, "train.threads=1", "train.precision=fp32", f"{key}={size}"]
                    estimated, parts = probe("estimate", recipe, given)
                    # The allocator keeps memory for a time; the larger peak is the one that a run may need.
                    measured = max(probe("measure", recipe, given)[0] for _ in range(2))
                    ratio = estimated / measured
                    print(f"\n{family:20} {key}={size:<5} {estimated / MIB:7.0f} MiB estimated {measured / MIB:7.0f} measured  {ratio:.2f}  {parts}",
                          end="", file=sys.stderr)
                    self.assertLess(abs(ratio - 1), 0.15, parts)

    def test_estimates_hold_where_memory_is_short(self):
        for family, (limit, size) in SHORT_OF_MEMORY.items():
            if not FULL and family not in SAMPLE:
                continue
            recipe, settings, key, _ = FAMILIES[family]
            with self.subTest(family=family):
                given = [*settings, "train.threads=1", "train.precision=fp32", f"{key}={size}"]
                estimated, parts = probe("estimate", recipe, given, CACHET_MEMORY_LIMIT=f"{limit}M")
                measured = max(probe("measure", recipe, given)[0] for _ in range(2))
                ratio = estimated / measured
                print(f"\n{family:20} {key}={size:<5} {estimated / MIB:7.0f} MiB estimated {measured / MIB:7.0f} measured  {ratio:.2f}  {parts}",
                      end="", file=sys.stderr)
                self.assertGreater(measured, limit * MIB - (64 << 20), "the limit is short")
                self.assertLess(abs(ratio - 1), 0.2, parts)

    def resident_peak(self, *words, group=None, **variables):
        """The exit code of the command, its two outputs, and the largest resident set of its process in bytes."""
        enter = (lambda: (group / "cgroup.procs").write_text(str(os.getpid()))) if group else None
        started = subprocess.Popen([command.COMMAND, *words], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, **variables}, preexec_fn=enter)
        with started.stdout, started.stderr:
            output, errors = started.stdout.read(), started.stderr.read()
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        return started.returncode, output, errors, usage.ru_maxrss * 1024

    def test_a_dry_run_shows_the_parts_and_stays_small(self):
        code, output, errors, peak = self.resident_peak("train", "lra_listops_transformer_cached", "--dry-run", "--set", "train.threads=1",
                                                        "--set", "data.max_length=500", "--set", "model.max_length=500", CACHET_MEMORY_LIMIT=str(1 << 40))
        self.assertEqual(code, 0, errors)
        self.assertRegex(output, r"(?m)^memory +about [0-9.]+ GiB of 1.0 TiB that are free: parameters [0-9.]+ MiB, "
                                 r"gradients [0-9.]+ MiB, optimizer [0-9.]+ MiB, activations [0-9.]+ GiB, (checkpoint [0-9.]+ MiB, )?batches ahead .*"
                                 r"libraries ")
        self.assertLess(peak, 2 << 30, "32 sequences take more, the dry run does not")

    def test_what_does_not_fit_is_refused_before_it_is_allocated(self):
        limit, words = 1 << 30, ["--set", "train.threads=1", "--set", "train.limit=1 steps"]
        code, output, errors, peak = self.resident_peak("train", "lra_listops_transformer_cached", "--dry-run", *words, *HALF_LENGTH,
                                                        "--set", "train.batch_size=64", CACHET_MEMORY_LIMIT=str(limit))
        self.assertEqual((code, output.count("a step  ")), (1, 0), errors)
        self.assertLess(peak, limit)
        # Stateless: the batch that keeps the gradient.
        recipe = ["demo_plain", *words, "--set", "train.batch_size=6000", "--set", "data.limit=6000"]
        code, output, errors, peak = self.resident_peak("train", *recipe, "--run", "run", CACHET_MEMORY_LIMIT=str(limit))
        said = re.search(r"a step takes about ([0-9.]+) GiB of memory, but only ([0-9.]+) MiB are free; train.batch_size = ([0-9]+) is the largest "
                         r"batch that fits\ntrain.batch_size = ([0-9]+), train.accumulate = ([0-9]+) and train.state = \"first\" give each step the same "
                         r"gradient as the recipe "
                         r"\(--batch-size auto sets these keys\)\n", errors)
        self.assertTrue(said, errors)
        self.assertEqual(code, 1)
        self.assertLess(peak, limit)
        self.assertFalse((self.folder / "run").exists())
        largest, batch, accumulate = (int(said[group]) for group in (3, 4, 5))
        self.assertLessEqual(batch, largest)
        self.assertEqual(batch * accumulate, 6000)
        # An epoch keeps its steps: of 9,000 images, one step of 6,000.
        recipe = ["demo_plain", "--set", "train.threads=1", "--set", "train.limit=1 epoch", "--set", "train.batch_size=6000", "--set", "data.limit=9000"]
        code, output, errors, peak = self.resident_peak("train", *recipe, "--batch-size", "auto", "--run", "run", CACHET_MEMORY_LIMIT=str(limit))
        self.assertEqual(code, 0, errors)
        self.assertIn("step 1, ", output)
        self.assertRegex(errors, r'chosen: train.batch_size=[0-9]+, train.accumulate=[0-9]+, train.state="first"\n')
        self.assertLess(peak, 1.15 * limit)
        values = self.values("run")
        self.assertEqual(int(values["train.batch_size"]) * int(values["train.accumulate"]), 6000)
        # A resume keeps the size, whatever is free then.
        for target in (["run"], ["demo_plain", *words, "--set", "train.batch_size=6000", "--set", "data.limit=9000", "--run", "run",
                                 "--batch-size", "auto"]):
            done = self.cachet("train", *target, "--resume", "--set", "train.limit=2 steps")
            self.assertEqual([self.values("run")[key] for key in ("train.batch_size", "train.accumulate")],
                             [values[key] for key in ("train.batch_size", "train.accumulate")], done.stderr)

    def test_states_of_a_model_move_once_per_step(self):
        recipe = ["demo_cached", "--set", "train.threads=1", "--set", "train.limit=1 steps", "--set", "train.batch_size=3000", "--set",
                  "data.limit=3000", "--run", "run"]
        limit = str(3 << 28)
        done = command.run("train", *recipe, cwd=self.folder, variables={"CACHET_MEMORY_LIMIT": limit})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('give each step the same samples as the recipe, and update the states of norms and caches once per step', done.stderr)
        done = command.run("train", *recipe, "--batch-size", "auto", cwd=self.folder, variables={"CACHET_MEMORY_LIMIT": limit})
        self.assertEqual(done.returncode, 0, done.stderr)
        values = self.values("run")
        self.assertEqual(int(values["train.batch_size"]) * int(values["train.accumulate"]), 3000)
        self.assertEqual(values["train.state"], '"first"')
        # A batch that fits stays.
        done = self.cachet("train", "demo_cached", "--set", "train.limit=1 steps", "--set", "data.limit=200", "--batch-size", "auto", "--run", "fits")
        self.assertIn("chosen: the batch of the recipe, because it fits into memory\n", done.stderr)
        self.assertEqual(self.values("fits")["train.state"], '"shared"')

    def test_a_control_group_is_a_limit(self):
        limit = 1 << 30
        group = control_group(limit)
        self.addCleanup(group.rmdir)
        words = ["train", "lra_listops_transformer_cached", "--dry-run", "--set", "train.threads=1", "--set", "train.batch_size=64", *HALF_LENGTH]
        code, _, errors, _ = self.resident_peak(*words, group=group)
        self.assertNotEqual(code, -signal.SIGKILL, "the kernel ended it")
        said = re.search(r"a step takes about [0-9.]+ GiB of memory, but only ([0-9.]+) MiB are free; train.batch_size = [0-9]+ is the largest ", errors)
        self.assertTrue(said, errors)
        self.assertEqual(code, 1)
        self.assertLess(float(said[1]), limit / MIB)

    def test_one_sample_may_be_too_much(self):
        limit = 1 << 29
        code, output, errors, peak = self.resident_peak(
            "train", "lra_listops_transformer_cached", "--dry-run", "--set", "train.threads=1", "--set", "data.max_length=20000", "--set",
            "model.max_length=20000", "--set", "model.cache.kind=none", CACHET_MEMORY_LIMIT=str(limit))
        self.assertEqual(code, 1, output)
        self.assertRegex(errors, r"out of memory: a step of one sample does not fit, because only [0-9.]+ MiB are free; make the model or its samples smaller\n")
        self.assertLess(peak, 2 * limit)

    def test_absent_data_are_reported_first(self):
        done = command.run("train", "lra_listops_transformer_cached", cwd=self.folder, variables={"CACHET_MEMORY_LIMIT": str(1 << 29)})
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("memory", done.stderr)
        self.assertIn("there is no folder", done.stderr)

    def test_processes_share_the_choice(self):
        recipe = ["demo_plain", "--set", "train.threads=1", "--set", "train.limit=1 steps", "--set", "train.batch_size=4000", "--set",
                  "data.limit=4000", "--batch-size", "auto"]
        limit = {"CACHET_MEMORY_LIMIT": str(1 << 30)}
        done = command.run("train", *recipe, "--processes", "2", "--run", "run", cwd=self.folder, variables=limit)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = self.values("run")
        self.assertEqual(int(values["train.batch_size"]) * int(values["train.accumulate"]), 4000)
        self.assertGreater(int(values["train.accumulate"]), 1)
        done = command.run("train", *recipe, cwd=self.folder,
                           variables={**limit, "RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("--batch-size auto does not work if another program starts the processes; give a number, or use --processes", done.stderr)

    def test_a_resume_that_does_not_fit_names_no_batch(self):
        words = ["demo_plain", "--set", "train.threads=1", "--set", "train.batch_size=4000", "--set", "data.limit=4000", "--run", "run"]
        self.cachet("train", *words, "--set", "train.limit=1 steps")
        done = command.run("train", "run", "--resume", "--set", "train.limit=2 steps", cwd=self.folder,
                           variables={"CACHET_MEMORY_LIMIT": str(3 << 28)})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"a step takes about [0-9.]+ [MG]iB of memory, but only [0-9.]+ MiB are free; resume the run when more memory is "
                                      r"free\n$")

    def test_bad_numbers(self):
        for word in ("0", "automatic", "-1", "1.5"):
            done = command.run("train", "demo_plain", "--batch-size", word, "--print", cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, rf"must be a whole number from 1 to [0-9]+, not '{word}'; the value auto is possible, too")
        done = command.run("train", "demo_plain", "--batch-size", "auto", "--print", cwd=self.folder, variables={"CACHET_MEMORY_LIMIT": "2 GB"})
        self.assertEqual(done.returncode, 1)
        self.assertIn('CACHET_MEMORY_LIMIT must be a number of bytes or a size such as 300M or 2GiB, but is "2 GB"', done.stderr)

    def values(self, run):
        return json.loads((self.folder / run / "run.json").read_text())["values"]


if __name__ == "__main__":
    PROBE = str(pathlib.Path(sys.argv.pop(2)).resolve())
    command.main()
