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

/// Sets threads, determinism and the seeds of torch's generators for a run. prepare_process() must be called before the
/// model is built, because the seed determines the random initialization of the weights.
void prepare_process(const TrainOptions& options);

/// Seeds torch's generators for process (or part) `number` >= 1 of a run. Different values of `number` give different
/// seeds. For process 0, no call of seed_draws() is necessary: its generators continue from the seed that
/// prepare_process() set.
void seed_draws(uint64_t seed, int64_t number);

/// Sets the number of LibTorch's threads. If the system starts fewer than `threads` threads, throws std::runtime_error,
/// because OpenMP would otherwise end the process.
void use_threads(int64_t threads);

/// Sets the precision of forward passes on the device during the object's lifetime. Gradients and weights stay float32.
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

/// Returns the states of torch's generators by name: "cpu", and "device" if the model is on another device. In a
/// process with a rank above 0, the name ends with the rank: "device.1".
io::TensorMap random_state(const torch::nn::Module& model, int64_t rank = 0);

/// Restores states from random_state(). The name "cuda:0", which older versions used for the state of a CUDA device's
/// generator, is also accepted. Returns whether the random draws continue as without an interruption: false if the
/// model is now on another kind of device. Throws std::runtime_error if the state of the CPU's generator is missing.
bool set_random_state(const torch::nn::Module& model, const io::TensorMap& state, int64_t rank = 0);

/// Restores the states of a model's generators when the scope ends.
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
