#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// The numbers in a checkpoint: the progress of the run and the run's settings.
struct TrainState {
  int64_t step = 0;        // number of optimizer steps done
  int64_t epoch = 0;       // epoch of the next micro-batch
  int64_t batch = 0;       // number of the next micro-batch in its epoch: the sampler's position
  int64_t samples = 0;     // number of samples seen in training
  bool evaluated = false;  // whether the evaluation that is due at this step is finished
  double seconds = 0;      // duration of the run, over all resumes, including evaluations

  std::optional<double> best;  // best value of the objective
  int64_t best_step = 0;
  int64_t evaluations_since_best = 0;

  bool for_evaluation = false;  // whether the checkpoint was saved only for the evaluation of its step

  std::vector<MetricSum> running;  // sums of the metrics since the last step line
  int64_t running_steps = 0;
  double running_norm = 0;       // sum of the gradient norms of the running_steps steps
  double running_seconds = 0;    // duration of the running_steps steps
  bool penalty_in_loss = false;  // whether the logged training loss includes the penalty; fixed for a run

  uint64_t seed = 0;        // seed of the sampler, whose order is a function of seed and epoch
  std::string config_hash;  // hash of the keys that may not change on resume
  int64_t world_size = 1;
  int64_t parts = 0;  // number of a step's parts with their own states, in all processes; 0: one state for all
  int64_t threads = 0;
  std::string cachet_version, torch_version;

  std::map<std::string, int64_t> tensors;  // number of tensors in each file; empty in checkpoints of 0.1.0
};

/// Writes the state as one JSON object with exact numbers. train_state_from_json throws io::Error, which names the file
/// and the field, and io::NewerSchema.
std::string to_json(const TrainState& state);
TrainState train_state_from_json(const std::string& text, const std::string& name = "state.json");

}  // namespace cachet::train
