#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/models/model.h"

namespace cachet::analysis {

enum class BenchmarkMode {
  inference,  // forward pass in evaluation, without gradients
  training,   // forward pass, loss, backward pass, one AdamW step
};

enum class BenchmarkPrecision {
  float32,
  bfloat16,  // inference: weights stored in bfloat16; training: float32 weights under autocast
  int8,      // inference of exported models whose sessions compute in int8
};

struct BenchmarkOptions {
  BenchmarkMode mode = BenchmarkMode::inference;
  BenchmarkPrecision precision = BenchmarkPrecision::float32;
  int64_t batch = 1;
  int threads = 0;     // 0 = unchanged
  double seconds = 2;  // duration of the measurement, after the warm-up
  int64_t least_repetitions = 5;
};

struct BenchmarkResult {
  Quartiles milliseconds;         // time of one step
  double samples_per_second = 0;  // samples per second at the median time of a step
  // Peak memory of a step's tensors, without the model: samples, data of the batches, outputs and stored tensors of
  // layers; in training, also gradients and the optimizer's state.
  int64_t activation_bytes = 0;
  int64_t weight_bytes = 0;  // bytes of parameters and buffers; 0 for a model that another engine runs
  int64_t repetitions = 0;
};

/// Calls `step` for about `seconds` seconds, but at least `least` times, and measures the time of each call. Before the
/// measurement, a warm-up makes at least two calls and takes at least a tenth of `seconds`. Returns the milliseconds of
/// each call, in order.
std::vector<double> time_calls(const std::function<void()>& step, double seconds, int64_t least);

/// Returns a function that runs one step on the model's device: a forward pass for inference, a step with AdamW for
/// training. Sets the model's mode; bfloat16 inference also converts the model. The model must outlive the returned
/// function.
std::function<void()> trial_step(models::Model& model, const BenchmarkOptions& options);

/// Measures a model on its device, on synthetic samples of its input size. Training changes the model's tensors;
/// bfloat16 inference converts them to bfloat16. Restores the thread count. Throws std::invalid_argument for an invalid
/// batch, time or thread count. is_out_of_memory() recognises LibTorch's exceptions for a lack of memory.
BenchmarkResult benchmark(models::Model& model, const BenchmarkOptions& options);

/// Whether the exception of the current catch block reports a lack of memory.
bool is_out_of_memory();

}  // namespace cachet::analysis
