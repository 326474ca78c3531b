#pragma once

#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include "cachet/io/tensor_map.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// Sets threads, determinism and torch's seed for a run: to be called before the model is made, as its weights are
/// drawn from that seed.
void prepare_process(const TrainOptions& options);

/// The device of a model's parameters.
c10::Device device_of(const torch::nn::Module& model);

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

/// The states of torch's generators, of the CPU and of the model's device: "cpu", "cuda:0".
io::TensorMap random_state(const torch::nn::Module& model);
/// Throws std::runtime_error when one is missing.
void set_random_state(const torch::nn::Module& model, const io::TensorMap& state);

/// Bytes that this process has in memory now (its resident set).
int64_t resident_bytes();

}  // namespace cachet::train
