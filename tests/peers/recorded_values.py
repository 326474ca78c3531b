"""Codes that cannot be installed next to a current PyTorch: their values, or those of their rules, lie in tests/data. The
test programs hold Cachet to them; this counts the values and lets the tests run."""
import json

from comparison import ROOT, Found, comparison


def tests_hold(setting, program, tests, values):
    """`values` results, all within the bounds of these tests of a test program."""
    said = setting.run(program, f"--gtest_filter={tests}", "--gtest_brief=0")
    assert "[  PASSED  ] 0 tests" not in said and "[  PASSED  ]" in said, said[-500:]
    return Found(values, None)


def metadata(name):
    data = (ROOT / f"tests/data/oracles/{name}.safetensors").read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    return header


@comparison("fairseq", "beam searches in float64: tokens, scores, lengths", allowed=1e-9, source="recorded")
def beam_search(setting):
    header = metadata("beam_search")
    cases = json.loads(header["__metadata__"]["cases"])
    return tests_hold(setting, "models_tests", "TranslationOracle.*", searches(header, cases))


def searches(header, cases):
    """A search for each sentence of each case."""
    return len(cases) * header["src"]["shape"][0]


@comparison("fairseq and others", "schedules of PyTorch, fairseq, the arena, timm, transformers and mmcv", allowed=1e-14,
            source="recorded")
def schedules(setting):
    cases = json.loads((ROOT / "tests/data/schedules.json").read_text())["cases"]
    return tests_hold(setting, "train_tests", "Schedule.IsTheOtherCodes", sum(len(case["rates"]) for case in cases))


def files(*prefixes):
    """How many fixtures begin with one of these, each with the results of one case."""
    return sum(path.name.startswith(prefixes) for path in (ROOT / "tests/data/oracles").glob("*.safetensors"))


DETECTORS = ("det_", "model_faster_rcnn", "model_mask_rcnn", "model_retinanet")
LAYERS = ("grc_", "un_", "mabn_", "pn_", "kernel_", "attn_", "adaptive_softmax")


@comparison("mmdetection", "anchors, assignment, heads, losses, gradients, detections; by file of results", allowed=1e-9,
            source="2.13.0, recorded")
def detectors(setting):
    return tests_hold(setting, "models_tests", "DetectionOracle.*:DetectorOracle.*", files(*DETECTORS))


@comparison("published models", "logits, gradients, states of ViT, PVT, Swin, T2T, Transformer-XL, RMT, GRC; by file",
            allowed=1e-9, source="recorded")
def models(setting):
    names = "*Oracle.*:-DetectionOracle.*:DetectorOracle.*:TranslationOracle.*:SamplingOracle.*"
    return tests_hold(setting, "models_tests", names, files("model_", "pvt_") - files(*DETECTORS[1:]))


@comparison("published layers and papers", "outputs, gradients, states of caches, norms, kernels, attention; by file",
            allowed=1e-9, source="recorded")
def layers(setting):
    return tests_hold(setting, "nn_tests", "*Oracle.*:*Fixture.*", files(*LAYERS))
