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

/// What the name of a tensor in part_states.safetensors begins with.
inline constexpr std::string_view kPartPrefix = "part.";

/// The state of the parts of a step, without the parameters, if train.state is "separate" or "first": the model's
/// buffers, and torch's generators. Part r > 0 draws as process r of a run does, and part 0 as process 0.
///
/// The states lie outside the model. They are copied into its buffers and back, so the buffers keep their addresses.
/// Between two steps, model and generators have those of this process's first part: in process 0 these are part 0's.
/// With "first" they are part 0's in every process, except for the generators.
class PartStates {
 public:
  /// Every part begins with the model's buffers. Draws no numbers. The model must outlive it and stay on its device.
  PartStates(torch::nn::Module& model, const TrainOptions& options);

  int64_t own() const { return shard_.parts; }        // of this process
  int64_t all() const { return shard_.all_parts(); }  // N
  /// The number of own part `i`, from 0 on, among all parts.
  int64_t number(int64_t i) const { return shard_.number_of(i); }

  /// Makes the model's buffers and the generators those of own part `i`, until end(i). Within a step the parts come in
  /// the order of their numbers, and a step may end before the last of them.
  void begin(int64_t i);
  void end(int64_t i);
  /// After the last part of a step. With "first", all processes take part: each gets the state of part 0. Null: this
  /// process trains alone.
  void end_step(processes::ProcessGroup* processes);

  /// What a checkpoint has of this process's parts, without the model: their states as "part.3/<buffer>" except for
  /// part 0's, none with "first", and the states of their generators, named as random_state() names them.
  io::TensorMap states() const;
  io::TensorMap generators() const;
  /// Takes them back, between two steps. If this process has part 0, the model has its state already. Returns whether
  /// random draws continue as if uninterrupted (see set_random_state). Throws std::runtime_error naming the part and
  /// the buffer if a state is missing or has another shape.
  bool load(const io::TensorMap& states, const io::TensorMap& generators);

 private:
  struct State {
    std::vector<at::Tensor> tensors;  // in the order of buffers_
    std::vector<bool> flags;          // in the order of flagged_; empty: not known
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
  std::vector<ops::HostFlag*> flagged_;  // the model's modules that have a flag
  // In a process with several parts: the states by own number. With "first": part 0's, and the state with which all
  // parts begin the step.
  std::vector<State> states_;
  std::vector<io::TensorMap> generators_;
};

/// Bytes of a model's buffers: of one state.
int64_t state_bytes(const torch::nn::Module& model);

/// Bytes of the copies of the model's buffers that parts with states of their own need in addition to the model.
struct PartStateBytes {
  /// In each process: a copy for each of its parts with "separate", two with "first", none if it has one part.
  int64_t in_memory = 0;
  /// A copy for each part but part 0 with "separate", else none.
  int64_t in_checkpoint = 0;
};
PartStateBytes part_state_bytes(const torch::nn::Module& model, const TrainOptions& options);

}  // namespace cachet::train
