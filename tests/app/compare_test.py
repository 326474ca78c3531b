"""Comparing runs, single ones and those of several seeds."""
import csv
import json
import shutil
import signal

import command
from runs import RunTest


class Compare(RunTest):
    def setUp(self):
        super().setUp()
        self.train("run")

    def test_comparisons(self):
        self.train("other", "--set", "model.cache.kind=none", "--seed", "3")
        result = self.json_of("compare", "run", "other", "--json", cwd=self.folder)
        self.assertEqual([row["name"] for row in result["runs"]], ["run", "other"])
        self.assertEqual(result["runs"][0]["differing"]["train.seed"], "0")
        self.assertEqual(result["runs"][1]["differing"]["model.cache.kind"], '"none"')
        self.assertNotIn("model.depth", result["runs"][0]["differing"])
        self.assertLess(result["runs"][1]["metrics"]["parameters"], result["runs"][0]["metrics"]["parameters"])
        text = self.cachet("compare", "run", "other", "-o", "comparison.html").stdout
        for part in ("top-1", "UN filtered", "model.cache.kind", "standard error"):
            self.assertIn(part, text)
        self.assertIn("<svg", (self.folder / "comparison.html").read_text())
        self.assertIn("| --- |", self.cachet("compare", "run", "other", "--format", "md").stdout.replace("---:", "---"))
        self.assertEqual(len(self.cachet("compare", "run", "other", "--format", "csv").stdout.splitlines()), 3)
        self.refused("compare", "images", cwd=self.folder, code=1)
        done = command.run("compare", "run", "images", "other", "--json", cwd=self.folder)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("left out: images", done.stderr)
        self.assertEqual([row["name"] for row in json.loads(done.stdout)["runs"]], ["run", "other"])
        self.assertIn("images", json.loads(done.stdout)["unreadable"][0])
        self.assertEqual([row["name"] for row in self.json_of("compare", ".", "--json", cwd=self.folder)["runs"]],
                         ["other", "run"])

    def test_lines_that_cannot_be_read_are_counted(self):
        self.train("other", "--seed", "3")
        said = "other: 3 lines of its metrics.jsonl cannot be read, so values are missing in this comparison."
        log = self.folder / "other/metrics.jsonl"
        whole = log.read_text()
        lines = whole.splitlines(True)
        for unreadable in ("no line\n", lines[1].replace('"step":', '"stop":', 2), lines[1][:40] + "\n"):
            with self.subTest(unreadable):
                log.write_text(lines[0] + unreadable + "".join(lines[2:]) + "\x00\n" + '{"schema":1,')  # the last one is torn
                self.assertIn(said, " ".join(self.cachet("compare", "run", "other", "-o", "page.html", "--overwrite").stdout.split()))
                self.assertIn(said, (self.folder / "page.html").read_text())
                self.assertIn(said, self.cachet("compare", "run", "other", "--format", "md").stdout)
                self.assertIn(said, self.cachet("compare", "run", "other", "--format", "csv").stderr)
                done = self.cachet("compare", "run", "other", "--json")
                self.assertIn(said, done.stderr)
                self.assertEqual([run["unreadable_lines"] for run in json.loads(done.stdout)["runs"]], [0, 3])
        log.write_text(whole)
        self.assertNotIn("cannot be read", self.cachet("compare", "run", "other").stdout)

    def test_a_run_that_was_killed_is_no_result(self):
        process = self.started("other", "--set", "model.cache.kind=none", "--set", "train.epochs=2000", step=14)
        process.send_signal(signal.SIGSTOP)  # so that it stays where it is
        running, = self.json_of("compare", "other", "--json", cwd=self.folder)["runs"]
        self.assertEqual(running["state"], "running")
        process.kill()
        process.communicate()
        killed, = self.json_of("compare", "other", "--json", cwd=self.folder)["runs"]
        self.assertEqual(killed["state"], "killed")
        text = self.cachet("compare", "run", "other").stdout
        self.assertRegex(text, r"killed at step \d+ of 24000")
        self.assertIn("left out of the significance tests and of the best values", text)
        self.assertNotIn("standard error", text)

    def test_comparisons_of_seeds(self):
        short = ["--progress", "none", "--set", "train.limit=2 epochs"]
        self.cachet("train", "tiny.toml", "--seeds", "2", "--run", "many", *short)
        self.cachet("train", "tiny.toml", "--seeds", "2", "--run", "plain", *short, "--set", "model.cache.kind=none")
        result = self.json_of("compare", "many", "plain", "--json", cwd=self.folder)
        self.assertEqual([row["name"] for row in result["runs"]],
                         ["many/seed-0", "many/seed-1", "plain/seed-0", "plain/seed-1"])
        self.assertEqual([(row["name"], row["runs"]) for row in result["groups"]],
                         [("many (2 seeds)", ["many/seed-0", "many/seed-1"]),
                          ("plain (2 seeds)", ["plain/seed-0", "plain/seed-1"])])
        first, second = (row["metrics"]["top-1"] for row in result["runs"][:2])
        self.assertAlmostEqual(result["groups"][0]["means"]["top-1"], (first + second) / 2)
        self.assertAlmostEqual(result["groups"][0]["deviations"]["top-1"], abs(first - second) / 2 ** 0.5)
        alone = self.json_of("compare", "many/seed-0", "plain/seed-1", "run", "--json", cwd=self.folder)
        self.assertEqual([row["name"] for row in alone["runs"]], ["many/seed-0", "plain/seed-1", "run"])
        self.assertIn("plain/seed-1", self.cachet("compare", "many/seed-0", "plain/seed-1").stdout)
        (self.folder / "sweep").mkdir()
        shutil.copytree(self.folder / "plain", self.folder / "sweep/plain")
        twice = self.json_of("compare", "plain", "sweep", "--json", cwd=self.folder)
        place = self.folder.resolve().name
        self.assertEqual([row["name"] for row in twice["groups"]], [f"{place}/plain (2 seeds)", "sweep/plain (2 seeds)"])
        self.assertEqual([row["name"] for row in twice["runs"]],
                         [f"{place}/plain/seed-0", f"{place}/plain/seed-1", "sweep/plain/seed-0", "sweep/plain/seed-1"])
        text = self.cachet("compare", "many", "plain", "-o", "page.html").stdout
        for part in ("many (2 seeds)", "than seeds explain", "Runs of several seeds", "plain/seed-1"):
            self.assertIn(part, text)
        self.assertNotIn("train.seed", text)  # both have the same
        page = (self.folder / "page.html").read_text()
        self.assertIn('class="band"', page)
        self.assertIn("Over time", page)
        rows = list(csv.DictReader(self.cachet("compare", "many", "run", "--format", "csv").stdout.splitlines()))
        self.assertEqual([(row["run"], row["recipe"], row["seed"], row["state"]) for row in rows],
                         [("many/seed-0", "tiny", "0", "finished"), ("many/seed-1", "tiny", "1", "finished"),
                          ("run", "tiny", "0", "finished")])
        for row in rows:
            self.assertRegex(row["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertIn("1 thread of ", row["device"])
            self.assertTrue(row["commit"])
            self.assertGreater(int(row["parameters"]), 0)
            self.assertTrue(0 <= float(row["top-1"]) <= 1)


if __name__ == "__main__":
    command.main()
