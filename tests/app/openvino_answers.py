"""Answers of an exported model.xml by the OpenVINO of this interpreter, which has the package numpy, too. Standard input: a JSON list of
samples, of each the token ids of its sequences. Standard output: the scores of each sample, and versions."""
import json
import sys

import numpy
import openvino

core = openvino.Core()
model = core.read_model(sys.argv[1])
said = {"version": openvino.__version__.split("-")[0], "minimum": model.get_rt_info(["cachet", "minimum_openvino_version"]).astype(str),
        "scores": []}
hint = "INFERENCE_PRECISION_HINT"
compiled = core.compile_model(model, "CPU", {hint: model.get_rt_info(["runtime_options", hint]).astype(str)})
for given in json.load(sys.stdin):
    inputs = []
    for number, ids in enumerate(given):
        length = model.inputs[2 * number].partial_shape[1]
        more = length.get_length() - len(ids) if length.is_static else 0
        inputs += [numpy.array([ids + [0] * more], numpy.int64), numpy.array([[False] * len(ids) + [True] * more])]
    said["scores"].append(compiled(inputs)[0][0].tolist())
print(json.dumps(said))
