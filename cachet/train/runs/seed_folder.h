#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/runs/run_folder.h"

namespace cachet::train {

/// As train.seed takes it.
inline constexpr uint64_t kGreatestSeed = std::numeric_limits<int64_t>::max();

/// The folder of one recipe's runs with several seeds: files like those of a run, seeds.json, and below it a whole run
/// folder for each seed, `seed-3`. Several processes may have it, each of which trains other seeds: who changes what
/// they share has lock() meanwhile.
class SeedFolder {
 public:
  /// Makes the folder; that of a seed is made when its run begins. `document` has the first seed as its train.seed.
  /// Throws as RunFolder::create does.
  static SeedFolder create(const std::filesystem::path& path, const WrittenRecipe& recipe,
                           const config::Document& document, const std::vector<std::string>& command,
                           const std::vector<uint64_t>& seeds, LatestLink latest = LatestLink::pointed);

  /// Resumes it, under the rules of RunFolder::resume; those of `seeds` that it does not have are added.
  static SeedFolder resume(const std::filesystem::path& path, const config::Document& document,
                           const std::vector<std::string>& command, const std::vector<uint64_t>& seeds = {});

  /// Opens it to read. Throws std::runtime_error for a damaged one.
  static SeedFolder open(const std::filesystem::path& path);

  /// The run folder of a seed in a folder that need not be there yet.
  static std::filesystem::path run_of(const std::filesystem::path& folder, uint64_t seed) {
    return folder / ("seed-" + std::to_string(seed));
  }

  /// Whether a folder is one, and no single run's.
  static bool is_at(const std::filesystem::path& path);

  /// The folder, but for the runs in it. Waits for it.
  io::FolderLock lock() const { return io::FolderLock::wait_for(shared_.path()); }
  const RunFolder& shared() const { return shared_; }            // recipe, command line, environment
  const std::vector<uint64_t>& seeds() const { return seeds_; }  // never empty
  std::filesystem::path run(uint64_t seed) const { return run_of(shared_.path(), seed); }
  WrittenRecipe written_recipe() const;
  bool has_begun(uint64_t seed) const { return std::filesystem::exists(run(seed)); }

 private:
  SeedFolder(RunFolder shared, std::vector<uint64_t> seeds) : shared_(std::move(shared)), seeds_(std::move(seeds)) {}

  RunFolder shared_;
  std::vector<uint64_t> seeds_;
};

/// What `--seeds` takes: "5" is that many seeds from `first` on, "0,1,7" is these. Nothing for other texts, for none,
/// for a seed that comes twice, and for more than 1,000.
std::optional<std::vector<uint64_t>> seeds_from_text(const std::string& text, uint64_t first);

}  // namespace cachet::train
