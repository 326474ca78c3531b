#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cachet::app {

/// Returns what `cachet env` reports about GPUs: `driver_cuda` is the newest version of CUDA that the driver supports,
/// `devices` are the driver's GPUs, `architectures` are those for which LibTorch was compiled, `cuda_graphs` is whether
/// this program can replay CUDA graphs, and `problem` is the reason why LibTorch cannot use a GPU. Unknown values are
/// null.
nlohmann::ordered_json gpu_report();

/// Returns the lines of the report for people.
std::vector<std::string> gpu_lines(const nlohmann::ordered_json& report);

}  // namespace cachet::app
