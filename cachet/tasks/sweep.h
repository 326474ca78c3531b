#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/problem.h"

namespace cachet::tasks {

inline constexpr size_t kMaxSweepPoints = 1000;

/// A configuration of a sweep. The settings of the configuration replace values of the recipe, like `--set` options.
struct SweepPoint {
  std::string name;  // name of the configuration's folder: "cached-ratio_0.25"
  std::vector<std::string> settings;
  std::vector<config::Origin> origins{};  // where the recipe has each of the settings
};

/// The values that the table `sweep` of a recipe varies. `seeds = 3` is the argument of --seeds, a
/// number of seeds or a list of seeds. `model.cache.ratio = [0.25, 0.5]` is an axis: a key of the
/// recipe and the key's values. `variants.plain = {model.cache.kind = "none"}` is a variant: values of
/// several keys under one name. The sweep has every variant with every combination of the axes'
/// values.
struct Sweep {
  std::vector<SweepPoint> points;  // the last axis varies fastest; axes in the order of their keys
  std::string seeds = "1";         // argument of --seeds
  std::optional<uint64_t> seed{};  // argument of --seed: the first seed, if it differs from the recipe's
};

/// Returns a copy of `error` in which problems about values of `point` name the lines of these values in the table
/// `sweep`. Problems about the user's `--set` options (`given`) do not change.
config::Error with_origins_in_sweep(const config::Error& error, const SweepPoint& point,
                                    const std::vector<std::string>& given);

/// Reads the table `sweep`. Throws config::Error if the table is missing, an axis is empty or not a list, two
/// configurations have one name, or there are more than kMaxSweepPoints. Keys are checked when a configuration is read.
Sweep read_sweep(const std::filesystem::path& recipe);

}  // namespace cachet::tasks
