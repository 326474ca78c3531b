"""tools/evidence: its statistics against SciPy's, its verdicts, and that it finds each wrong number of the pages."""

import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from evidence_page.interpreter import ensure_scipy

ensure_scipy()

from scipy import stats

from evidence_page import verdicts, writing
from evidence_page.numbers import Page
from evidence_page.paired import Values, holm, pairs_to_decide, pooled_sd, power_of_pairs, variance_ratio
from evidence_page.runs import Sweep, measured

RECORDED = json.loads((ROOT / "tests/data/statistics.json").read_text())
PAGES = ("README.md", "docs/evidence.md", "docs/explanation/cache.md", "docs/explanation/trained-kernels.md",
         "docs/explanation/unified-normalization.md", "docs/performance.md", "docs/results.md")


def by_seed(*values):
    return Values(enumerate(values))


class Statistics(unittest.TestCase):
    def test_intervals_of_pairs_are_the_recorded_ones(self):
        for pair in RECORDED["pairs"]:
            difference = by_seed(*pair["after"]) - by_seed(*pair["before"])
            self.assertAlmostEqual(difference.low, pair["lower"], places=9)
            self.assertAlmostEqual(difference.high, pair["upper"], places=9)
            self.assertAlmostEqual(difference.p, stats.ttest_rel(pair["after"], pair["before"]).pvalue, places=9)

    def test_seeds_for_the_power_are_the_recorded_ones(self):
        for effect, seeds in RECORDED["pairs_to_decide"]:
            self.assertEqual(pairs_to_decide(abs(effect)), seeds)
            self.assertGreaterEqual(power_of_pairs(effect, seeds), 0.8)
            if seeds > 2:
                self.assertLess(power_of_pairs(effect, seeds - 1), 0.8)

    def test_pairs_are_those_of_shared_seeds(self):
        difference = Values({0: 3.0, 1: 5.0, 4: 9.0}) - Values({4: 1.0, 0: 1.0, 7: 0.0})
        self.assertEqual(difference, {0: 2.0, 4: 8.0})
        with self.assertRaisesRegex(ValueError, "1 seeds in common"):
            Values({0: 1.0, 1: 2.0}) - Values({1: 1.0})

    def test_ratios_of_variances(self):
        first, second = by_seed(1.0, 5.0, 2.0, 9.0, 4.0), by_seed(1.0, 2.0, 1.5, 2.5, 1.0)
        found = variance_ratio(first, second)
        self.assertAlmostEqual(found.mean, 9.7 / 0.425)
        # The quantile of F(4, 4) at 0.975 is 9.6045: the interval is a factor of it to each side.
        self.assertAlmostEqual(found.low, found.mean / 9.60453, places=3)
        self.assertAlmostEqual(found.high, found.mean * 9.60453, places=3)
        self.assertAlmostEqual(found.p, variance_ratio(second, first).p)
        self.assertEqual((verdicts.above(found, 1), verdicts.above(variance_ratio(second, first), 1)), ("seen", "opposite"))
        self.assertEqual(variance_ratio(first, first)[0], 1)
        self.assertEqual(writing.ratio(found), "22.8 (2.38 to 219.2)")

    def test_a_difference_that_is_the_same_in_every_seed(self):
        runs = by_seed(49.8, 47.3, 48.3)
        zero, one = runs - runs, Values({seed: value + 1 for seed, value in runs.items()}) - runs
        self.assertEqual((zero.d, zero.seeds, zero.p), (0, math.inf, 1))
        self.assertEqual([rule(zero) for rule in (verdicts.above, verdicts.below, verdicts.equal)], ["not seen", "not seen", "seen"])
        self.assertEqual((one.d, one.seeds, one.p), (math.inf, 2, 0))
        self.assertEqual([rule(one) for rule in (verdicts.above, verdicts.below)], ["seen", "opposite"])
        rounded = by_seed(1e-15, 0.0, 1e-15)
        self.assertEqual((rounded.mean, rounded.d, verdicts.above(rounded)), (0, 0, "not seen"))
        below = Values({seed: -value for seed, value in one.items()})
        self.assertEqual((below.d, below.seeds, below.p), (-math.inf, 2, 0))

    def test_no_number_of_seeds_shows_a_mean_of_zero(self):
        balanced = by_seed(1.0, -1.0, 0.0)
        self.assertEqual((balanced.d, balanced.seeds, balanced.p), (0, math.inf, 1))
        self.assertEqual(pairs_to_decide(1e-9), math.inf)

    def test_ratios_of_a_variance_of_zero(self):
        same, other = by_seed(10.0, 10.0, 10.0), by_seed(1.0, 2.0, 4.0)
        found = {name: variance_ratio(*pair) for name, pair in
                 {"over zero": (other, same), "zero": (same, other), "both": (same, same)}.items()}
        self.assertEqual({name: verdicts.above(each, 1) for name, each in found.items()},
                         {"over zero": "seen", "zero": "opposite", "both": "not seen"})
        self.assertEqual({name: (writing.ratio(each), each.p) for name, each in found.items()},
                         {"over zero": ("the second variance is 0", 0), "zero": ("0.00 (0.00 to 0.00)", 0),
                          "both": ("both variances are 0", 1)})

    def test_holm(self):
        # 4 · 0.01; 3 · 0.015 = 0.045; 2 · 0.02 = 0.04, not below the one before; 1 · 0.3
        for found, right in zip(holm([0.02, 0.3, 0.01, 0.015]), [0.045, 0.3, 0.04, 0.045]):
            self.assertAlmostEqual(found, right)
        self.assertEqual(holm([0.6, 0.7]), [1.0, 1.0])

    def test_pooled_deviation(self):
        self.assertAlmostEqual(pooled_sd(by_seed(1, 3), by_seed(10, 12, 14)), ((2 + 8) / 3) ** 0.5)


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high


