"""What exports answer compared with their runs: models, plug-ins, engines and precisions; single inputs, batches and threads. A sample of
the cases, and all of them where CACHET_ROBUSTNESS is "full" (`make export-matrix`). CACHET_EXPORT_CASES is a regular expression for the
names of cases; CACHET_OPENVINO_PYTHONS (Python interpreters that have OpenVINO, with a colon between them) and CACHET_CLASSIFY (the
program of examples/deploy-cpp) answer, too. If CACHET_FORKED_COMMANDS names the program forked_commands, it runs the commands. If
CACHET_EXPORT_RESULTS names a folder, it keeps the result of each case, and a test that starts again leaves out the cases that it has."""
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import time

import command
import export_cases
import export_results
from export_test import engines
from forked_commands import ForkedCommands

FULL = os.environ.get("CACHET_ROBUSTNESS") == "full"
ONLY = os.environ.get("CACHET_EXPORT_CASES", "")
PYTHONS = [path for path in os.environ.get("CACHET_OPENVINO_PYTHONS", "").split(":") if path]
CLASSIFY = os.environ.get("CACHET_CLASSIFY")
FORKED = command.FORKED
RESULTS = os.environ.get("CACHET_EXPORT_RESULTS")

# The largest difference of a probability, of the score of a detection, or of the mean loss of a text's tokens. f32: sums that are added up
# in another order; 7e-6 was the largest difference that was seen, and a wrong mask or a wrong weight gives more than 1e-3. bf16: the check
# of an export allows 0.2 of a log-probability, which is 0.1 of a probability. int8: that check looks at the classes and the accuracy alone.
BOUNDS = {"f32": 3e-5, "bf16": 0.1, "int8": 0.5}
# Of inputs that are unlike the data, such as a picture of one colour. bf16: twice what the check allows, which does not look at all inputs.
# int8: no calibration has seen them, so any of them may get any answer; the mean over the data has a bound.
UNUSUAL = {"f32": 3e-5, "bf16": 0.2, "int8": 1.0}
BEYOND = 0.02  # of the exports in bf16, the most that may have an answer beyond the first bound
MEANS = {"f32": 3e-5, "bf16": 0.05, "int8": 0.1}
SIDE = 0.01  # the largest difference of a side of a box, in pixels of 64
SPREAD = 0.01  # of the answers to different inputs; if they were all alike, a wrong one would not be seen
SEEDS = 3  # if the answers of a model are all alike, it is trained with the next one
NOT_KEPT = "the export differs too much from its model, so it was not saved"
WHAT_WAS_GIVEN = ("index", "file", "label", "prompt", "line")


@dataclasses.dataclass
class Said:
    """What a command answers."""
    code: int
    messages: str
    records: list


@dataclasses.dataclass
class Difference:
    """Between the answers of a run and of its export."""
    largest: float = 0.0
    total: float = 0.0  # of the largest ones of each sample
    changed: int = 0  # samples whose best class is another one
    clearly: int = 0  # those of them whose class led by more than twice the bound
    samples: int = 0

    def add(self, other):
        self.largest = max(self.largest, other.largest)
        self.total += other.largest
        self.changed += other.changed
        self.clearly += other.clearly
        self.samples += other.samples


def probabilities(scores):
    largest = max(scores)
    powers = [math.exp(score - largest) for score in scores]
    return [power / sum(powers) for power in powers]


def farthest(numbers, others):
    return max((abs(one - other) for one, other in zip(numbers, others, strict=True)), default=0.0)


def difference_of_classes(scores, others, precision):
    before, after = probabilities(scores), probabilities(others)
    second, first = sorted(before)[-2:]
    changed = before.index(first) != after.index(max(after))
    return Difference(farthest(before, after), changed=changed, clearly=changed and first - second > 2 * BOUNDS[precision], samples=1)


def difference_of_detections(before, after, precision):
    """In float32 each detection that is clearly above the last one is in both lists; those of nearly the same score may stand in another
    order. In bf16 a model that was hardly trained looks at other boxes; its best score is nearly the same."""
    if precision != "f32":
        return Difference(farthest(*([max((each["score"] for each in side), default=0)] for side in (before, after))), samples=1)
    result = Difference(samples=1)
    for ones, others in ((before, after), (after, before)):
        last = min((each["score"] for each in others), default=0)
        for one in ones:
            if one["score"] <= last + BOUNDS[precision]:
                continue
            found = [abs(one["score"] - other["score"]) for other in others
                     if other["class"] == one["class"] and farthest(one["bbox"], other["bbox"]) <= SIDE]
            result.largest = max(result.largest, min(found, default=one["score"]))
    return result


