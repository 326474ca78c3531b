#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/arguments/model_argument.h"
#include "cachet/analysis/cost/benchmark.h"

namespace cachet::app {

/// One row of `cachet bench`: what is measured, and how. The model's name may be the folder of an export.
struct BenchCase {
  ModelArgument model;
  analysis::BenchmarkOptions options;
  std::string device = "auto";
  std::string problem{};  // why it cannot be measured, of a model that does not take the settings
};

std::string_view to_string(analysis::BenchmarkMode mode);            // "infer", "train"
std::string_view to_string(analysis::BenchmarkPrecision precision);  // "fp32", "bf16", "int8"

/// Why the model of a folder is measured with weights that are drawn at random; nothing if its own weights are read,
/// and of a name or a recipe, which have none.
std::optional<std::string> why_random_weights(const ModelArgument& model);

/// A row's fields: model, mode, precision, batch, threads and device, then median_ms, quartiles_ms, samples_per_second,
/// activation_bytes, weight_bytes and their sum memory_bytes (null where another engine than LibTorch takes the
/// memory), and weights ("stored" or "random"), or error. The batch is the one that was measured.
using BenchRow = nlohmann::ordered_json;
BenchRow bench_row(const BenchCase& bench, const analysis::BenchmarkResult& result);
BenchRow error_row(const BenchCase& bench, const std::string& error);

/// Measures in this process. Where memory is short the batch is halved, down to 1; what fails then is an error row.
BenchRow measure_here(BenchCase bench);

/// The same in a process of its own, which the kernel may kill for its memory.
BenchRow measure_apart(BenchCase bench);

}  // namespace cachet::app
