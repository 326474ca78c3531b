#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "cachet/io/files/file_system.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/train_state.h"

namespace cachet::train {

/// All state that a run needs to continue as if it had never stopped. A checkpoint is made between two optimizer steps,
/// so it has no partly accumulated gradient.
struct Checkpoint {
  io::TensorMap model;      // parameters and buffers
  io::TensorMap optimizer;  // "<parameter>.exp_avg", …
  io::TensorMap ema;        // averaged parameters and copied buffers; empty without averaging
  io::TensorMap random;     // states of the random generators by role: "cpu", "device"
  io::TensorMap carried;    // the task's state between batches; usually empty
  io::TensorMap parts;      // states of the parts except part 0, which has the model's state; see PartStates
  TrainState state;

  std::string mark_refused;  // why the evaluation mark could not be read; empty if it was read or does not exist
};

/// The error for an incomplete checkpoint. what() names the folder, the file and the fault.
class DamagedCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes a checkpoint folder atomically. The files are written to a hidden folder next to the checkpoint folder, and
/// each file is flushed to the disk. The last file is manifest.json, with the size and SHA-256 of each file. After the
/// last file, the hidden folder is renamed and its parent folder is flushed. A later evaluation adds an EvaluationMark
/// to the checkpoint. If writing fails, removes everything that was written, and throws io::Error, which names the path
/// and the number of bytes.
void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, const std::string& run_id,
                      io::FileSystem& file_system = io::FileSystem::real());

/// Reads a checkpoint folder after checking every file against the manifest. If the evaluation mark cannot be read, the
/// checkpoint counts as not yet evaluated. Throws DamagedCheckpoint and io::NewerSchema.
Checkpoint read_checkpoint(const std::filesystem::path& folder);

/// Reads a checkpoint's state without tensors. Also accepts a checkpoint that has only weights. Throws
/// read_checkpoint()'s errors.
TrainState read_checkpoint_state(const std::filesystem::path& folder);

/// Reads only the weights of a checkpoint: the averaged weights if `averaged` is true and they exist. Verifies their
/// file. If the checkpoint is damaged, throws DamagedCheckpoint. If weights are NaN or infinite, throws io::Error.
io::TensorMap read_weights(const std::filesystem::path& folder, bool averaged = true);

/// Returns the manifest's SHA-256 of the file that read_weights() reads. Throws DamagedCheckpoint.
std::string weights_digest(const std::filesystem::path& folder, bool averaged = true);

/// Whether a checkpoint has only weights. A run cannot continue from a checkpoint that has only weights. Throws
/// DamagedCheckpoint.
bool holds_weights_alone(const std::filesystem::path& folder);

/// Removes all files that a checkpoint's manifest lists, the manifest, and the file of the evaluation mark. Also
/// removes the folder if no other files are left in it. Renames the checkpoint's folder before the first file is
/// removed, so that a partly removed checkpoint is never mistaken for a complete one.
void remove_checkpoint(const std::filesystem::path& folder, io::FileSystem& file_system = io::FileSystem::real());

/// Removes the remains of a checkpoint that a killed process was writing or removing.
void remove_remains(const std::filesystem::path& checkpoints, io::FileSystem& file_system = io::FileSystem::real());

/// Returns the size of a checkpoint on the disk in bytes, with an error below 1 %.
uint64_t checkpoint_bytes(const Checkpoint& checkpoint);

}  // namespace cachet::train
