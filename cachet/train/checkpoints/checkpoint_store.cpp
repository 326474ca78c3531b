#include "cachet/train/checkpoints/checkpoint_store.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/folder_path.h"
#include "cachet/io/files/read_file.h"
#include "cachet/report/shell_word.h"
#include "cachet/train/checkpoints/manifest.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

/// A folder's position in the order of saving: `step-00000120`, or `step-00000120-r1` where the step was reached again.
struct SaveOrder {
  int64_t step = 0;
  int64_t revision = 0;
  auto operator<=>(const SaveOrder&) const = default;
};

bool take_number(std::string_view& text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

std::optional<SaveOrder> save_order_of_name(const std::string& name) {
  std::string_view rest = name;
  if (!rest.starts_with("step-")) return std::nullopt;
  rest.remove_prefix(5);
  SaveOrder order;
  if (!take_number(rest, order.step)) return std::nullopt;
  if (rest.starts_with("-r")) {
    rest.remove_prefix(2);
    if (!take_number(rest, order.revision)) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  return order;
}

std::optional<SaveOrder> save_order(const fs::path& path) { return save_order_of_name(path.filename().string()); }

/// Whether a folder lies there itself, and not a link to one.
bool is_own_folder(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_directory(fs::symlink_status(path, unreadable));
}

/// Checkpoint folders by name, the newest first.
std::vector<fs::path> newest_first(const fs::path& folder) {
  std::vector<std::pair<SaveOrder, fs::path>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const auto order = save_order(entry.path());
    if (order && is_own_folder(entry.path())) found.emplace_back(*order, entry.path());
  }
  std::ranges::sort(found, std::greater<>());
  std::vector<fs::path> paths;
  for (auto& [order, path] : found) paths.push_back(std::move(path));
  return paths;
}

/// The name in a pointer; empty if there is none: the pointer is not written yet, or lost.
std::string pointed_name(const fs::path& folder, const char* pointer) {
  try {
    std::string name = io::read_text_file(folder / pointer, 256);
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return name;
  } catch (const io::Error&) {
    return {};
  }
}

/// The checkpoint that a pointer names. A name that is not that of a folder in `folder`, such as "../other/step-1",
/// does not count. If training moved the pointer and removed the checkpoint between two looks, looks again.
std::optional<fs::path> read_pointer(const fs::path& folder, const char* pointer) {
  std::string before, name = pointed_name(folder, pointer);
  while (name != before) {
    if (save_order_of_name(name) && is_own_folder(folder / name)) return folder / name;
    before = std::exchange(name, pointed_name(folder, pointer));
  }
  return std::nullopt;
}

/// Whether an evaluation at this step found the best checkpoint so far.
bool is_best(const EvaluationMark& mark, int64_t step) { return mark.evaluated && mark.best && mark.best_step == step; }

/// Whether a checkpoint was saved for its evaluation alone; not one whose state cannot be read.
bool is_for_evaluation(const fs::path& checkpoint) {
  try {
    return read_checkpoint_state(checkpoint).for_evaluation;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path folder, std::string run_id, int64_t keep, io::FileSystem& file_system)
    : folder_(std::move(folder)), run_id_(std::move(run_id)), keep_(keep), file_system_(file_system) {}

std::optional<CheckpointStore::Found> CheckpointStore::resume() {
  if (!fs::is_directory(folder_))
    throw std::runtime_error(folder_.string() +
                             ": there is no such folder, but a run cannot be resumed without its checkpoints; restore "
                             "the folder, or start a new run");
  remove_remains(folder_, file_system_);
  for (const fs::path& path : newest_first(folder_)) {
    try {
      Found found{read_checkpoint(path), path, {}};
      repair_pointers(found);
      found.not_removed = prune();
      return found;
    } catch (const DamagedCheckpoint& error) {
      refused_.emplace_back(error.what());
      damaged_.push_back(path);
    }
  }
  if (refused_.empty()) return std::nullopt;
  std::string message = folder_.string() + ": all checkpoints are damaged or incomplete";
  for (const std::string& reason : refused_) message += "\n  " + reason;
  throw DamagedCheckpoint(message);
}

CheckpointStore::Saved CheckpointStore::save(const Checkpoint& checkpoint) {
  const uint64_t bytes = checkpoint_bytes(checkpoint);
  const fs::path folder = free_name(checkpoint.state.step);
  try {
    require_space(bytes);
    write_checkpoint(folder, checkpoint, run_id_, file_system_);
    if (is_best(evaluation_mark_of(checkpoint.state), checkpoint.state.step)) point("best", folder);
    point("last", folder);
  } catch (const io::Error& error) {
    throw io::Error("the checkpoint " + folder.string() + " of about " + std::to_string(bytes) +
                    " bytes could not be saved; earlier checkpoints are not changed\n  " + error.what());
  }
  return {folder, prune()};
}

CheckpointStore::Saved CheckpointStore::mark(const fs::path& checkpoint, const EvaluationMark& mark) {
  try {
    write_evaluation_mark(checkpoint, mark, file_system_);
    if (!is_best(mark, step_of_checkpoint(checkpoint))) return {checkpoint, {}};
    point("best", checkpoint);
  } catch (const io::Error& error) {
    throw io::Error("the result of the evaluation of the checkpoint " + checkpoint.string() +
                    " could not be saved; the checkpoint itself is not changed\n  " + error.what());
  }
  return {checkpoint, prune()};
}

void CheckpointStore::require_space(uint64_t bytes) const { io::require_free_space(folder_, bytes, file_system_); }

std::optional<fs::path> CheckpointStore::pointed(const char* pointer) const { return read_pointer(folder_, pointer); }

void CheckpointStore::point(const char* pointer, const fs::path& folder) {
  io::write_file_atomically(folder_ / pointer, folder.filename().string() + "\n", file_system_);
}

void CheckpointStore::repair_pointers(const Found& found) {
  // A process killed between the folder and its pointers leaves them at older checkpoints; a damaged checkpoint may
  // still be pointed to.
  if (last() != found.folder) point("last", found.folder);
  const TrainState& state = found.checkpoint.state;
  if (!state.best) return;
  const std::optional<fs::path> now = best();
  if (now && save_order(*now)->step == state.best_step && std::ranges::find(damaged_, *now) == damaged_.end()) return;
  for (const fs::path& path : newest_first(folder_)) {
    const bool whole = std::ranges::find(damaged_, path) == damaged_.end();
    if (whole && save_order(path)->step == state.best_step) return point("best", path);
  }
}

std::vector<std::string> CheckpointStore::prune() {
  std::vector<std::string> not_removed;
  const std::optional<fs::path> saved_last = last(), saved_best = best();
  int64_t newer = 0;
  for (const fs::path& path : newest_first(folder_)) {
    if (std::ranges::find(damaged_, path) != damaged_.end()) continue;
    Manifest manifest;
    try {
      manifest = read_manifest(path);
    } catch (const std::runtime_error&) {
      continue;  // not known to be ours, and no checkpoint to count on
    }
    if (manifest.run != run_id_) continue;
    const bool counts = !is_for_evaluation(path);
    if ((counts && newer++ < keep_) || path == saved_last || path == saved_best) continue;
    try {
      if (const auto lock = io::FolderLock::take_if_free(path)) remove_checkpoint(path, file_system_);
    } catch (const io::Error& error) {
      not_removed.emplace_back(error.what());
    }
  }
  return not_removed;
}

fs::path CheckpointStore::free_name(int64_t step) const {
  const std::string name = checkpoint_name(step);
  fs::path path = folder_ / name;
  for (int64_t revision = 1; fs::exists(fs::symlink_status(path)); ++revision)
    path = folder_ / (name + "-r" + std::to_string(revision));
  return path;
}

std::vector<fs::path> newest_checkpoints(const fs::path& folder) {
  std::vector<fs::path> paths = newest_first(folder);
  const auto same_step = [](const fs::path& a, const fs::path& b) {
    return save_order(a)->step == save_order(b)->step;
  };
  const auto repeated = std::ranges::unique(paths, same_step);
  paths.erase(repeated.begin(), repeated.end());
  return paths;
}

std::string checkpoint_name(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return name;
}

int64_t step_of_checkpoint(const fs::path& folder) {
  const auto order = save_order(folder);
  if (!order)
    throw std::invalid_argument(folder.string() + " does not have the name of a checkpoint, such as step-00000120");
  return order->step;
}

namespace {

/// How often readers look again. Each time, training has saved once more between two system calls.
constexpr int kMaxLooks = 100;

/// Holds the checkpoint unless it was removed before.
std::optional<HeldCheckpoint> held_if_there(const fs::path& folder) {
  auto lock = io::FolderLock::take_shared(folder);
  std::error_code unreadable;
  if (!lock || !fs::exists(folder / kManifestName, unreadable)) return std::nullopt;
  return HeldCheckpoint{folder, std::move(lock)};
}

}  // namespace

HeldCheckpoint hold_checkpoint(const fs::path& run_or_checkpoint) {
  for (int looks = 1; looks < kMaxLooks; ++looks)
    if (auto held = held_if_there(find_checkpoint(run_or_checkpoint))) return std::move(*held);
  return {find_checkpoint(run_or_checkpoint), std::nullopt};  // its reader reports what is wrong
}

std::vector<HeldCheckpoint> hold_newest_checkpoints(const fs::path& folder, size_t most, CheckpointChoice choice) {
  std::vector<HeldCheckpoint> held;
  for (int looks = 0; looks < kMaxLooks; ++looks) {
    std::vector<fs::path> paths = newest_checkpoints(folder);
    if (choice == CheckpointChoice::regular) {
      const auto last = read_pointer(folder, "last");
      std::erase_if(paths, [&](const fs::path& path) { return path != last && is_for_evaluation(path); });
    }
    const size_t wanted = std::min(most, paths.size());
    held.clear();
    for (size_t i = 0; i < wanted; ++i)
      if (auto one = held_if_there(paths[i])) held.push_back(std::move(*one));
    if (held.size() == wanted) break;
  }
  return held;
}

fs::path find_checkpoint(const fs::path& given) {
  const fs::path run_or_checkpoint = io::without_last_separator(given);
  if (!fs::exists(run_or_checkpoint))
    throw std::runtime_error(run_or_checkpoint.string() + ": there is no such file or folder");
  if (fs::exists(run_or_checkpoint / kManifestName)) return run_or_checkpoint;
  if (SeedFolder::is_at(run_or_checkpoint)) {
    const auto seeds = SeedFolder::open(run_or_checkpoint);
    throw std::runtime_error(run_or_checkpoint.string() +
                             ": contains a run for each of several seeds; name one of these runs, such as " +
                             report::shell_word(seeds.run(seeds.seeds().front()).string()));
  }
  fs::path folder = run_or_checkpoint / "checkpoints";
  if (!fs::is_directory(folder)) folder = run_or_checkpoint;
  for (const char* pointer : {"best", "last"}) {
    if (auto path = read_pointer(folder, pointer)) return *path;
    if (fs::exists(folder / pointer))
      throw std::runtime_error(
          (folder / pointer).string() +
          ": must name a checkpoint in this folder; name a checkpoint yourself, or remove this file");
  }
  const std::vector<fs::path> all = newest_first(folder);
  if (all.empty()) {
    throw std::runtime_error(run_or_checkpoint.string() + ": no checkpoint (no " + kManifestName +
                             " here, no step-… in " + folder.string() + ")");
  }
  return all.front();
}

}  // namespace cachet::train
