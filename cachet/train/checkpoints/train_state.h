#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// The numbers of a checkpoint: where the run stands and what it was made with.
struct TrainState {
  int64_t step = 0;        // optimizer steps done
  int64_t epoch = 0;       // epoch that the next micro-batch belongs to
  int64_t batch = 0;       // its number within that epoch: the sampler's cursor
  int64_t samples = 0;     // seen in training
  bool evaluated = false;  // whether the evaluation that is due at this step is done
  double seconds = 0;      // that the run took, over all its parts, evaluations included

  std::optional<double> best;  // objective's best value
  int64_t best_step = 0;
  int64_t evaluations_since_best = 0;

  bool for_evaluation = false;  // whether the checkpoint was saved for the evaluation of its step alone

  std::vector<MetricSum> running;  // means under way since the last step line
  int64_t running_steps = 0;
  double running_norm = 0;       // of their gradient norms
  double running_seconds = 0;    // that they took
  bool penalty_in_loss = false;  // of the training loss that is logged: a run keeps the meaning that it began with

  uint64_t seed = 0;        // of the sampler, whose order is a function of it and the epoch
  std::string config_hash;  // of what may not change on resume
  int64_t world_size = 1;
  int64_t parts = 0;  // of a step that have states of their own, in all processes; 0: all share one state
  int64_t threads = 0;
  std::string cachet_version, torch_version;

  std::map<std::string, int64_t> tensors;  // how many each file of the checkpoint has; none in checkpoints of 0.1.0
};

/// One JSON object, numbers to the last bit. from_json throws io::Error that names the file and the field, and
/// io::NewerSchema.
std::string to_json(const TrainState& state);
TrainState train_state_from_json(const std::string& text, const std::string& name = "state.json");

}  // namespace cachet::train
