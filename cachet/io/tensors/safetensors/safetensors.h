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

/// Reads a regular file into memory (it is never mapped: a file that shrinks meanwhile is an error, not a signal); each
/// tensor owns its bytes. Throws io::Error naming the file, the tensor and what is wrong. Non-finite values are not an
/// error, see non_finite().
Safetensors read_safetensors(const std::filesystem::path& path);

/// The metadata of such a file. Its tensors are not read. Throws io::Error as above.
std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path);

/// A file's tensors and metadata from memory, which may be released afterwards; `name` begins the messages.
Safetensors parse_safetensors(std::span<const std::byte> file, std::string_view name);

/// The bytes of a file that holds these tensors, in the order of element size and name, so that each lies aligned;
/// equal input gives equal bytes. Throws io::Error for an undefined tensor, a type that the format lacks, or a name
/// that the reader would refuse.
std::vector<std::byte> serialize_safetensors(const TensorMap& tensors,
                                             const std::map<std::string, std::string>& metadata = {});

/// Writes such a file atomically: at every moment the old file or the whole new one lies under `path`.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       FileSystem& file_system = FileSystem::real());

/// The names of the tensors that hold a NaN or an infinity.
std::vector<std::string> non_finite(const TensorMap& tensors);
/// Throws Error that begins with `name`, where the weights lie, and names the first such tensor: no model of them gives
/// an answer.
void require_finite(const TensorMap& weights, const std::string& name);

}  // namespace cachet::io
