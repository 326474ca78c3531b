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
/// so that it has no partly accumulated gradient.
struct Checkpoint {
  io::TensorMap model;      // parameters and buffers
  io::TensorMap optimizer;  // "<parameter>.exp_avg", …
  io::TensorMap ema;        // averaged parameters, copied buffers; empty without averaging
  io::TensorMap random;     // states of the generators by role: "cpu", "device"
  io::TensorMap carried;    // task's state between batches; mostly empty
  io::TensorMap parts;      // states of the parts except part 0, whose state is in the model; see PartStates
  TrainState state;

  std::string mark_refused;  // why its evaluation mark could not be read; empty if it could, or if there is none
};

/// Thrown if a checkpoint is incomplete. what() names the folder, the file and the fault.
class DamagedCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes a folder atomically. The files go to a hidden folder next to it, and each is flushed to the disk.
/// manifest.json with their sizes and SHA-256 comes last. Then the folder gets its name and its parent is flushed. An
/// evaluation later adds an EvaluationMark. Throws io::Error with path and bytes, and then removes all that was
/// written.
void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, const std::string& run_id,
                      io::FileSystem& file_system = io::FileSystem::real());

/// Reads a folder after checking every file against the manifest. If the evaluation mark cannot be read, the checkpoint
/// counts as not yet evaluated. Throws DamagedCheckpoint, io::NewerSchema.
Checkpoint read_checkpoint(const std::filesystem::path& folder);

/// Reads a checkpoint's state without tensors, also if it has only weights. Throws as read_checkpoint() does.
TrainState read_checkpoint_state(const std::filesystem::path& folder);

/// Reads only the weights of a checkpoint: the averaged ones if it has them and `averaged` is true. Verifies the file.
/// Throws DamagedCheckpoint, and io::Error if weights are NaN or infinite.
io::TensorMap read_weights(const std::filesystem::path& folder, bool averaged = true);

/// Returns the SHA-256 of the file that read_weights() reads, from the manifest. Throws DamagedCheckpoint.
std::string weights_digest(const std::filesystem::path& folder, bool averaged = true);

/// Whether a checkpoint has only weights, so that no run can continue from it. Throws DamagedCheckpoint.
bool holds_weights_alone(const std::filesystem::path& folder);

/// Removes a checkpoint folder: the files in its manifest, its evaluation mark, and the folder if it has no other
/// files. Renames the folder first, so that a partly removed checkpoint is never mistaken for a complete one.
void remove_checkpoint(const std::filesystem::path& folder, io::FileSystem& file_system = io::FileSystem::real());

/// Removes the remains of a checkpoint that a killed process was writing or removing.
void remove_remains(const std::filesystem::path& checkpoints, io::FileSystem& file_system = io::FileSystem::real());

/// Returns the bytes of a checkpoint on the disk, with an error below 1 %.
uint64_t checkpoint_bytes(const Checkpoint& checkpoint);

}  // namespace cachet::train
