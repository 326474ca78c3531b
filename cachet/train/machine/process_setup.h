#pragma once

#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// Sets threads, determinism and the seeds of torch's generators for a run: to be called before the model is made, as
/// its weights are drawn from that seed.
void prepare_process(const TrainOptions& options);

/// Seeds torch's generators with numbers of their own for process (or part) `number` of a run, from 1 on: process 0
/// continues from the seed of prepare_process().
void seed_draws(uint64_t seed, int64_t number);

/// Sets LibTorch's threads to as many. Throws std::runtime_error if the system starts fewer: OpenMP would end the
/// process.
void use_threads(int64_t threads);

/// While it lives, forward passes on the device run in this precision. Gradients and weights stay float32.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, c10::DeviceType device);
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;
  ~PrecisionScope();

 private:
  c10::DeviceType device_;
  bool active_;
  bool enabled_before_ = false;
  c10::ScalarType type_before_ = c10::ScalarType::Undefined;
};

/// The states of torch's generators by their roles: "cpu", and "device" if the model is on another device. In all
/// processes of a run but the first, the rank follows the name: "device.1".
io::TensorMap random_state(const torch::nn::Module& model, int64_t rank = 0);

/// Restores them; the state of a CUDA device was once named "cuda:0". Returns whether random draws continue as if
/// uninterrupted. They do not if the model is on another kind of device than before. Throws std::runtime_error when
/// that of the CPU is missing.
bool set_random_state(const torch::nn::Module& model, const io::TensorMap& state, int64_t rank = 0);

/// Puts the generators of a model back to where they stood, at the end of its scope.
class RandomStateKept {
 public:
  explicit RandomStateKept(const torch::nn::Module& model) : model_(model), state_(random_state(model)) {}
  RandomStateKept(const RandomStateKept&) = delete;
  RandomStateKept& operator=(const RandomStateKept&) = delete;
  ~RandomStateKept() { set_random_state(model_, state_); }

 private:
  const torch::nn::Module& model_;
  io::TensorMap state_;
};

}  // namespace cachet::train