class Verdicts(unittest.TestCase):
    def test_rules_of_the_page(self):
        for rule, low, high, right in [
                (verdicts.above, 0.1, 2, "seen"), (verdicts.above, -0.1, 2, "not seen"), (verdicts.above, -2, -0.1, "opposite"),
                (verdicts.above, 0, 2, "not seen"), (verdicts.below, -2, -0.1, "seen"), (verdicts.below, 0.1, 2, "opposite"),
                (verdicts.equal, -0.9, 0.9, "seen"), (verdicts.equal, -1.13, 0.59, "not seen"),
                (verdicts.equal, 0.82, 1.92, "not seen"), (verdicts.equal, 1.34, 3.06, "opposite"),
                (verdicts.equal, -3.8, -0.66, "not seen"), (verdicts.equal, -9, -1.5, "opposite")]:
            self.assertEqual(rule(Interval(low, high)), right, (rule.__name__, low, high))
        for low, high, right in [(5.1, 9, "seen"), (4, 9, "not seen"), (0, 0, "not seen"), (-1, 3, "not seen"), (-2, -1, "opposite")]:
            self.assertEqual(verdicts.above(Interval(low, high), 5, opposite_below=0), right, (low, high))
        self.assertEqual(verdicts.below(Interval(-4, 1), -5), "opposite")
        self.assertEqual(verdicts.below(Interval(-6, 1), -5), "not seen")

    def test_several_differences(self):
        self.assertEqual(verdicts.every("seen", "seen"), "seen")
        self.assertEqual(verdicts.every("seen", "not seen"), "not seen")
        self.assertEqual(verdicts.every("seen", "not seen", "opposite"), "opposite")


