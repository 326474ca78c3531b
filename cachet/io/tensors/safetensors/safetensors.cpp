#include "cachet/io/tensors/safetensors/safetensors.h"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_real.h>
#include <c10/core/DeviceType.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/safetensors/safetensors_header.h"
#include "cachet/io/tensors/safetensors/safetensors_types.h"

namespace cachet::io {
namespace {

// A bool that is neither 0 nor 1 is undefined behaviour in whoever reads it.
void check_booleans(std::span<const std::byte> bytes, std::string_view file, const std::string& tensor) {
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte value) { return value <= std::byte{1}; })) return;
  throw Error(std::string(file) + ": tensor " + in_quotes(tensor) + " of BOOL has a byte that is neither 0 nor 1");
}

/// Fills tensors with the bytes that follow each other after the header; `read` hands out the next ones.
Safetensors fill_tensors(SafetensorsHeader header, std::string_view file,
                         const std::function<void(std::span<std::byte>)>& read) {
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (SafetensorsEntry& entry : header.entries) {
    at::Tensor tensor = at::empty(entry.shape, scalar_type(entry.type));
    const std::span bytes(static_cast<std::byte*>(tensor.mutable_data_ptr()), entry.end - entry.begin);
    read(bytes);
    if (entry.type == SafetensorsType::kBool) check_booleans(bytes, file, entry.name);
    result.tensors.emplace(std::move(entry.name), std::move(tensor));
  }
  return result;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

SafetensorsHeader read_header(InputFile& file, const std::string& name) {
  std::array<std::byte, kSafetensorsPrefix> prefix = {};
  file.read(std::span(prefix).first(std::min(file.size(), kSafetensorsPrefix)));
  std::vector<std::byte> json(safetensors_header_size(prefix, file.size(), name));
  file.read(json);
  return parse_safetensors_header(as_text(json), file.size() - kSafetensorsPrefix - json.size(), name);
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  InputFile file(path);
  return fill_tensors(read_header(file, path.string()), path.string(),
                      [&file](std::span<std::byte> bytes) { file.read(bytes); });
}

std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path) {
  InputFile file(path);
  return read_header(file, path.string()).metadata;
}

Safetensors parse_safetensors(std::span<const std::byte> file, std::string_view name) {
  const uint64_t size = safetensors_header_size(file, file.size(), name);
  const std::span<const std::byte> json = file.subspan(kSafetensorsPrefix, size);
  std::span<const std::byte> data = file.subspan(kSafetensorsPrefix + size);
  return fill_tensors(parse_safetensors_header(as_text(json), data.size(), name), name,
                      [&data](std::span<std::byte> bytes) {
                        std::copy_n(data.begin(), bytes.size(), bytes.begin());
                        data = data.subspan(bytes.size());
                      });
}

namespace {

/// One pass, without another tensor: if one of the numbers is NaN, the smallest and the largest are NaN.
bool all_finite(const at::Tensor& values) {
  if (values.numel() == 0) return true;
  const auto [least, largest] = at::aminmax(values);
  return std::isfinite(least.item<double>()) && std::isfinite(largest.item<double>());
}

}  // namespace

std::vector<std::string> non_finite(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_floating_point() && !tensor.is_complex()) continue;
    const bool is_narrow = tensor.is_floating_point() && tensor.element_size() == 1;
    const at::Tensor values = is_narrow ? tensor.to(at::kFloat) : tensor;
    if (!all_finite(values.is_complex() ? at::view_as_real(values) : values)) names.push_back(name);
  }
  return names;
}

void require_finite(const TensorMap& weights, const std::string& name) {
  const std::vector<std::string> bad = non_finite(weights);
  if (bad.empty()) return;
  const std::string others = bad.size() > 1 ? ", as have " + std::to_string(bad.size() - 1) + " other tensors" : "";
  throw Error(name + ": " + in_quotes(bad.front()) + " has values that are NaN or infinite" + others +
              "; use weights that were saved before training diverged");
}

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
    throw Error("safetensors: names and metadata must be UTF-8");
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
