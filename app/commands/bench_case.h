#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/arguments/model_argument.h"
#include "cachet/analysis/cost/benchmark.h"

namespace cachet::app {

/// One row of `cachet bench`: the model and the way of measuring. The model's name may be the folder of an export.
struct BenchCase {
  ModelArgument model;
  analysis::BenchmarkOptions options;
  std::string device = "auto";
  std::string problem{};  // the reason why it cannot be measured, if the model rejects the settings
};

std::string_view to_string(analysis::BenchmarkMode mode);            // "infer", "train"
std::string_view to_string(analysis::BenchmarkPrecision precision);  // "fp32", "bf16", "int8"

/// Returns the reason why the model of a folder is measured with random weights. Empty if its own weights are read, and
/// for a name or a recipe, which has no weights.
std::optional<std::string> why_random_weights(const ModelArgument& model);

/// Builds the model of a row on its device, with its own weights if they are known.
std::shared_ptr<models::Model> build_model(const BenchCase& bench);

/// A row's fields: model, mode, precision, batch, threads and device, then median_ms, quartiles_ms, samples_per_second,
/// activation_bytes, weight_bytes and their sum memory_bytes (null if an engine other than LibTorch allocates the
/// memory), and weights ("stored" or "random"), or error. `batch` is the measured batch size.
using BenchRow = nlohmann::ordered_json;
BenchRow bench_row(const BenchCase& bench, const analysis::BenchmarkResult& result);
BenchRow error_row(const BenchCase& bench, const std::string& error);

/// Measures in this process. If memory is short, halves the batch, down to 1. Any other failure gives an error row.
BenchRow measure_here(BenchCase bench);

/// Measures in a separate process, which the kernel may end if memory is short.
BenchRow measure_apart(BenchCase bench);

}  // namespace cachet::app