class Writing(unittest.TestCase):
    def test_numbers(self):
        for number, spec, right in [(64.35, ".1f", "64.4"), (100 * 0.6435, ".1f", "64.4"), (-0.5, "+.1f", "−0.5"),
                                    (-0.04, "+.1f", "+0.0"), (0.25, "+.1f", "+0.3"), (1452.674, ",.0f", "1,453")]:
            self.assertEqual(writing.written(number, spec), right)
        for number, right in [(7840, "7.84 k"), (999_700, "1.00 M"), (16_912_896, "16.9 M"), (513_024_512, "513 M"), (12, "12")]:
            self.assertEqual(writing.count(number), right)
        self.assertEqual([writing.probability(p) for p in (0.0001, 0.0112, 0.0996, 1)], ["< 0.001", "0.011", "0.10", "1.00"])


    def test_a_variant_that_may_not_be_run_yet(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "some.csv"
            file.write_text("run,seed,state,top-1\na/seed-0,0,finished,0.5\na/seed-1,1,finished,0.52\nb/seed-0,0,finished,0.25\n"
                            "c/seed-0,0,not finite,\n")
            self.assertEqual([writing.result(Sweep(file), name) for name in "abcd"],
                             ["51.00 ± 1.41 (2 seeds)", "25.00 (1 seed)", "not finite", "not run"])

    def test_differences_without_spread(self):
        self.assertEqual(writing.interval(by_seed(0.0, 0.0, 0.0)), "0.00 in every seed")
        self.assertEqual(writing.interval(by_seed(-0.5, -0.5)), "−0.50 in every seed")
        self.assertEqual([(writing.effect(each), writing.seeds(each)) for each in (by_seed(0.0, 0.0), by_seed(2.0, 2.0), by_seed(1.0, -1.0))],
                         [("–", "–"), ("–", "2"), ("0.0", "–")])


NAMES = {"gain": by_seed(1.0, 2.0, 3.0), "loss": by_seed(-4.0, -5.0, -6.5)}


def problems(text, names=NAMES):
    page = Page(text, names)
    corrected = page.corrected()
    return [f"{each.line}: {each.text}" for each in page.problems], corrected


class Pages(unittest.TestCase):
    def test_phrases(self):
        comment = "<!-- numbers\nby {gain.mean:+.1f} points, {above(loss)}\n-->\n"
        right = comment + "It rises by +2.0\npoints, opposite. By 2.5.\n\nby +7.0 points, seen\n"
        self.assertEqual(problems(right), ([], right))
        wrong = right.replace("+2.0", "−1,020.5", 1).replace("opposite", "not seen")
        found, corrected = problems(wrong)
        self.assertEqual(found, ["4: '−1,020.5' should be '+2.0' in 'by +2.0 points, opposite'",
                                 "5: 'not seen' should be 'opposite' in 'by +2.0 points, opposite'"])
        self.assertEqual(corrected, right)
        split = right.replace("+2.0\npoints, opposite", "+2.0 points, not\nseen")
        self.assertEqual(problems(split)[0], ["4: 'not seen' should be 'opposite' in 'by +2.0 points, opposite'"])
        self.assertEqual(problems(comment + "It rises.\n")[0], ["4: 'by +2.0 points, opposite' stands 0 times in what follows, not once"])
        twice = comment + "by +2.0 points, seen, by +1.0 points, seen\n"
        self.assertEqual(problems(twice), (["4: 'by +2.0 points, opposite' stands 2 times in what follows, not once"], twice))

    def test_lists(self):
        text = "<!-- numbers\nseeds: {gain:.1f} %\n-->\nseeds: 1.0,\n2.0, 3.0 %\n"
        self.assertEqual(problems(text), ([], text))
        self.assertEqual(problems(text.replace("2.0", "2.1"))[0], ["4: '1.0, 2.1, 3.0' should be '1.0, 2.0, 3.0' in 'seeds: 1.0, 2.0, 3.0 %'"])

    def test_a_number_at_an_end_is_a_whole_one(self):
        text = "<!-- numbers\n{gain.mean:.1f} %\n-->\nIt is 12.0 %.\n"
        self.assertEqual(problems(text)[0], ["4: '12.0' should be '2.0' in '2.0 %'"])
        text = "<!-- numbers\nis {gain.mean:.1f}\n-->\nIt is 2.05.\n"
        self.assertEqual(problems(text)[0], ["4: '2.05' should be '2.0' in 'is 2.0'"])

    def test_rows(self):
        head = "<!-- numbers\n| a | {gain:.0f} | {gain.mean:.1f} |\n-->\n| | each | mean |\n| --- | ---: | ---: |\n"
        right = head + "| a | 1, 2, 3 | 2.0 |\n| b | 1, 2, 3 | 2.0 |\n\n| a | 7 |\n"
        self.assertEqual(problems(right), ([], right))
        self.assertEqual(problems(right.replace("| a | 1, 2, 3 | 2.0 |\n| b", "| a | 1, 2, 4 |\n| b")),
                         (["6: the row should be: | a | 1, 2, 3 | 2.0 |"], right))
        self.assertEqual(problems(right.replace("| a | 1", "| c | 1"))[0], ["4: 0 rows of the table begin with '| a |'"])

    def test_comparisons_are_corrected_for_the_rows_of_their_table(self):
        text = ("<!-- numbers\n| gain | {row(gain, above)} |\n| loss | {row(loss, above)} |\n-->\n| | a | d | seeds | p | verdict |\n"
                "| gain |\n| loss |\n\n<!-- numbers\n| gain | {row(gain)} |\n-->\n| | a |\n| gain |\n")
        corrected = problems(text)[1]
        one, other = NAMES["gain"].p, NAMES["loss"].p
        self.assertLess(other, one)
        expected = [writing.probability(p) for p in (max(one, 2 * other), 2 * other, one)]
        rows = [line for line in corrected.splitlines() if re.match(r"\| (gain|loss) \| [+−]", line)]
        self.assertEqual([re.split(r" \| ", row.strip("| "))[4] for row in rows], expected)
        self.assertEqual([row.count("|") for row in rows], [7, 7, 6])
        self.assertIn("| opposite |", rows[1])
        self.assertEqual(problems(corrected), ([], corrected))

    def test_a_row_of_runs_that_are_equal(self):
        text = "<!-- numbers\n| a | {row(gain - gain, above)} |\n| b | {row(gain, above)} |\n-->\n| | x |\n| a |\n| b |\n"
        found, corrected = problems(text.replace("| a |\n| b |", "| a | x |\n| b | x |"))
        self.assertIn("\n| a | 0.00 in every seed | – | – | 1.00 | not seen |\n", corrected, found)
        self.assertEqual(problems(corrected), ([], corrected))

    def test_facts_and_names(self):
        text = "<!-- numbers\ndouble = 2 * gain.mean\nholds: double > 3\n-->\nIt is large.\n"
        self.assertEqual(problems(text)[0], [])
        self.assertEqual(problems(text.replace("> 3", "> 5"))[0], ["1: this does not hold: double > 5"])
        later = text + "\n<!-- numbers\nTwice is {double:.0f}\n-->\nTwice is 4.\n"
        self.assertEqual(problems(later)[0], [])

    def test_rows_wait_for_their_file(self):
        text = "<!-- numbers\nneeds: gain, later\n| a | {later.mean:.1f} |\n-->\n| | mean |\n| --- | ---: |\n| a | not run |\n"
        self.assertEqual(problems(text), ([], text))
        found = problems(text, NAMES | {"later": by_seed(1.0, 2.0)})
        self.assertEqual(found, (["7: the row should be: | a | 1.5 |"], text.replace("not run", "1.5")))

    def test_a_table_waits_for_its_file(self):
        text = "<!-- numbers\nneeds: later\ntable: | | mean |\ntable: | --- | ---: |\n| a | {later.mean:.1f} |\n-->\n\nMore.\n"
        self.assertEqual(problems(text), ([], text))
        names = NAMES | {"later": by_seed(1.0, 2.0)}
        found, corrected = problems(text, names)
        self.assertEqual(found, ["1: its table is missing"])
        self.assertEqual(corrected, text.replace("-->\n", "-->\n| | mean |\n| --- | ---: |\n| a | 1.5 |\n"))
        self.assertEqual(problems(corrected, names), ([], corrected))

    def test_what_cannot_be_computed(self):
        found = problems("<!-- numbers\nis {unknown.mean:.1f}\n-->\nIt is 2.0.\n")[0]
        self.assertEqual(found, ["1: this comment cannot be computed: NameError: name 'unknown' is not defined"])
        self.assertIn("'<!-- numbers', lines, '-->'", problems("<!-- numbers: x -->\n")[0][0])

    def test_a_file_can_have_the_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "gain.txt").write_text("by {gain.mean:+.1f}\nholds: gain.mean > 5\n")
            page = Page("<!-- numbers in gain.txt -->\nIt rises by +7.0.\n", NAMES, root)
            self.assertEqual(page.corrected(), "<!-- numbers in gain.txt -->\nIt rises by +2.0.\n")
            self.assertEqual([each.text for each in page.problems],
                             ["this does not hold: gain.mean > 5", "'+7.0' should be '+2.0' in 'by +2.0'"])
            missing = Page("<!-- numbers in none.txt -->\nIt rises by +7.0.\n", NAMES, root)
            self.assertEqual(missing.corrected(), missing.text)
            self.assertIn("this comment cannot be computed: FileNotFoundError", missing.problems[0].text)


