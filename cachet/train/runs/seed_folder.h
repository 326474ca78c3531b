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

/// The folder of one recipe's runs with several seeds. The folder has the files of a run, seeds.json, and for each seed
/// a complete run folder such as `seed-3`. Several processes may use the folder at once if each works on different
/// seeds. A process holds lock() while it changes files of the folder that do not belong to a single seed.
class SeedFolder {
 public:
  /// Creates the folder. The folder of a seed is created when its run begins. The value of train.seed in `document` is
  /// the first seed. Throws the errors of RunFolder::create.
  static SeedFolder create(const std::filesystem::path& path, const WrittenRecipe& recipe,
                           const config::Document& document, const std::vector<std::string>& command,
                           const std::vector<uint64_t>& seeds, LatestLink latest = LatestLink::pointed);

  /// Resumes the folder by the rules of RunFolder::resume. If `seeds` has seeds that are not in the folder, adds them.
  static SeedFolder resume(const std::filesystem::path& path, const config::Document& document,
                           const std::vector<std::string>& command, const std::vector<uint64_t>& seeds = {});

  /// Opens the folder for reading. Throws std::runtime_error if the folder is damaged.
  static SeedFolder open(const std::filesystem::path& path);

  /// Returns the path of a seed's run folder in a folder of seeds. The run folder need not exist.
  static std::filesystem::path run_of(const std::filesystem::path& folder, uint64_t seed) {
    return folder / ("seed-" + std::to_string(seed));
  }

  /// Whether a folder is a folder of seeds rather than the folder of a single run.
  static bool is_at(const std::filesystem::path& path);

  /// Locks the folder of seeds, but not the folders of the runs in it. Waits until the lock is free.
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

/// Parses the argument of `--seeds`: "5" means five seeds from `first` on, and "0,1,7" these three seeds. Returns
/// std::nullopt if the text has another form, no seeds, a repeated seed, or more than 1,000 seeds.
std::optional<std::vector<uint64_t>> seeds_from_text(const std::string& text, uint64_t first);

}  // namespace cachet::train
