#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/runs/run_folder.h"

namespace cachet::train {

/// The largest value of train.seed.
inline constexpr uint64_t kGreatestSeed = std::numeric_limits<int64_t>::max();

/// The folder of one recipe's runs with several seeds: files like those of a run, seeds.json, and a complete run folder
/// for each seed, `seed-3`. Several processes may use it, each training other seeds. A process that changes the common
/// files holds lock() meanwhile.
class SeedFolder {
 public:
  /// Creates the folder; the folder of a seed is created when its run begins. `document` has the first seed as
  /// train.seed. Throws as RunFolder::create does.
  static SeedFolder create(const std::filesystem::path& path, const WrittenRecipe& recipe,
                           const config::Document& document, const std::vector<std::string>& command,
                           const std::vector<uint64_t>& seeds, LatestLink latest = LatestLink::pointed);

  /// Resumes the folder by the rules of RunFolder::resume. Adds those of `seeds` that it lacks.
  static SeedFolder resume(const std::filesystem::path& path, const config::Document& document,
                           const std::vector<std::string>& command, const std::vector<uint64_t>& seeds = {});

  /// Opens the folder for reading. Throws std::runtime_error if it is damaged.
  static SeedFolder open(const std::filesystem::path& path);

  /// Returns the run folder of a seed in a folder, which need not exist.
  static std::filesystem::path run_of(const std::filesystem::path& folder, uint64_t seed) {
    return folder / ("seed-" + std::to_string(seed));
  }

  /// Whether a folder is a folder of seeds, and not that of a single run.
  static bool is_at(const std::filesystem::path& path);

  /// Locks the folder except the runs in it. Waits for the lock.
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

/// Parses the argument of `--seeds`: "5" is five seeds from `first` on, "0,1,7" is these three. Empty for other texts,
/// for no seeds, for repeated seeds, and for more than 1,000.
std::optional<std::vector<uint64_t>> seeds_from_text(const std::string& text, uint64_t first);

}  // namespace cachet::train
