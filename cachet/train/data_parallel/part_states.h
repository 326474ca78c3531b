#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/ops/support/host_flag.h"
#include "cachet/processes/process_group.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// The prefix of tensor names in part_states.safetensors.
inline constexpr std::string_view kPartPrefix = "part.";

/// The states of the parts of a step, if train.state is "separate" or "first": the model's buffers (not its parameters)
/// and the states of torch's generators. Part r draws the random numbers of process r of a run.
///
/// The states are stored outside the model. Copying a state into the model's buffers and back does not change the
/// addresses of the buffers. Between two steps, model and generators have the state of this process's first part (in
/// process 0: part 0). With "first", the model has the state of part 0 in every process, but the generators do not.
class PartStates {
 public:
  /// Starts every part with the model's buffers. Draws no numbers. The model must outlive this and keep its device.
  PartStates(torch::nn::Module& model, const TrainOptions& options);

  int64_t own() const { return shard_.parts; }        // number of parts of this process
  int64_t all() const { return shard_.all_parts(); }  // N, the number of all parts
  /// Returns the number of this process's part `i` among all parts, counted from 0.
  int64_t number(int64_t i) const { return shard_.number_of(i); }

  /// Sets the model's buffers and the generators to the state of this process's part `i`, until end(i). In a step, the
  /// parts come in the order of their numbers; a step may end before its last part.
  void begin(int64_t i);
  void end(int64_t i);
  /// Ends a step after its last part. With train.state = "first", all processes must call this function, and each
  /// process gets the state of part 0. If this process trains alone, `processes` is null.
  void end_step(processes::ProcessGroup* processes);

  /// Returns the tensors of this process's parts for a checkpoint, without the model: states as "part.3/<buffer>"
  /// (except part 0; none with "first"), and the states of the parts' generators, named as in random_state().
  io::TensorMap states() const;
  io::TensorMap generators() const;
  /// Restores tensors from states(). May be called only between two steps. If this process has part 0, the model must
  /// already have that part's state. Returns whether random draws continue as if uninterrupted (see set_random_state).
  /// If a state is missing or has another shape, throws std::runtime_error, which names the part and the buffer.
  bool load(const io::TensorMap& states, const io::TensorMap& generators);

 private:
  struct State {
    std::vector<at::Tensor> tensors;  // in the order of buffers_
    std::vector<bool> flags;          // in the order of flagged_; empty if not known
  };

  State copy_of_model() const;
  std::vector<bool> flags_of_model() const;
  void read(State& state) const;         // state ← model
  void write(const State& state) const;  // model ← state
  void broadcast_tensor(processes::ProcessGroup& processes) const;
  bool each_has_its_own() const { return rule_ == StateRule::separate; }

  torch::nn::Module& model_;
  StateRule rule_;
  data::Shard shard_;
  std::vector<io::NamedTensor> buffers_;
  std::vector<ops::HostFlag*> flagged_;  // modules of the model that have a flag
  // States in a process with several parts. With "separate", the state of each part of the process. With "first", the
  // state of part 0, and the common state of all parts at the beginning of the step.
  std::vector<State> states_;
  std::vector<io::TensorMap> generators_;
};

/// Returns the bytes of one state, which consists of all buffers of a model.
int64_t state_bytes(const torch::nn::Module& model);

/// Bytes of the additional copies of the model's buffers, if parts have their own states (train.state).
struct PartStateBytes {
  /// In each process: with "separate", one copy for each part; with "first", two copies; none if it has only one part.
  int64_t in_memory = 0;
  /// In a checkpoint: with "separate", one copy for each part except part 0; with "first", no copies.
  int64_t in_checkpoint = 0;
};
PartStateBytes part_state_bytes(const torch::nn::Module& model, const TrainOptions& options);

}  // namespace cachet::train
