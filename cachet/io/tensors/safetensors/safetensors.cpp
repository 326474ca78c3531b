#include "cachet/io/tensors/safetensors/safetensors.h"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_real.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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

/// Fills tensors with the bytes that follow each other behind the header; `read` hands out the next ones.
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
  const std::string others = bad.size() > 1 ? ", and so do " + std::to_string(bad.size() - 1) + " other tensors" : "";
  throw Error(name + ": " + in_quotes(bad.front()) + " has values that are NaN or infinite" + others +
              "; take weights from before training diverged");
}

}  // namespace cachet::io
