// CIFAR records and lists of class names: what is taken must have labels in range and pixels inside the file. The first
// byte chooses the reader.
#include <algorithm>
#include <cstdlib>

#include "cachet/data/vision/cifar.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

constexpr int64_t kNames = 3;

void read_records(data::CifarKind kind, int64_t classes, std::span<const uint8_t> bytes) {
  const data::CifarRecords records = data::parse_cifar(kind, bytes, "input");
  if (records.count < 1) std::abort();
  for (int64_t i = 0; i < records.count; ++i) {
    const auto pixels = records.pixels(i);
    if (records.label(i) >= classes || pixels.size() != 3072) std::abort();
    if (pixels.data() < bytes.data() || pixels.data() + pixels.size() > bytes.data() + bytes.size()) std::abort();
  }
}

void read_names(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto names = data::parse_class_names(text, kNames, "input");
  if (names.size() != kNames) std::abort();
  for (const std::string& name : names) {
    if (name.empty() || std::ranges::any_of(name, [](unsigned char c) { return c < 0x20; })) std::abort();
  }
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto bytes = input.subspan(1);
  try {
    switch (input[0] % 3) {
      case 0:
        return read_records(data::CifarKind::cifar10, 10, bytes);
      case 1:
        return read_records(data::CifarKind::cifar100, 100, bytes);
      default:
        return read_names(bytes);
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {"\0"s + std::string(2 * 3073, '\3'), "\1"s + std::string(2 * 3074, '\4'), "\2cat\ndog\nship\n"s};
}

}  // namespace cachet::fuzz
