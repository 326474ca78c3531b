"""What becomes of memory that a pass frees and the next one asks for again."""
import json
import os
import resource
import subprocess

import command

# Its feed-forward layers' hidden tokens are 19 MB: more than what jemalloc returns to the system at once unless told.
WORDS = ["bench", "vit_tiny_patch16_224", "--mode", "infer", "--batch", "32", "--threads", "1", "--json"]
PAGES_OF_ONE_BUFFER = 19 * 2**20 // resource.getpagesize()


def measured(seconds):
    """Page faults of a benchmark of so many seconds, and the milliseconds of a pass."""
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_CONF"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    done = subprocess.run([command.COMMAND, *WORDS, "--seconds", str(seconds)], env=environment, capture_output=True,
                          text=True, timeout=300, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before, json.loads(done.stdout)["median_ms"]


class Memory(command.CommandTest):
    def test_large_buffers_stay_for_the_next_pass(self):
        if not self.json_of("env", "--json")["allocator"].startswith("jemalloc"):
            self.skipTest("another allocator: sanitizers bring their own")
        shorter, longer = 1, 6
        (faults, _), (more_faults, milliseconds) = measured(shorter), measured(longer)
        passes = (longer - shorter) * 1000 / milliseconds
        self.assertLess((more_faults - faults) / passes, PAGES_OF_ONE_BUFFER / 10)


if __name__ == "__main__":
    command.main()
