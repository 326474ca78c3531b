#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/checkpoint.h"

namespace cachet::train {

// A checkpoint has the state of the micro-batches of each process. Tensors of process 0 have their own names; those
// of process 1 begin with "process.1/". If parts have states of their own, tensors of part r have the names of
// process r.

/// Returns the name in a checkpoint of a tensor that belongs to the batches of process `rank` > 0.
std::string carried_name(const std::string& name, int64_t rank);

/// Returns the carried tensors of process `rank` in a checkpoint, by their own names.
io::TensorMap carried_by(const io::TensorMap& carried, int64_t rank);

/// Returns the bytes that a process sends to rank 0 for a checkpoint: `own`, and a digest of the tensors that must be
/// equal in all processes.
std::string packed_state(io::TensorMap own, const io::TensorMap& common);

/// Adds the bytes of the other processes to rank 0's checkpoint, ordered by rank; rank 0's own bytes are first. Throws
/// std::logic_error if the digests differ.
void add_states_of_others(Checkpoint& checkpoint, const std::vector<std::string>& states);

}  // namespace cachet::train
