#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/checkpoint.h"

namespace cachet::train {

// A checkpoint has the state of each process's micro-batches. Process 0's tensors have
// their own names; those of process 1 begin with "process.1/". If parts have states of their own, part r has the names
// of process r.

/// The name in a checkpoint of a tensor that the batches of process `rank` > 0 carry.
std::string carried_name(const std::string& name, int64_t rank);

/// The carried tensors of a checkpoint that are process `rank`'s, by their own names.
io::TensorMap carried_by(const io::TensorMap& carried, int64_t rank);

/// The bytes that a process sends to rank 0 for a checkpoint: `own`, and a digest of the tensors that all processes
/// must have alike.
std::string packed_state(io::TensorMap own, const io::TensorMap& common);

/// Adds the bytes of the other processes to rank 0's checkpoint, by rank; rank 0's own bytes come first. Throws
/// std::logic_error if the digests differ.
void add_states_of_others(Checkpoint& checkpoint, const std::vector<std::string>& states);

}  // namespace cachet::train
