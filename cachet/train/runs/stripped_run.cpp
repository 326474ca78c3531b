#include "cachet/train/runs/stripped_run.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/io/files/read_file.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_mean.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/checkpoints/manifest.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kPointers{"best", "last"};
constexpr uint64_t kMaxKeptBytes = uint64_t{1} << 30;

/// Files about the training of a run, which do not affect its predictions.
bool tells_of_training(const std::string& name) {
  constexpr std::array<std::string_view, 8> kLogs{"metrics.jsonl",    "summary.csv", "report.html",
                                                  "log.txt",          "status.json", "evaluation.json",
                                                  "evaluation.jsonl", "profile.json"};
  return name.starts_with("events.out.tfevents.") || std::ranges::find(kLogs, name) != kLogs.end();
}

/// Whether the run wrote it: a link leads to a file of another owner.
bool is_own_file(const fs::directory_entry& entry) { return !entry.is_symlink() && run_of_file(entry.path()); }

}  // namespace

void write_stripped_run(const fs::path& run, const fs::path& checkpoint, const fs::path& into, bool replace) {
  const io::TensorMap weights = read_weights(checkpoint);
  const TrainState state = read_checkpoint_state(checkpoint);
  io::NewFolder fresh(into, replace ? io::NewFolder::Taken::replaced : io::NewFolder::Taken::refused);
  for (const fs::directory_entry& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || tells_of_training(name) || !is_own_file(entry)) continue;
    io::write_new_file(fresh.path() / name, io::read_text_file(entry.path(), kMaxKeptBytes));
  }
  const fs::path checkpoints = fresh.path() / "checkpoints";
  fs::create_directory(checkpoints);
  const std::string name = checkpoint_name(state.step);  // also of a mean, which has a name of its own
  write_weights_checkpoint(checkpoints / name, weights, state, read_manifest(checkpoint).run);
  for (const std::string_view pointer : kPointers) io::write_new_file(checkpoints / pointer, name + "\n");
  io::sync_directory(checkpoints);
  fresh.finish();
}

bool is_stripped_run(const fs::path& folder) {
  if (!is_run_folder(folder) || SeedFolder::is_at(folder)) return false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (!is_own_file(entry) || tells_of_training(entry.path().filename().string())) return false;
  std::optional<fs::path> only;
  std::error_code absent;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "checkpoints", absent)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(kPointers, name) != kPointers.end()) continue;
    if (only) return false;
    only = entry.path();
  }
  try {
    return only && holds_weights_alone(*only);
  } catch (const DamagedCheckpoint&) {
    return false;
  }
}

}  // namespace cachet::train
