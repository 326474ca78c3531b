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

/// The checkpoints of a run. A checkpoint is a folder `step-<number>`, written once; later only an evaluation mark is
/// added. Two small files, the pointers `last` and `best`, name the folders of the last and the best checkpoint. The
/// pointers are plain files, because plain files can be replaced atomically on every file system and copied with every
/// tool. A resume does not need `last` and `best`, because it takes the newest complete checkpoint. Only real folders
/// in the run's folder count as its checkpoints. Symbolic links `step-…` are ignored, and so are pointers with a path
/// instead of a folder's name. The run's folder itself may be a link.
class CheckpointStore {
 public:
  /// `keep` >= 1 is the number of newest checkpoints that a save leaves, in addition to the best and the last one. A
  /// checkpoint that was saved only for its evaluation does not count as one of the `keep` checkpoints. The next save
  /// removes a checkpoint that was saved only for its evaluation, unless it is the best checkpoint.
  CheckpointStore(std::filesystem::path folder, std::string run_id, int64_t keep,
                  io::FileSystem& file_system = io::FileSystem::real());

  struct Found {
    Checkpoint checkpoint;
    std::filesystem::path folder;
    std::vector<std::string> not_removed;  // reasons why obsolete checkpoints could not be removed
  };
  /// Reads the newest complete checkpoint. Skips damaged checkpoints and lists them in refused(). Corrects the pointers
  /// `last` and `best` if they are outdated or name a damaged checkpoint, and removes the remains of a killed process.
  /// If checkpoints exist but all are damaged, throws DamagedCheckpoint, which names them. Throws io::NewerSchema.
  std::optional<Found> resume();
  const std::vector<std::string>& refused() const { return refused_; }

  struct Saved {
    std::filesystem::path folder;
    std::vector<std::string> not_removed;  // reasons why obsolete checkpoints could not be removed
  };
  /// Writes a checkpoint and makes `last` name it. If the new checkpoint is the best, `best` also names it. Then
  /// removes older checkpoints. Nothing is removed before the new checkpoint is on the disk. Throws io::Error if the
  /// write fails. A checkpoint that another process reads (HeldCheckpoint) stays, and is removed by a later save.
  Saved save(const Checkpoint& checkpoint);
  /// Adds an evaluation's results to its checkpoint. If this checkpoint is the best so far, makes `best` name it, and
  /// removes older ones, also the earlier best. If writing fails, throws io::Error; the checkpoint does not change.
  Saved mark(const std::filesystem::path& checkpoint, const EvaluationMark& mark);

  /// Throws io::Error unless the disk has room for a checkpoint of `bytes` bytes.
  void require_space(uint64_t bytes) const;

  /// Returns the folder that the pointer `last` (or `best`) names, or std::nullopt if the folder does not exist.
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

/// A hold on a checkpoint. While a HeldCheckpoint or a copy of it exists, no training process removes the checkpoint.
struct HeldCheckpoint {
  std::filesystem::path folder;
  std::optional<io::FolderLock> lock;
};

/// Finds a checkpoint with find_checkpoint(), and locks it. If training removes the checkpoint before hold_checkpoint()
/// has locked it, finds a checkpoint again. Throws the errors of find_checkpoint().
HeldCheckpoint hold_checkpoint(const std::filesystem::path& run_or_checkpoint);

/// Returns a folder's checkpoints by name, newest first. Of several checkpoints of a step, returns only the newest.
std::vector<std::filesystem::path> newest_checkpoints(const std::filesystem::path& folder);

/// Which checkpoints hold_newest_checkpoints() considers.
enum class CheckpointChoice {
  all,
  /// The last checkpoint, and all checkpoints that train.keep counts. train.keep does not count checkpoints that were
  /// saved only for their evaluation.
  regular,
};

/// Protects at most `most` checkpoints from removal: the newest of newest_checkpoints() that match `choice`.
std::vector<HeldCheckpoint> hold_newest_checkpoints(const std::filesystem::path& folder, size_t most,
                                                    CheckpointChoice choice = CheckpointChoice::all);

/// Returns the folder name of the checkpoint of a step: `step-00000120`.
std::string checkpoint_name(int64_t step);

/// Returns the step in the name of a checkpoint's folder. If the folder's name is not the name of a checkpoint, throws
/// std::invalid_argument.
int64_t step_of_checkpoint(const std::filesystem::path& folder);

/// Returns the checkpoint of a run folder (the best, else the last, else the newest), or the given checkpoint itself.
/// If there is no checkpoint, throws std::runtime_error, which lists the tried paths or names a pointer to a missing
/// checkpoint.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_or_checkpoint);

}  // namespace cachet::train
