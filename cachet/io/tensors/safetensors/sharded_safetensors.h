#pragma once

#include <filesystem>

#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

/// Whether a file has the name of an index of weights in several safetensors files: `model.safetensors.index.json`.
bool is_safetensors_index(const std::filesystem::path& path);

/// Reads the tensors of all files that an index names; the files lie next to the index. Throws io::Error if the file is
/// not an index, if the index names a file in another folder, if it lists a tensor twice, or if it does not list
/// exactly the tensors of the files.
TensorMap read_sharded_safetensors(const std::filesystem::path& index);

}  // namespace cachet::io
