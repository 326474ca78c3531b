#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cachet::tasks {

inline constexpr size_t kMaxSweepPoints = 1000;

/// One of the recipes that a sweep makes of its own: what is laid over it, as `--set` options.
struct SweepPoint {
  std::string name;  // "cached-ratio_0.25": that of a folder
  std::vector<std::string> settings;
};

/// What the table `sweep` of a recipe varies:
///   seeds = 3                          as --seeds takes them: a number, or a list
///   model.cache.ratio = [0.25, 0.5]    an axis: a key of the recipe and its values
///   variants.plain = {model.cache.kind = "none"}    values of several keys under one name
/// Every variant meets every combination of the axes.
struct Sweep {
  std::vector<SweepPoint> points;  // the last axis moves fastest; axes in the order of their keys
  std::string seeds = "1";         // as --seeds takes them
  std::optional<uint64_t> seed{};  // as --seed: the first of them, where it is not the recipe's
};

/// Reads it. Throws config::Error for a recipe without the table, an axis that is not a list or is empty, two
/// configurations of one name, more than kMaxSweepPoints. The keys are checked when a configuration is read.
Sweep read_sweep(const std::filesystem::path& recipe);

}  // namespace cachet::tasks
