#include <c10/core/DeviceType.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/safetensors/safetensors_header.h"
#include "cachet/io/tensors/safetensors/safetensors_types.h"

namespace cachet::io {
namespace {

struct WrittenTensor {
  const std::string* name;
  at::Tensor tensor;  // contiguous, on the CPU
  SafetensorsType type;
};

// Wide types first: with a header padded to eight bytes each tensor then lies aligned.
std::vector<WrittenTensor> in_file_order(const TensorMap& tensors) {
  std::vector<WrittenTensor> written;
  for (const auto& [name, tensor] : tensors) {
    check_tensor_name(name, "safetensors");
    if (!tensor.defined()) throw Error("tensor " + in_quotes(name) + " is undefined");
    written.push_back({&name, tensor.detach().to(at::kCPU).contiguous().resolve_conj().resolve_neg(),
                       safetensors_type(tensor.scalar_type(), name)});
  }
  std::stable_sort(written.begin(), written.end(), [](const WrittenTensor& a, const WrittenTensor& b) {
    return type_bytes(a.type) > type_bytes(b.type);
  });
  return written;
}

std::string header_json(const std::vector<WrittenTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const WrittenTensor& written : tensors) {
    const uint64_t end = offset + written.tensor.nbytes();
    header[*written.name] = {
        {"dtype", type_name(written.type)}, {"shape", written.tensor.sizes().vec()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error("safetensors: a name or the metadata are not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

std::vector<std::byte> serialize_safetensors(const TensorMap& tensors,
                                             const std::map<std::string, std::string>& metadata) {
  const std::vector<WrittenTensor> written = in_file_order(tensors);
  const std::string json = header_json(written, metadata);
  uint64_t size = 0;
  for (const WrittenTensor& each : written) size += each.tensor.nbytes();
  // Whatever the reader would refuse (its limits) is better refused now than when the file is needed.
  parse_safetensors_header(json, size, "safetensors");
  std::vector<std::byte> bytes;
  bytes.reserve(kSafetensorsPrefix + json.size() + size);
  for (size_t i = 0; i < kSafetensorsPrefix; ++i) bytes.push_back(static_cast<std::byte>(json.size() >> (8 * i)));
  const auto append = [&bytes](const void* data, size_t count) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + count);
  };
  append(json.data(), json.size());
  for (const WrittenTensor& each : written) append(each.tensor.const_data_ptr(), each.tensor.nbytes());
  return bytes;
}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata, FileSystem& file_system) {
  write_file_atomically(path, serialize_safetensors(tensors, metadata), file_system);
}

}  // namespace cachet::io
