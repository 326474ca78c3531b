// The JSON of run folders: manifests and states of checkpoints, descriptions of runs.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cachet/train/checkpoints/manifest.h"
#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/runs/run_description.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  try {
    const std::string written = train::to_json(train::manifest_from_json(text));
    if (train::to_json(train::manifest_from_json(written)) != written) std::abort();
  } catch (const std::runtime_error&) {
  }
  try {
    const std::string written = train::to_json(train::train_state_from_json(text));
    if (train::to_json(train::train_state_from_json(written)) != written) std::abort();
  } catch (const std::runtime_error&) {
  }
  if (const auto run = train::run_description_from_json(text))
    if (train::run_description_from_json(train::to_json(*run)) != run) std::abort();
}

std::vector<std::string> seeds() {
  train::Manifest manifest{"0123456789abcdef", 120, {{"model.safetensors", {64, std::string(64, 'a')}}}};
  train::TrainState state;
  state.step = 120;
  state.best = 0.5;
  state.running = {{"loss", 12.5, 3}};
  state.torch_version = "2.13.0";
  train::RunDescription run;
  run.task = "image_classification";
  run.model = "vit_tiny_patch16_224";
  run.metrics = {{"top1", "top-1"}, {"loss", "loss"}};
  train::RunDescription earlier = run;  // of the first rule of counts
  earlier.linear_convolution_macs = earlier.attention_macs = train::RunDescription::kNoMacs;
  run.evaluated = 48;
  run.split_size = 64;
  return {train::to_json(manifest), train::to_json(state), train::to_json(run), train::to_json(earlier)};
}

}  // namespace cachet::fuzz
