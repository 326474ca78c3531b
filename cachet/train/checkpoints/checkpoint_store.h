#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/io/files/folder_lock.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/evaluation_mark.h"

namespace cachet::train {

/// The checkpoints of a run: folders `step-<number>`, written once, to which only an evaluation mark is added, and two
/// small files, `last` and `best`, that hold the name of one of them. The pointers are plain files because those can be
/// replaced atomically on every file system and copied with every tool. To resume they are not needed: the newest whole
/// folder counts.
/// Nothing outside the folder is ever a checkpoint of the run: a pointer that names a path, and a `step-…` that is a
/// symbolic link, do not count. The folder itself may be a link.
class CheckpointStore {
 public:
  /// `keep` >= 1: how many of the newest checkpoints outlive a save, in addition to the best one and the last one. A
  /// checkpoint that was saved for its evaluation alone does not count and outlives no save, unless it is the best one.
  CheckpointStore(std::filesystem::path folder, std::string run_id, int64_t keep,
                  io::FileSystem& file_system = io::FileSystem::real());

  struct Found {
    Checkpoint checkpoint;
    std::filesystem::path folder;
    std::vector<std::string> not_removed;  // why older checkpoints are still there that should not
  };
  /// The newest checkpoint that is whole; damaged ones are passed over and named in refused(). Sets the pointers right
  /// for what was found and removes what a killed process left half done or had not removed yet. Throws
  /// DamagedCheckpoint, naming all, when there are checkpoints but none is whole, and io::NewerSchema.
  std::optional<Found> resume();
  const std::vector<std::string>& refused() const { return refused_; }

  struct Saved {
    std::filesystem::path folder;
    std::vector<std::string> not_removed;  // as above
  };
  /// Writes a checkpoint, then moves `last`, and `best` where it is, to it, then removes older ones. Nothing is removed
  /// before the new one is on the disk. Throws io::Error where it is not. A checkpoint that another process reads
  /// (HeldCheckpoint) is removed by a later save.
  Saved save(const Checkpoint& checkpoint);
  /// Adds to a checkpoint what its evaluation found; if it is the best one now, moves `best` to it and then removes
  /// older ones. Until then the earlier best one stays. Throws io::Error; the checkpoint is then as it was.
  Saved mark(const std::filesystem::path& checkpoint, const EvaluationMark& mark);

  /// Throws io::Error unless a checkpoint of so many bytes fits on the disk.
  void require_space(uint64_t bytes) const;

  /// The folder that a pointer names, if it is there.
  std::optional<std::filesystem::path> last() const { return pointed("last"); }
  std::optional<std::filesystem::path> best() const { return pointed("best"); }

 private:
  std::optional<std::filesystem::path> pointed(const char* pointer) const;
  void point(const char* pointer, const std::filesystem::path& folder);
  void repair_pointers(const Found& found);
  std::vector<std::string> prune();
  std::filesystem::path free_name(int64_t step) const;

  std::filesystem::path folder_;
  std::string run_id_;
  int64_t keep_;
  io::FileSystem& file_system_;
  std::vector<std::string> refused_;
  std::vector<std::filesystem::path> damaged_;
};

/// A checkpoint that no training process removes while this object, or a copy of it, exists.
struct HeldCheckpoint {
  std::filesystem::path folder;
  std::optional<io::FolderLock> lock;
};

/// Finds a checkpoint as find_checkpoint() does, and holds it. Training may remove the checkpoint that a pointer names
/// before it is held; the pointer is then read again. Throws as find_checkpoint() does.
HeldCheckpoint hold_checkpoint(const std::filesystem::path& run_or_checkpoint);

/// The checkpoints in such a folder by their names, the newest first; of those that reached one step, the last alone.
std::vector<std::filesystem::path> newest_checkpoints(const std::filesystem::path& folder);

/// A choice of checkpoints.
enum class CheckpointChoice {
  all,
  /// Without those that were saved for their evaluation alone, which do not count under train.keep; but with the last
  /// one.
  regular,
};

/// Holds the first `most` of newest_checkpoints() that are meant, or all of these if there are fewer.
std::vector<HeldCheckpoint> hold_newest_checkpoints(const std::filesystem::path& folder, size_t most,
                                                    CheckpointChoice choice = CheckpointChoice::all);

/// `step-00000120`.
std::string checkpoint_name(int64_t step);

/// The step in the name of a checkpoint's folder. Throws std::invalid_argument if it is not a checkpoint's name.
int64_t step_of_checkpoint(const std::filesystem::path& folder);

/// The checkpoint folder meant by a run folder (its best, else its last, else its newest checkpoint) or by itself.
/// Throws std::runtime_error that lists where it looked, or names the pointer that names no checkpoint.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_or_checkpoint);

}  // namespace cachet::train
