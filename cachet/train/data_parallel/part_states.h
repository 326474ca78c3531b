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

/// The state of each part of a training step, if train.state is "separate" or "first": the model's buffers (not its
/// parameters) and the states of torch's generators. Part r (one micro-batch of a process) uses the same random numbers
/// as process r of a run with one part for each process.
///
/// The states of the parts of a step are stored outside the model. Copying a state into the model's buffers and back
/// does not change the addresses of the buffers. A process computes one or several parts of a step. Between two steps,
/// the model's buffers and the generators have the state of the first of these parts, which is part 0 in process 0.
/// With train.state = "first", the model (but not the generators) has the state of part 0 in every process.
class PartStates {
 public:
  /// At first, each part has a copy of the model's buffers as its state. Uses no random numbers. The model must outlive
  /// the PartStates object and keep its device.
  PartStates(torch::nn::Module& model, const TrainOptions& options);

  int64_t own() const { return shard_.parts; }        // number of parts of this process
  int64_t all() const { return shard_.all_parts(); }  // N, the number of all parts
  /// Returns the index of part `i` of this process among the parts of all processes, counted from 0.
  int64_t number(int64_t i) const { return shard_.number_of(i); }

  /// Sets the model's buffers and the generators to the state of this process's part `i`, until end(i). In each step,
  /// begin() is called for the parts in ascending order of `i`; a step may stop before its last part.
  void begin(int64_t i);
  void end(int64_t i);
  /// Ends a step, after end() was called for the last part. With train.state = "first", all processes must call this
  /// function, and each process gets the state of part 0. If this process trains alone, `processes` is null.
  void end_step(processes::ProcessGroup* processes);

  /// states() returns the buffers of this process's parts for a checkpoint, under names like "part.3/<buffer>".
  /// states() leaves out part 0, whose buffers a checkpoint stores with the model. With train.state = "first", states()
  /// returns nothing. generators() returns the states of the parts' generators, under the names of random_state().
  io::TensorMap states() const;
  io::TensorMap generators() const;
  /// Restores the tensors that states() and generators() returned. load() may be called only between two training
  /// steps. load() does not restore the buffers of part 0, so a process that has part 0 must load them into the model
  /// first. Returns whether random draws continue as if uninterrupted (see set_random_state). If a buffer of a part is
  /// missing or has another shape, throws std::runtime_error, which names the part and the buffer.
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
  // Stored states of the model if this process computes several parts of a step; otherwise empty. With train.state =
  // "separate", states_ has the state of each part of the process. With train.state = "first", states_ has the state of
  // the process's first part, and the state that all parts have in common at the beginning of a step.
  std::vector<State> states_;
  std::vector<io::TensorMap> generators_;
};

/// Returns the size in bytes of one state. A state consists of all buffers of a model.
int64_t state_bytes(const torch::nn::Module& model);

/// Bytes of the additional copies of the model's buffers, if the parts of a step have their own states (train.state).
struct PartStateBytes {
  /// With train.state = "separate", a process has an extra copy of the buffers for each part that it computes. With
  /// train.state = "first", a process has two extra copies of the buffers. A process with one part makes no copies.
  int64_t in_memory = 0;
  /// With train.state = "separate", a checkpoint has an extra copy of the buffers for each part except part 0. With
  /// train.state = "first", a checkpoint has no extra copies of the buffers.
  int64_t in_checkpoint = 0;
};
PartStateBytes part_state_bytes(const torch::nn::Module& model, const TrainOptions& options);

}  // namespace cachet::train
