#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/files/atomic_file.h"
#include "cachet/io/tensors/tensor_map.h"

namespace cachet::io {

struct Safetensors {
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a regular safetensors file into memory; each tensor owns its bytes. The file is not memory-mapped: if the file
/// shrinks while it is read, the reader throws an error, and no signal ends the process. Throws io::Error, which names
/// the file, the tensor and the fault. Non-finite values are not an error; see non_finite().
Safetensors read_safetensors(const std::filesystem::path& path);

/// Reads only the metadata of a safetensors file. Throws io::Error in the same cases as read_safetensors().
std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path);

/// Parses a safetensors file in memory. After the call, the memory of `file` may be released. Messages begin with
/// `name`.
Safetensors parse_safetensors(std::span<const std::byte> file, std::string_view name);

/// Returns the bytes of a safetensors file. Tensors are ordered by element size, then by name, so each tensor is
/// aligned. Equal input gives equal bytes. Throws io::Error for an undefined tensor, for a type that the format lacks,
/// and for a name that the reader would refuse.
std::vector<std::byte> serialize_safetensors(const TensorMap& tensors,
                                             const std::map<std::string, std::string>& metadata = {});

/// Writes a safetensors file atomically: at every moment, `path` has the old file or the whole new file.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       FileSystem& file_system = FileSystem::real());

/// Returns the names of the tensors that have a NaN or an infinity.
std::vector<std::string> non_finite(const TensorMap& tensors);
/// Throws Error if a tensor has a NaN or an infinity, because a model with such weights computes no valid output. The
/// message begins with `name`, the path of the weights, and names the first tensor that is not finite.
void require_finite(const TensorMap& weights, const std::string& name);

}  // namespace cachet::io