class Repository(unittest.TestCase):
    def test_pages_have_the_numbers_of_the_runs(self):
        run = subprocess.run([sys.executable, ROOT / "tools/evidence", "--check"], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    def test_every_row_that_waits_can_be_filled(self):
        """By made runs of the variants of its sweep, or of the rows of its queue."""
        text = (ROOT / "docs/evidence.md").read_text()
        waiting = set(re.findall(r"^needs: (\w+)$", text, re.MULTILINE)) - set(measured())
        columns = sorted({name for name in re.findall(r"\['([^']+)'\]", text) if " " in name})
        draw, names = random.Random(2), dict(measured())
        with tempfile.TemporaryDirectory() as folder:
            for name in waiting:
                recipe = next(path for path in (ROOT / f"recipes/sweeps/evidence_{name}.toml", ROOT / f"recipes/sweeps/{name}.toml",
                                                ROOT / f"docs/evidence/{name}.toml") if path.is_file())
                table = tomllib.loads(recipe.read_text())
                variants = table.get("rows") or table["sweep"]["variants"]
                seeds = table["seeds"] if "rows" in table else table["sweep"]["seeds"]
                file = pathlib.Path(folder) / f"{name}.csv"
                file.write_text(",".join(["run", "seed", "state", "top-1", *columns]) + "\n" + "".join(
                    ",".join([f"{variant}/seed-{seed}", str(seed), "finished", *(str(draw.random()) for _ in ["top-1", *columns])]) + "\n"
                    for variant in variants for seed in range(seeds)))
                names[name] = Sweep(file)
        filled = Page(Page(text, names).corrected(), names)
        filled.corrected()
        self.assertEqual([problem.text for problem in filled.problems], [])
        for name in waiting:
            self.assertIn(f"needs: {name}\n", filled.text)
        if waiting:
            self.assertNotEqual(filled.text, text)

    def test_every_wrong_number_is_found_and_corrected(self):
        draw = random.Random(1)
        for name in PAGES:
            text = (ROOT / name).read_text()
            page = Page(text, measured(), ROOT)
            page.corrected()
            digits = [place for start, end in page.checked for place in range(start, end)
                      if text[place].isdigit() and (text[start] != "|" or place > text.index("|", start + 3))]
            self.assertGreater(len(digits), 10, name)
            for place in draw.sample(digits, min(len(digits), 25)):
                wrong = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1:]
                planted = Page(wrong, measured(), ROOT)
                corrected = planted.corrected()
                around = f"{name}: …{wrong[max(0, place - 30):place + 30]}…"
                self.assertTrue(planted.problems, around)
                if corrected != wrong:  # if a label of a row was changed, no row is found
                    self.assertEqual(corrected, text, around)

    def test_the_command_names_the_place_and_corrects_it(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for name in ("tools/evidence_page", "docs/evidence", "docs/performance"):
                shutil.copytree(ROOT / name, copy / name)
            for name in (*PAGES, "tools/evidence"):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
            runs = copy / "docs/evidence/text_kernels.csv"
            first = re.search(r"^2glu/seed-0(?:,[^,]*){7},([\d.]+),", runs.read_text(), re.MULTILINE)
            runs.write_text(runs.read_text().replace(first[0], first[0].replace(first[1], "0.9"), 1))

            def command(*arguments):
                run = subprocess.run([sys.executable, copy / "tools/evidence", *arguments], capture_output=True, text=True)
                return run.returncode, run.stdout

            status, said = command("--check")
            self.assertEqual(status, 1)
            self.assertRegex(said, r"docs/evidence.md:\d+: the row should be: \| 2×GLU \| 68.")
            self.assertRegex(said, r"README.md:\d+: this does not hold: ")
            command()
            self.assertIn("| 2×GLU | 68.", (copy / "docs/evidence.md").read_text())
            shutil.copy(ROOT / "docs/evidence/text_kernels.csv", runs)
            self.assertEqual(command(), (0, ""))
            for name in PAGES:
                self.assertEqual((copy / name).read_text(), (ROOT / name).read_text())


if __name__ == "__main__":
    unittest.main()
