# What there is to do in a clone, as short commands. Each sets up what it needs (tools/setup) and builds in build/release.
# Options: JOBS=n compilers at once; CMAKE_FLAGS=-D... for the configuration; PREFIX=folder for install; TORCH=version for wheel.
JOBS ?= $(shell tools/jobs)
PREFIX ?= /usr/local
CMAKE_FLAGS ?=
PYTHONS ?= python3.10 python3.13
BUILD := build/release

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-fast docs tutorials peers export-matrix first-hour dry-runs robustness mutate-steps fuzz trial-times memory-check bench evidence install wheel sdist format check-format check-layers check-python check-extras check-wheel-forms ci clean

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

setup:  ## install what building needs and this machine lacks
	@tools/setup --tests

# The tests need more packages than the command does, so only those who test ask for them.
build:  ## build the command, build/release/cachet
	@tools/setup
	cmake --preset release -DCACHET_BUILD_TESTS=OFF $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target cachet_command

demo: build  ## train a plain and a cached model on the images in data/ and compare them
	tools/demo

test: build-tests  ## build everything and run all tests
	ctest --test-dir $(BUILD) --output-on-failure --parallel $(JOBS)

test-fast:  ## build the layers' tests and run those that are not slow: for the inner loop
	@tools/setup --tests
	cmake --preset release -DCACHET_BUILD_TESTS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target layer_tests
	ctest --preset fast --parallel $(JOBS)

.PHONY: build-tests
build-tests:
	@tools/setup --tests
	cmake --preset release -DCACHET_BUILD_TESTS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS)

peers:  ## compare results with those of other codes, rewrite the table of docs/peers.md; ONLY=regex
	@tools/setup --tests --bench --peers
	cmake --preset release -DCACHET_BUILD_TESTS=ON -DCACHET_BUILD_BENCHMARKS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target peers
	build/peers/bin/python tests/peers/run.py $(BUILD) $(if $(ONLY),--only '$(ONLY)',--page docs/peers.md)

export-matrix: build-tests  ## compare exports of all models, plug-ins, engines and precisions with their runs (an hour of a core; continues where it stopped); ONLY=regex
	CACHET_ROBUSTNESS=full CACHET_EXPORT_CASES='$(ONLY)' CACHET_FORKED_COMMANDS=$(CURDIR)/$(BUILD)/forked_commands \
	CACHET_EXPORT_RESULTS=$(BUILD)/export-matrix python3 tests/app/export_matrix_test.py $(BUILD)/cachet
	CACHET_ROBUSTNESS=full python3 tests/app/tampered_exports_test.py $(BUILD)/cachet

first-hour: build-tests  ## run the ten journeys of docs/start/first-hour.md with the installed command; ONLY=text
	ctest --test-dir $(BUILD) --output-on-failure --tests-regex '^first_hour\.install$$'
	python3 tests/first_hour/first_hour_test.py $(BUILD)/first_hour/installed $(if $(ONLY),-k '$(ONLY)')

dry-runs: build  ## take a step, an evaluation and a checkpoint of every recipe, without its data
	CACHET_ROBUSTNESS=full python3 tests/app/dry_runs_test.py $(BUILD)/cachet

FUZZ_ALL_SECONDS := 475200  # processor time for all readers: 132 hours
robustness: build-tests  ## run the robustness tests at their full size (days)
	CACHET_ROBUSTNESS=full ctest --test-dir $(BUILD) --output-on-failure --tests-regex Robustness --no-tests=error --timeout 0
	tools/coverage
	tools/fuzz $(or $(FUZZ_SECONDS),$(shell expr $(FUZZ_ALL_SECONDS) / $(words $(wildcard tests/fuzz/*_fuzz.cpp))))

mutate-steps:  ## put each obstacle to CUDA graphs back into the sources and check that a test fails; ONLY=regex
	@tools/setup --tests
	cmake --preset release -DCACHET_BUILD_TESTS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target train_tests nn_tests tasks_tests
	tools/mutate-steps --build $(BUILD) $(if $(ONLY),--only '$(ONLY)')

fuzz:  ## feed the readers of files malformed input: FUZZ_SECONDS=60 for each
	@tools/setup --tests
	tools/fuzz $(or $(FUZZ_SECONDS),60)

trial-times:  ## compare the time of a trial (cachet bench) with that of a step of training, for each family
	@tools/setup --bench
	cmake --preset release -DCACHET_BUILD_BENCHMARKS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target trial_times_benchmark
	$(BUILD)/trial_times_benchmark recipes $(if $(ONLY),--only '$(ONLY)')

memory-check:  ## compare the estimated memory of recipes at their own sizes with what their steps take
	@tools/setup --tests
	cmake --preset release -DCACHET_BUILD_TESTS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target cachet_command memory_probe
	CACHET_ROBUSTNESS=full python3 tests/app/memory_test.py $(BUILD)/cachet $(BUILD)/memory_probe Memory.test_estimates_are_within_15_percent_of_the_peak
	tools/memory-check --probe $(BUILD)/memory_probe $(if $(ONLY),--only '$(ONLY)')

bench:  ## measure operators and models, rewrite docs/performance (an hour)
	@tools/setup --bench
	cmake --preset release -DCACHET_BUILD_BENCHMARKS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target cachet_command benchmarks
	tools/bench

evidence:  ## write the numbers and verdicts of README.md and of pages of docs from docs/evidence
	@tools/setup --tests
	tools/evidence

docs:  ## build the site of docs/ in build/docs; warnings and links to nothing are errors
	@tools/setup --docs
	tools/docs

tutorials: installed  ## run the commands of each tutorial of docs/ as written; ONLY=your-text
	cmake --install $(BUILD) --prefix build/installed >/dev/null
	tools/run-tutorial --command build/installed/bin/cachet $(if $(ONLY),docs/tutorials/$(ONLY).md,$(wildcard docs/tutorials/*.md))

.PHONY: installed
installed: build  # all that `cmake --install` copies: `build` makes the command alone
	cmake --build $(BUILD) --parallel $(JOBS) --target installed

install: installed  ## install the command, the library and its CMake package to PREFIX
	cmake --install $(BUILD) --prefix $(PREFIX)

wheel:  ## build the wheel of cachet-torch, the command, the library and the Python package, in build/wheels (TORCH=2.11.0: another torch)
	@tools/setup
	tools/wheel $(if $(TORCH),--torch $(TORCH))

check-wheel-forms: wheel  ## test the wheel with each Python of PYTHONS and the torch of the package index (3 GB to fetch for each)
	for python in $(PYTHONS); do tools/check-wheel --python $$python build/wheels/*.whl || exit 1; done

sdist:  ## pack the sources that `pip install` builds, in build/sdists, and check that their build can be configured
	@tools/setup
	tools/sdist

format:  ## format every C++ file
	@tools/setup --format
	tools/format

check-format:  ## fail if a C++ file is not formatted
	@tools/setup --format
	tools/format --check

check-layers:  ## fail if a layer includes what it may not know
	tools/check-layers

check-python:  ## fail if the package in python/ is not clean for ruff and mypy --strict
	tools/check-python

check-extras: build  ## run the tests of timm and Transformers with the lowest and the newest versions that the wheel allows
	tools/check-extras

ci:  ## everything that a change has to pass
	.ci/run

clean:  ## remove what was built; .venv and runs stay
	rm -rf build
