"""What the command reports about GPUs, on a machine without one: with a stand-in for NVIDIA's driver library, and with an allocator
that fails as that of a GPU does."""
import re
import sys

import command

DRIVER = MEMORY = None  # the folder of the stand-in for the driver library, and the allocator; set below
HOPPER = {"CACHET_TEST_DRIVER_CUDA": "13000", "CACHET_TEST_GPU": "NVIDIA H200", "CACHET_TEST_CAPABILITY": "90"}
STEP = ["--set", "train.threads=1", "--set", "train.limit=2 steps", "--set", "train.graph=auto"]


def with_driver(*words, cwd=None, **answers):
    return command.run(*words, cwd=cwd, variables={"LD_LIBRARY_PATH": DRIVER, **answers})


class Gpu(command.FolderTest):
    def setUp(self):
        super().setUp()
        self.is_cpu_build = "cuda" not in self.json_of("env", "--json")

    def cpu_build_alone(self):
        if not self.is_cpu_build:
            self.skipTest("LibTorch is a CUDA build, which asks the stand-in for more than it answers")

    def test_env_names_what_is_missing(self):
        self.cpu_build_alone()
        gpu = self.json_of("env", "--json")["gpu"]
        self.assertEqual(list(gpu), ["driver_cuda", "devices", "architectures", "cuda_graphs", "problem"])
        self.assertEqual((gpu["devices"], gpu["architectures"], gpu["cuda_graphs"]), ([], None, False))
        line = 'LibTorch is a CPU build; to use an NVIDIA GPU, install a CUDA build of LibTorch (docs/how-to/gpu.md)'
        self.assertEqual(gpu["problem"], line)
        self.assertIn(f"\ngpu: {line}\n", command.run("env").stdout)

    def test_env_names_gpus(self):
        self.cpu_build_alone()
        gpu = command.json.loads(with_driver("env", "--json", **HOPPER).stdout)["gpu"]
        self.assertEqual(gpu["driver_cuda"], "13.0")
        self.assertEqual(gpu["devices"], [{"name": "NVIDIA H200", "architecture": "sm_90", "memory_bytes": 80 << 30}])
        self.assertRegex(gpu["problem"], r"^LibTorch is a CPU build; to use NVIDIA H200 \(sm_90\), install a CUDA build of LibTorch")
        text = with_driver("env", **HOPPER).stdout
        self.assertIn("\ndriver_cuda: 13.0 or older\ngpu 0: NVIDIA H200, sm_90, 80.0 GiB\ngpu: LibTorch is a CPU build; ", text)

    def test_a_run_that_cannot_use_the_gpu_gives_the_reason(self):
        self.cpu_build_alone()
        note = "the run uses the CPU: LibTorch is a CPU build; to use NVIDIA H200 (sm_90), install a CUDA build of LibTorch"
        recipe = ["train", "demo_plain", *STEP, "--set", "data.limit=200"]
        done = with_driver(*recipe, "--run", "run", cwd=self.folder, **HOPPER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(note), 1, done.stderr)
        self.assertIn(f"\ndevice        {note}", with_driver(*recipe, "--dry-run", cwd=self.folder, **HOPPER).stdout)
        done = with_driver(*recipe, "--set", "train.device=cpu", "--run", "chosen", cwd=self.folder, **HOPPER)
        self.assertNotIn("the run uses the CPU", done.stderr)
        done = with_driver(*recipe, "--set", "train.device=cuda", "--run", "cuda", cwd=self.folder, **HOPPER)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"there is no device cuda:0 on this machine; the available devices are cpu\nLibTorch is a CPU build; to use NVIDIA H200 ")
        self.assertFalse((self.folder / "cuda").exists())

    def fails(self, mebibytes, *words):
        """The settings that the message of exhausted memory names."""
        done = self.with_memory(mebibytes, *words)
        self.assertEqual(done.returncode, 1, done.stderr)
        said = re.search(rf"cachet train: out of memory on the GPU: cannot allocate [0-9.]+ [KM]iB more; the GPU has {mebibytes} MiB\n"
                         r"with the same samples in each step, this is expected to fit:((?: --set \S+)+)\n$", done.stderr)
        self.assertTrue(said, done.stderr)
        return said[1].split()

    def with_memory(self, mebibytes, *words):
        return command.run(*words, cwd=self.folder, variables={"LD_PRELOAD": MEMORY, "CACHET_TEST_GPU_BYTES": str(mebibytes << 20)})

    def test_the_batch_that_fits_is_named_and_fits(self):
        for recipe, state in ("demo_plain", []), ("demo_cached", ["--set", "'train.state=\"first\"'"]):
            with self.subTest(recipe=recipe):
                words = ["train", recipe, *STEP, "--set", "data.limit=1600"]
                settings = self.fails(400, *words, "--set", "train.batch_size=1600", "--run", recipe + "-first")
                size, accumulate = (re.fullmatch(rf"{key}=([0-9]+)", setting) for key, setting in
                                    zip(("train.batch_size", "train.accumulate"), settings[1::2]))
                self.assertTrue(size and accumulate, settings)
                self.assertEqual(int(size[1]) * int(accumulate[1]), 1600)
                self.assertEqual(settings[4:], state)
                again = [setting.strip("'") for setting in settings]
                done = self.with_memory(400, *words, *again, "--run", recipe + "-again")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_resumed_run_and_seeds_have_a_line_of_their_own(self):
        words = ["train", "demo_plain", *STEP, "--set", "data.limit=1600", "--set", "train.batch_size=1600"]
        self.succeed(*words, "--set", "train.limit=1 steps", "--run", "run", cwd=self.folder)
        done = self.with_memory(400, "train", "run", "--resume", "--set", "train.limit=3 steps")
        self.assertRegex(done.stderr, r"\na resumed run keeps its batch size; a new run with the same samples in each step is expected to fit with "
                                      r"--set train.batch_size=[0-9]+ --set train.accumulate=[0-9]+\n$")
        done = self.with_memory(400, *words, "--seeds", "1", "--run", "seeds")
        self.assertRegex(done.stderr, r"cachet train: seed [0-9]+: out of memory on the GPU: .*\nwith the same samples in each step, this is expected to fit: ")


if __name__ == "__main__":
    DRIVER, MEMORY = sys.argv.pop(2), sys.argv.pop(2)
    command.main()
