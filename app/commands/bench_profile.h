#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/arguments/model_argument.h"
#include "cachet/analysis/cost/benchmark.h"

namespace cachet::app {

/// The arguments of `cachet bench --profile`. The model's name may be a recipe or the folder of a run.
struct ProfiledBench {
  ModelArgument model;
  std::string device = "auto";
  bool trains = true;                                       // or computes a forward pass
  std::optional<analysis::BenchmarkPrecision> precision{};  // none: that of the recipe, or float32
  std::optional<int64_t> batch{};                           // none: that of the recipe, or 1
  int threads = 0;                                          // 0: the threads of the recipe, or all
  int64_t steps = 5;
  std::optional<std::filesystem::path> trace{};
};

struct ProfileForm {
  bool json = false, wide = false;
};

/// Profiles the steps, and prints the profile. Returns the exit code. Throws UsageError.
int run_profile(const ProfiledBench& bench, const ProfileForm& form);

}  // namespace cachet::app
