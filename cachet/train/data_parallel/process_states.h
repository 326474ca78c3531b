#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/checkpoint.h"

namespace cachet::train {

// A checkpoint stores, for each process, the state that the process carries from one batch to the next. Names of
// tensors of process 0 have no prefix. Names of tensors of process 1 begin with "process.1/". If each part of a step
// has its own state, the names of part r's tensors have the same prefix as those of process r.

/// Returns the name under which a checkpoint stores the tensor `name` of the state of process `rank` > 0.
std::string carried_name(const std::string& name, int64_t rank);

/// Returns the tensors in `carried` that belong to process `rank`, under names without the prefix of the process.
io::TensorMap carried_by(const io::TensorMap& carried, int64_t rank);

/// Returns the bytes that a process sends to rank 0 for a checkpoint: the tensors `own`, and a digest of the tensors
/// `common`. The tensors `common` must be equal in all processes.
std::string packed_state(io::TensorMap own, const io::TensorMap& common);

/// Adds the states of the other processes to rank 0's checkpoint. `states` has the states of all processes in the order
/// of their ranks, from rank 0 on. Throws std::logic_error if the digests of the tensors that all processes have in
/// common differ.
void add_states_of_others(Checkpoint& checkpoint, const std::vector<std::string>& states);

}  // namespace cachet::train
