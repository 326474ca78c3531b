#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/checkpoint.h"

namespace cachet::train {

// A checkpoint has the state between batches of each process. Tensors of process 0 have the same names as in the
// process. Names of tensors of process 1 begin with "process.1/". If parts have their own states, tensors of part r are
// named like tensors of process r.

/// Returns the name that a tensor of the batches of process `rank` > 0 has in a checkpoint.
std::string carried_name(const std::string& name, int64_t rank);

/// Returns a checkpoint's tensors that process `rank` carries between batches, under the tensors' own names.
io::TensorMap carried_by(const io::TensorMap& carried, int64_t rank);

/// Returns the bytes that a process sends to rank 0 for a checkpoint: the tensors `own`, and a digest of the tensors
/// `common`. The tensors `common` must be equal in all processes.
std::string packed_state(io::TensorMap own, const io::TensorMap& common);

/// Adds the states of the other processes to rank 0's checkpoint. `states` has the states of all processes in the order
/// of their ranks, from rank 0 on. Throws std::logic_error if the digests of the tensors that all processes have in
/// common differ.
void add_states_of_others(Checkpoint& checkpoint, const std::vector<std::string>& states);

}  // namespace cachet::train
