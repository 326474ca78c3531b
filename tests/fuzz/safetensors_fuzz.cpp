// Whole safetensors files. What is accepted must write and read back to the same bytes.
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

io::Safetensors parsed(std::span<const std::byte> bytes) { return io::parse_safetensors(bytes, "input"); }

}  // namespace

void read(std::span<const uint8_t> input) {
  io::Safetensors accepted;
  try {
    accepted = parsed(std::as_bytes(input));
  } catch (const io::Error&) {
    return;
  }
  const auto written = io::serialize_safetensors(accepted.tensors, accepted.metadata);
  const auto again = parsed(written);
  if (io::serialize_safetensors(again.tensors, again.metadata) != written)
    throw std::logic_error("an accepted file changes when it is written and read");
}

std::vector<std::string> seeds() {
  const auto integers = at::arange(6).reshape({2, 3});
  return {text(io::serialize_safetensors({})),
          text(io::serialize_safetensors({{"scalar", at::ones({})}, {"empty", at::zeros({0, 4})}}, {{"format", "pt"}})),
          text(io::serialize_safetensors(
              {{"a.weight", integers}, {"b", integers.to(at::kBFloat16)}, {"\"c\\é", integers.to(at::kBool)}}))};
}

}  // namespace cachet::fuzz
