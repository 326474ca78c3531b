"""What TensorBoard's reader finds in the logs of runs: tests/differential/tensorboard_differential.py."""
import unittest

from tensorboard.backend.event_processing import event_accumulator

from comparison import ROOT, Found, comparison, script


@comparison("tensorboard", "scalars of runs compared with metrics.jsonl, also after a kill and a resume", allowed=0)
def scalars(setting):
    tests = script(ROOT / "tests/differential/tensorboard_differential.py")
    tests.SAMPLE, tests.COMMAND = (str(setting.build / name) for name in ("tensorboard_sample", "cachet"))
    read = 0
    scalars_of = event_accumulator.EventAccumulator.Scalars

    def counted(self, tag):
        nonlocal read
        events = scalars_of(self, tag)
        read += len(events)
        return events

    event_accumulator.EventAccumulator.Scalars = counted
    try:
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromModule(tests).run(result)
    finally:
        event_accumulator.EventAccumulator.Scalars = scalars_of
    bad = result.failures + result.errors
    if bad:
        raise AssertionError("\n".join(f"{test}\n{text}" for test, text in bad))
    return Found(read, 0, f"{result.testsRun} tests")
