#include "cachet/io/tensors/exact_conversion.h"

#include <optional>

namespace cachet::io {
namespace {

// A number type as sign, digits and exponents: an integer of n value bits is a float of n digits that needs exponents 0
// ... n - 1.
struct NumberRange {
  bool is_signed;
  bool is_float;
  int digits;          // significant binary digits
  int most_exponent;   // of the largest value
  int least_exponent;  // of the smallest value's last digit; 0 for integers
};

std::optional<NumberRange> number_range(at::ScalarType type) {
  switch (type) {
    case at::kBool:
      return NumberRange{false, false, 1, 0, 0};
    case at::kByte:
      return NumberRange{false, false, 8, 7, 0};
    case at::kUInt16:
      return NumberRange{false, false, 16, 15, 0};
    case at::kUInt32:
      return NumberRange{false, false, 32, 31, 0};
    case at::kUInt64:
      return NumberRange{false, false, 64, 63, 0};
    case at::kChar:
      return NumberRange{true, false, 7, 7, 0};  // -2^7 needs the exponent 7 of a float, but one digit
    case at::kShort:
      return NumberRange{true, false, 15, 15, 0};
    case at::kInt:
      return NumberRange{true, false, 31, 31, 0};
    case at::kLong:
      return NumberRange{true, false, 63, 63, 0};
    case at::kHalf:
      return NumberRange{true, true, 11, 15, -24};
    case at::kBFloat16:
      return NumberRange{true, true, 8, 127, -133};
    case at::kFloat:
      return NumberRange{true, true, 24, 127, -149};
    case at::kDouble:
      return NumberRange{true, true, 53, 1023, -1074};
    case at::kFloat8_e5m2:
      return NumberRange{true, true, 3, 15, -16};
    case at::kFloat8_e4m3fn:
      return NumberRange{true, true, 4, 8, -9};
    default:
      return std::nullopt;
  }
}

}  // namespace

bool converts_exactly(at::ScalarType from, at::ScalarType to) {
  if (from == to) return true;
  const std::optional<NumberRange> source = number_range(from), target = number_range(to);
  if (!source || !target || to == at::kBool) return false;
  if (source->is_signed && !target->is_signed) return false;
  // E4M3 has no infinity, and to it nothing that has one converts.
  if (source->is_float && (!target->is_float || to == at::kFloat8_e4m3fn)) return false;
  const bool exponents_fit = source->is_float || target->is_float ? source->most_exponent <= target->most_exponent &&
                                                                        source->least_exponent >= target->least_exponent
                                                                  : true;
  return source->digits <= target->digits && exponents_fit;
}

}  // namespace cachet::io
