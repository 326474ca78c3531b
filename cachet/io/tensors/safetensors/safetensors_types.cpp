#include "cachet/io/tensors/safetensors/safetensors_types.h"

#include <array>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

// In the order of SafetensorsType.
constexpr std::array<std::pair<SafetensorsType, at::ScalarType>, 19> kScalarTypes = {{
    {SafetensorsType::kBool, at::kBool},
    {SafetensorsType::kU8, at::kByte},
    {SafetensorsType::kI8, at::kChar},
    {SafetensorsType::kF8E5M2, at::kFloat8_e5m2},
    {SafetensorsType::kF8E4M3, at::kFloat8_e4m3fn},
    {SafetensorsType::kF8E8M0, at::kFloat8_e8m0fnu},
    {SafetensorsType::kF8E4M3FNUZ, at::kFloat8_e4m3fnuz},
    {SafetensorsType::kF8E5M2FNUZ, at::kFloat8_e5m2fnuz},
    {SafetensorsType::kI16, at::kShort},
    {SafetensorsType::kU16, at::kUInt16},
    {SafetensorsType::kF16, at::kHalf},
    {SafetensorsType::kBF16, at::kBFloat16},
    {SafetensorsType::kI32, at::kInt},
    {SafetensorsType::kU32, at::kUInt32},
    {SafetensorsType::kF32, at::kFloat},
    {SafetensorsType::kC64, at::kComplexFloat},
    {SafetensorsType::kF64, at::kDouble},
    {SafetensorsType::kI64, at::kLong},
    {SafetensorsType::kU64, at::kUInt64},
}};

}  // namespace

at::ScalarType scalar_type(SafetensorsType type) { return kScalarTypes[static_cast<size_t>(type)].second; }

SafetensorsType safetensors_type(at::ScalarType type, const std::string& tensor) {
  for (const auto& [file, torch] : kScalarTypes) {
    if (torch == type) return file;
  }
  throw Error("tensor " + in_quotes(tensor) + ": safetensors has no type for " + c10::toString(type));
}

}  // namespace cachet::io