def difference_of_texts(before, after, precision):
    """In float32 the words are the same; those of bf16 may be others."""
    if precision != "f32":
        return Difference(samples=1)
    texts = lambda record: [each["text"] for each in record.get("translations", [record])]
    scores = lambda record: [each["score"] for each in record.get("translations", [])]
    changed = texts(before) != texts(after)
    return Difference(0.0 if changed else farthest(scores(before), scores(after)), changed=changed, clearly=changed, samples=1)


def losses(record):
    """Of the tokens of each text of a segment, in nats."""
    return [loss / tokens for loss, tokens in zip(record["loss_by_lane"], record["tokens_by_lane"], strict=True)]


def difference_of(before, after, precision):
    if "logits" in before:
        return difference_of_classes(before["logits"], after["logits"], precision)
    if "detections" in before:
        return difference_of_detections(before["detections"], after["detections"], precision)
    if "loss_by_lane" in before:
        return Difference(farthest(losses(before), losses(after)), samples=1)
    return difference_of_texts(before, after, precision)


def spread(records):
    """How far the answers to different inputs are apart."""
    if "logits" in records[0]:
        return max(max(values) - min(values) for values in zip(*(probabilities(record["logits"]) for record in records)))
    if "detections" in records[0]:
        scores = [each["score"] for record in records for each in record["detections"]]
        return max(scores) - min(scores)
    if "loss_by_lane" in records[0]:
        all_losses = [loss for record in records for loss in losses(record)]
        return max(all_losses) - min(all_losses)
    without = lambda record: json.dumps({key: value for key, value in record.items() if key not in WHAT_WAS_GIVEN})
    return len(set(map(without, records))) - 1


