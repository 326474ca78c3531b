#include "cachet/data/fingerprint.h"

#include <algorithm>

namespace cachet::data {
namespace {

constexpr int64_t kMaxSamples = 4096;

}  // namespace

Fingerprint& Fingerprint::add(int64_t number) { return add(std::span<const int64_t>(&number, 1)); }

Fingerprint& Fingerprint::add(std::string_view text) {
  add(static_cast<int64_t>(text.size()));
  return add(std::as_bytes(std::span(text)));
}

Fingerprint& Fingerprint::add(std::span<const int64_t> numbers) { return add(std::as_bytes(numbers)); }

Fingerprint& Fingerprint::add(std::span<const std::byte> bytes) {
  digest_.update(bytes);
  return *this;
}

void Fingerprint::for_some(int64_t size, const std::function<void(int64_t index)>& add_sample) {
  const int64_t count = std::min(size, kMaxSamples);
  for (int64_t i = 0; i < count; ++i) add_sample(count == 1 ? 0 : i * (size - 1) / (count - 1));
}

std::string Fingerprint::text() { return io::hex(digest_.finish()).substr(0, 16); }

}  // namespace cachet::data
