#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/models/model.h"

namespace cachet::analysis {

enum class BenchmarkMode {
  inference,  // forward, evaluation, no gradients
  training,   // forward, loss, backward, one AdamW step
};

enum class BenchmarkPrecision {
  float32,
  bfloat16,  // inference: weights stored in bfloat16; training: float32 weights under autocast
  int8,      // inference of exported models, whose sessions multiply so
};

struct BenchmarkOptions {
  BenchmarkMode mode = BenchmarkMode::inference;
  BenchmarkPrecision precision = BenchmarkPrecision::float32;
  int64_t batch = 1;
  int threads = 0;     // 0 = as they are
  double seconds = 2;  // of measurement, after the warm-up
  int64_t least_repetitions = 5;
};

struct BenchmarkResult {
  Quartiles milliseconds;         // of one step
  double samples_per_second = 0;  // at the median
  // The most that tensors of a step take at a time, above the model: its samples, what the batches carry, what layers
  // give and keep; in training gradients and the optimizer's state, too.
  int64_t activation_bytes = 0;
  int64_t weight_bytes = 0;  // of parameters and buffers; 0 of a model that another engine runs
  int64_t repetitions = 0;
};

/// Times `step` for about `seconds` of measurement, `least` times at least, after a warm-up of two calls and a tenth of
/// that time. Milliseconds a call, in their order.
std::vector<double> time_calls(const std::function<void()>& step, double seconds, int64_t least);

/// One step of a trial of the model, in its mode and on its device: in inference a forward pass, in training a step
/// with AdamW. bfloat16 inference converts the model. The model has to outlive the step.
std::function<void()> trial_step(models::Model& model, const BenchmarkOptions& options);

/// Measures a model on synthetic samples of its own size, on its own device. Training changes its weights and state;
/// bfloat16 inference converts it. Gives the thread count back. Throws std::invalid_argument for a batch, time or
/// thread count that makes no sense; what LibTorch throws when memory is short is recognised by is_out_of_memory().
BenchmarkResult benchmark(models::Model& model, const BenchmarkOptions& options);

/// Inside a catch block: whether the exception reports that memory was short.
bool is_out_of_memory();

}  // namespace cachet::analysis