class ExportMatrix(command.FolderTest):
    def setUp(self):
        super().setUp()
        self.engines = engines()
        self.given = export_cases.write_data(self.folder, self.cachet)
        self.forked = {}  # by the number of threads

    def given_to(self, case):
        return [line for line in self.given[case.inputs] if case.takes_file(line)]

    def start(self, threads, *words, stdin=""):
        if not FORKED:
            return command.run(*words, cwd=self.folder, stdin=stdin, variables={"OMP_NUM_THREADS": str(threads)})
        if threads not in self.forked:
            self.forked[threads] = ForkedCommands(FORKED, threads)
            self.addCleanup(self.forked[threads].close)
        return self.forked[threads].run(*words, cwd=self.folder, stdin=stdin)

    def ask(self, threads, *words, stdin=""):
        done = self.start(threads, *words, stdin=stdin)
        # OpenVINO's library hwloc prints this on a machine without /sys, such as a bare container.
        messages = "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("hwloc/"))
        return Said(done.returncode, messages, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")])

    def answers(self, model, case, ways):
        """The predictions of a run or an export, by the way of asking: always one by one; in batches, and on the test split, if `ways` has them."""
        lines = "".join(line + "\n" for line in self.given_to(case))
        (self.folder / "given.txt").write_text(lines)
        if case.inputs == "prompts":
            said = {"one by one": self.ask(1, "generate", model, "--lines", "-", "--tokens", "9", "--seed", "1", "--json", stdin=lines)}
            evaluated = self.ask(2, "eval", model, "-o", "kept", "--overwrite", "--progress", "none")
            kept = (self.folder / "kept/predictions.jsonl").read_text().splitlines()
            said["test split"] = Said(evaluated.code, evaluated.messages, [json.loads(line) for line in kept])
            return said
        if case.inputs == "sentences":
            said = {"one by one": self.ask(1, "translate", model, "--json", "--lines-at-once", "1", "--progress", "none", stdin=lines)}
            if "batches" in ways:
                said["in batches"] = self.ask(2, "translate", model, "--json", "--progress", "none", stdin=lines)
            return said
        words = ["predict", model, "--progress", "none"] + ([] if case.inputs == "scenes" else ["--logits"])
        refused = "" if case.inputs in ("images", "scenes") else "\n"  # an empty text, after all others
        said = {"one by one": self.ask(1, *words, "--lines", "-", stdin=lines + refused)}
        if "batches" in ways:
            said["in batches"] = self.ask(2, *words, "--lines", "given.txt")
        if "test" in ways and case.inputs != "scenes":
            said["test split, three at once"] = self.ask(8, *words, "--set", "train.batch_size=3")
        return said

    def compare(self, expected, actual, precision):
        """The whole difference, which is asserted to be small."""
        self.assertEqual(list(expected), list(actual))
        total, of_data = Difference(), Difference()
        for way, before in expected.items():
            after = actual[way]
            bound = (BOUNDS if way.startswith("test split") else UNUSUAL)[precision]
            self.assertEqual(before.code, after.code, way)
            self.assertEqual(before.messages.replace("run", "export"), after.messages.replace("run", "export"), way)
            self.assertEqual(len(before.records), len(after.records), way)
            for one, other in zip(before.records, after.records):
                for key in WHAT_WAS_GIVEN:
                    self.assertEqual(one.get(key), other.get(key), way)
                each = difference_of(one, other, precision)
                total.add(each)
                if way.startswith("test split"):
                    of_data.add(each)
                self.assertLessEqual(each.largest, bound, (way, one, other))
                self.assertEqual(each.clearly, 0, (way, one, other))
        bounded = of_data if precision == "int8" and of_data.samples else total
        self.assertLessEqual(bounded.total / bounded.samples, MEANS[precision], bounded)
        return total

    def export(self, engine, precision):
        """The message of `export` if it refuses: the last line of what it prints."""
        shutil.rmtree(self.folder / "export", ignore_errors=True)
        done = self.start(1, "export", "run", "-o", "export", "--engine", engine, "--precision", precision, "--progress", "none")
        if done.returncode == 0:
            return ""
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "export").exists())
        said = done.stderr.strip().splitlines()[-1]
        self.assertTrue(said.startswith("cachet export: "), done.stderr)
        return said

    def compare_other_versions(self, case, expected):
        """Other versions of OpenVINO answer as the run does, if the file does not name a newer one as its minimum."""
        ids = lambda text: [byte + 1 for byte in text.encode()[:export_cases.LONGEST]]
        given = [[ids(text) for text in line.split("\t")] for line in self.given_to(case)]
        for python in PYTHONS:
            done = subprocess.run([python, command.ROOT / "tests/app/openvino_answers.py", "export/model.xml"], cwd=self.folder,
                                  input=json.dumps(given), capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = json.loads(done.stdout)
            version = lambda text: [int(number) for number in text.split(".")[:2]]
            with self.subTest(version=said["version"]):
                old = version(said["version"]) < version(said["minimum"])
                total = Difference()
                for record, scores in zip(expected.records, said["scores"], strict=True):
                    total.add(difference_of_classes(record["logits"], scores, "f32"))
                print(f"{case.name}: OpenVINO {said['version']} (at least {said['minimum']}): {total}", flush=True)
                if not old:
                    self.assertLessEqual(total.largest, BOUNDS["f32"])

    def compare_program(self, case, expected):
        """The program of examples/deploy-cpp names the classes that `predict` names of the export, with the same percentages."""
        done = subprocess.run([CLASSIFY, "export", *self.given_to(case)], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        blocks = re.findall(r"^(\S+)\n((?:  +[\d.]+ %  .+\n)+)", done.stdout, re.MULTILINE)
        self.assertEqual([name for name, _ in blocks], [record["file"] for record in expected.records])
        for record, (_, block) in zip(expected.records, blocks):
            by_class = {guess["class"]: 100 * guess["probability"] for guess in record["top"]}
            for percent, name in re.findall(r"([\d.]+) %  (.+)", block):
                self.assertAlmostEqual(by_class[name], float(percent), delta=0.051)  # one digit after the point

    def try_target(self, case, engine, precision, ways, expected):
        """What became of one export: export_results.Target."""
        refusal = self.export(engine, precision)
        result = export_results.Target(engine, precision, refusal)
        expected_refusal = case.refusal(engine, precision)
        if expected_refusal:
            self.assertIn(expected_refusal, refusal)
            return result
        if (precision != "f32" or case.chooses_keys) and NOT_KEPT in refusal:
            print(f"{case.name}, {engine} {precision}: {refusal[refusal.index('on '):]}", flush=True)
            return result
        self.assertEqual(refusal, "")
        actual = self.answers("export", case, ways)
        difference = self.compare(expected, actual, precision)
        if FULL or ONLY:
            print(f"{case.name}, {engine} {precision}: {difference}", flush=True)
        if engine == "openvino" and precision == "f32" and case.inputs in ("texts", "pairs"):
            self.compare_other_versions(case, expected["one by one"])
        if CLASSIFY and engine in ("openvino", "onnx") and case.inputs == "images" and case.family != "pixels":
            self.compare_program(case, actual["one by one"])
        return dataclasses.replace(result, **dataclasses.asdict(difference))

    def try_case(self, case, ways):
        """What became of its exports. What fails is not one of them."""
        (self.folder / "recipe.toml").write_text(case.recipe)
        for seed in range(SEEDS):  # a head of few ReLUs can die
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            trained = self.start(1, "train", "recipe.toml", "--run", "run", "--progress", "none", *case.settings,
                                 "--set", f"train.seed={seed}")
            self.assertEqual(trained.returncode, 0, trained.stderr)
            expected = self.answers("run", case, ways)
            # A small language model continues in the same way after any prompt; its losses differ.
            seen = min(spread(said.records) for said in expected.values() if "prompt" not in said.records[0])
            if seen > SPREAD:
                break
        self.assertGreater(seen, SPREAD, "the answers are all alike")
        targets = []
        for engine, precision in case.targets:
            if engine in self.engines:
                with self.subTest(case=case.name, engine=engine, precision=precision):
                    try:
                        targets.append(self.try_target(case, engine, precision, ways, expected))
                    except AssertionError as error:
                        print(f"{case.name}, {engine} {precision}: {error}", flush=True)  # the whole matrix takes long
                        raise
        return targets

    def test_single_inputs(self):
        cases = export_cases.whole_matrix() if FULL else export_cases.sample()
        cases = [case for case in cases if re.search(ONLY, case.name)]
        self.assertGreater(len(cases), 0)
        results = export_results.Results(RESULTS, command.COMMAND)
        left = [case for case in cases if case.name not in results.cases]
        begun = time.monotonic()
        for number, case in enumerate(left):
            with self.subTest(case=case.name):
                targets = self.try_case(case, ("batches", "test") if FULL else (("batches",), ("test",))[number % 2])
                if len(targets) == sum(engine in self.engines for engine, _ in case.targets):
                    results.keep(case.name, targets)
            seconds = time.monotonic() - begun
            print(f"{len(cases) - len(left) + number + 1} of {len(cases)} cases, {case.name}: {seconds / (number + 1):.1f} s for one, "
                  f"{seconds / (number + 1) * (len(left) - number - 1) / 60:.0f} minutes left", flush=True)
        targets = [target for case in cases for target in results.cases.get(case.name, [])]
        print(export_results.table(targets, BOUNDS), flush=True)
        if not ONLY:
            in_bf16 = [target.largest > BOUNDS["bf16"] for target in targets if target.precision == "bf16" and not target.refusal]
            self.assertLessEqual(sum(in_bf16), BEYOND * len(in_bf16) if FULL else 0)
            kept = {(target.engine, target.precision) for target in targets if not target.refusal}
            self.assertEqual(kept, {target for target in export_cases.TARGETS if target[0] in self.engines})

    def test_refused_precisions(self):
        case = export_cases.Case("vit")
        (self.folder / "recipe.toml").write_text(case.recipe)
        self.cachet("train", "recipe.toml", "--run", "run", "--progress", "none", "--set", "train.limit=1 steps")
        for engine, precision, said in (("torch", "int8", "int8 needs the engine openvino"),
                                        ("onnx", "int8", "int8 needs the engine openvino"),
                                        ("onnx", "bf16", "the numbers of an ONNX file are float32")):
            if engine in self.engines:
                self.assertIn(said, self.export(engine, precision))


if __name__ == "__main__":
    command.main()
