"""How OpenMP's threads wait for each other in the command."""
import json
import os
import re
import subprocess
import sys
import time

import command

VARIABLES = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


def env_command(**variables):
    """`cachet env --json` with these of the variables for how to wait, and no other: (object, standard error)."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    done = subprocess.run([command.COMMAND, "env", "--json"], env={**environment, **variables}, capture_output=True,
                          text=True, timeout=60, check=True)
    return json.loads(done.stdout), done.stderr


def idle_share(core, seconds=0.2):
    """How much of the next moment nothing runs on a core."""
    def times():
        with open("/proc/stat") as file:
            fields = next(line.split() for line in file if line.startswith(f"cpu{core} "))
        return int(fields[4]), sum(map(int, fields[1:9]))
    idle, whole = times()
    time.sleep(seconds)
    idle_now, whole_now = times()
    return (idle_now - idle) / max(1, whole_now - whole)


class OpenMpWaiting(command.CommandTest):
    def test_threads_spin_no_longer_than_between_operators(self):
        # The output of OpenMP itself at its start, once: the command starts again before OpenMP does.
        env, said = env_command(OMP_DISPLAY_ENV="verbose")
        self.assertEqual(env["openmp_waiting"], "GOMP_SPINCOUNT=20000")
        self.assertEqual(said.count("GOMP_SPINCOUNT = '20000'"), 1, said)
        self.assertEqual(said.count("OPENMP DISPLAY ENVIRONMENT BEGIN"), 1, said)

    def test_where_some_cores_are_busy_and_some_are_not_threads_spin_shortly(self):
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("one core alone is free or busy")
        # A command that computes, and reports how before it finds that there is no such run.
        words = [command.COMMAND, "eval", "nowhere"]
        with subprocess.Popen([sys.executable, "-c", "while True: pass"],
                              preexec_fn=lambda: os.sched_setaffinity(0, cores[:1])) as busy:
            counts = []
            for _ in range(30):
                if len(counts) == 5:
                    break
                if idle_share(cores[1]) < 0.8:  # somebody else has it: no core is free
                    time.sleep(1)
                    continue
                said = subprocess.run(words, env={**environment, "OMP_DISPLAY_ENV": "verbose"}, timeout=60, text=True,
                                      capture_output=True, preexec_fn=lambda: os.sched_setaffinity(0, cores[:2])).stderr
                counts.append(re.search(r"GOMP_SPINCOUNT = '(\d+)'", said)[1])
            busy.kill()
        if len(counts) < 5:
            self.skipTest("other programs keep the second core busy")
        self.assertLessEqual(set(counts), {"200", "20000"})
        self.assertGreaterEqual(counts.count("200"), 1)

    def test_the_users_own_choice_stays(self):
        for name, value in (("OMP_WAIT_POLICY", "active"), ("OMP_WAIT_POLICY", "passive"), ("GOMP_SPINCOUNT", "77"),
                            ("KMP_BLOCKTIME", "3")):
            env, _ = env_command(**{name: value})
            self.assertEqual(env["openmp_waiting"], f"{name}={value}")
        _, said = env_command(OMP_DISPLAY_ENV="verbose", GOMP_SPINCOUNT="77")
        self.assertIn("GOMP_SPINCOUNT = '77'", said)

    def test_words_and_exit_codes_pass_through(self):
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        for words in (["models", "no such model", "--json"], ["predict", "", " two words ", "--top"], []):
            with_choice, without = (subprocess.run([command.COMMAND, *words], env={**environment, **more},
                                                   capture_output=True, text=True, timeout=60)
                                    for more in ({}, {"OMP_WAIT_POLICY": "passive"}))
            self.assertEqual((with_choice.returncode, with_choice.stdout, with_choice.stderr),
                             (without.returncode, without.stdout, without.stderr))


if __name__ == "__main__":
    command.main()
