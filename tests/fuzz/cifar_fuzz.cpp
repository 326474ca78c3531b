// Any bytes as CIFAR records and as a list of class names: refused with an io::Error, or taken with labels in range and
// pixels inside the bytes. The first byte chooses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cachet/data/vision/cifar.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/io/error.h"

namespace {

void parse_fuzzed_records(cachet::data::CifarKind kind, std::span<const uint8_t> bytes) {
  const auto records = cachet::data::parse_cifar(kind, bytes, "fuzz");
  const int64_t classes = kind == cachet::data::CifarKind::cifar10 ? 10 : 100;
  for (int64_t i = 0; i < records.count; ++i) {
    const auto pixels = records.pixels(i);
    if (records.label(i) >= classes || pixels.size() != 3072) std::abort();
    if (pixels.data() < bytes.data() || pixels.data() + pixels.size() > bytes.data() + bytes.size()) std::abort();
  }
  if (records.count < 1) std::abort();
}

void parse_fuzzed_names(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const auto& name : cachet::data::parse_class_names(text, 3, "fuzz")) {
    if (name.empty() || name.find('\n') != std::string::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> bytes(data + 1, size - 1);
  try {
    if (data[0] % 3 == 0) parse_fuzzed_records(cachet::data::CifarKind::cifar10, bytes);
    if (data[0] % 3 == 1) parse_fuzzed_records(cachet::data::CifarKind::cifar100, bytes);
    if (data[0] % 3 == 2) parse_fuzzed_names(bytes);
  } catch (const cachet::io::Error&) {
  }
  return 0;
}
