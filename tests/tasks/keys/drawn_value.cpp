#include "tests/tasks/keys/drawn_value.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>

#include "cachet/config/toml_text.h"

namespace cachet::test {
namespace {

using Random = std::mt19937_64;

int64_t below(Random& random, int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); }

template <size_t N>
std::string one_of(Random& random, const std::array<const char*, N>& values) {
  return values[static_cast<size_t>(below(random, N))];
}

std::string drawn_integer(Random& random) {
  switch (below(random, 4)) {
    case 0:
      return std::to_string(below(random, 20) - 2);
    case 1:
      return std::to_string((int64_t{1} << below(random, 63)) - below(random, 3) + 1);
    case 2:
      return std::to_string(-(int64_t{1} << below(random, 63)));
    default:
      return one_of<6>(random,
                       {"0", "9223372036854775807", "-9223372036854775808", "2147483648", "4294967296", "1000000"});
  }
}

std::string drawn_real(Random& random) {
  const double size = std::pow(10.0, static_cast<double>(below(random, 31) - 15));
  switch (below(random, 5)) {
    case 0:
      return config::toml_text(static_cast<double>(below(random, 1001)) / 1000);
    case 1:
      return config::toml_text(size);
    case 2:
      return config::toml_text(-size);
    case 3:
      return one_of<8>(random, {"0.0", "1.0", "-0.0", "1.7976931348623157e308", "5e-324", "nan", "inf", "-inf"});
    default:
      return drawn_integer(random);
  }
}

std::string drawn_text(Random& random) {
  return one_of<12>(random, {"\"\"", "\" \"", "\"nowhere\"", "\"/dev/null\"", "\"/dev/zero\"", "\"..\"",
                             "\"a\\u0000b\"", "\"\\u001b[2J\"", "\"grün\"", "\"1 steps\"", "\"[1, 2]\"", "\"%s%n\""});
}

std::string drawn_span(Random& random) {
  const std::string count = std::to_string(below(random, 4) == 0 ? -1 : int64_t{1} << below(random, 63));
  return '"' + (below(random, 4) == 0 ? "3" : count) +
         one_of<5>(random, {" steps\"", " epochs\"", " step\"", "\"", " hours\""});
}

std::string drawn_list(Random& random, const std::function<std::string()>& item) {
  const std::array<int64_t, 7> counts{0, 1, 2, 3, 4, 12, 4000};
  const int64_t count = counts[static_cast<size_t>(below(random, counts.size()))];
  const bool all_alike = count > 100;
  const std::string first = item();
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + (all_alike || i == 0 ? first : item());
  return text + "]";
}

std::string of_another_type(Random& random) {
  return one_of<16>(random, {"true", "1", "-1", "0.5", "\"text\"", "[]", "[[]]", "[1, [2, 3]]", "{}", "{a = 1}", "nan",
                             "1979-05-27", "07:32:00", "[\"a\", 1]", "{kind = \"grc\"}", "[{}]"});
}

}  // namespace

std::string drawn_value(const KnownKey& key, Random& random) {
  using Type = KnownKey::Type;
  if (below(random, 6) == 0) return of_another_type(random);
  switch (key.type) {
    case Type::boolean:
    case Type::word:
      return below(random, 4) == 0 ? drawn_text(random)
                                   : key.words[static_cast<size_t>(below(random, std::ssize(key.words)))];
    case Type::integer:
      return drawn_integer(random);
    case Type::real:
      return drawn_real(random);
    case Type::text:
      return drawn_text(random);
    case Type::span:
      return drawn_span(random);
    case Type::integers:
      return drawn_list(random, [&] { return drawn_integer(random); });
    case Type::reals:
      return drawn_list(random, [&] { return drawn_real(random); });
    case Type::texts:
      return drawn_list(random, [&] { return drawn_text(random); });
  }
  return "0";
}

}  // namespace cachet::test
