#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "cachet/io/files/file_system.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/train_state.h"

namespace cachet::train {

/// All that a run needs to continue as if it had never stopped. A checkpoint is taken between two optimizer steps, so
/// that no half-accumulated gradient is part of it.
struct Checkpoint {
  io::TensorMap model;      // parameters and buffers
  io::TensorMap optimizer;  // "<parameter>.exp_avg", …
  io::TensorMap ema;        // averaged parameters, copied buffers; empty without averaging
  io::TensorMap random;     // states of the generators by role: "cpu", "device"
  io::TensorMap carried;    // what the task carries between batches; mostly empty
  io::TensorMap parts;      // states of parts but part 0, which the model has; see PartStates
  TrainState state;

  std::string mark_refused;  // why its evaluation mark was not read; empty where it was, or where there is none
};

/// A checkpoint that is not whole. what() names the folder, the file and what is wrong with it.
class DamagedCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes a folder atomically: the files go to a hidden folder next to it, and each is flushed to the disk.
/// manifest.json with their sizes and SHA-256 comes last. Then the folder gets its name and its parent is
/// flushed. An evaluation later adds an EvaluationMark. Throws io::Error naming path and bytes; then nothing of
/// it is left.
void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, const std::string& run_id,
                      io::FileSystem& file_system = io::FileSystem::real());

/// Reads a folder whose every file matches the manifest. If the evaluation mark cannot be read, the checkpoint counts
/// as not yet evaluated. Throws DamagedCheckpoint, io::NewerSchema.
Checkpoint read_checkpoint(const std::filesystem::path& folder);

/// The state of a checkpoint without its tensors, also of one that holds weights alone. Throws as read_checkpoint().
TrainState read_checkpoint_state(const std::filesystem::path& folder);

/// Only the weights of a checkpoint: the averaged ones where it has them and `averaged` asks for them. Verifies the
/// file it reads. Throws DamagedCheckpoint, and io::Error for weights that are NaN or infinite.
io::TensorMap read_weights(const std::filesystem::path& folder, bool averaged = true);

/// The SHA-256 of the file that read_weights() reads, as the manifest has it. Throws DamagedCheckpoint.
std::string weights_digest(const std::filesystem::path& folder, bool averaged = true);

/// Whether a checkpoint has only weights, so that no run can continue from it. Throws DamagedCheckpoint.
bool holds_weights_alone(const std::filesystem::path& folder);

/// Removes a checkpoint folder: the files that its manifest lists, its evaluation mark, and the folder if nothing else
/// is in it. It loses its name first, so that no half-removed checkpoint is ever taken for a whole one.
void remove_checkpoint(const std::filesystem::path& folder, io::FileSystem& file_system = io::FileSystem::real());

/// Removes what a killed process left of a checkpoint that it was writing or removing.
void remove_remains(const std::filesystem::path& checkpoints, io::FileSystem& file_system = io::FileSystem::real());

/// What a checkpoint takes on the disk, less than 1 % off.
uint64_t checkpoint_bytes(const Checkpoint& checkpoint);

}  // namespace cachet::train
