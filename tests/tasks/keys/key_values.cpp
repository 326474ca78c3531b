#include "tests/tasks/keys/key_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "cachet/config/toml_text.h"
#include "tests/tasks/keys/reader_answers.h"

namespace cachet::test {
namespace {

constexpr int64_t kMaxInteger = std::numeric_limits<int64_t>::max();
constexpr size_t kThousands = 5'000;  // entries of a long list

std::optional<std::string> bound_in(const std::string& complaint, const char* before) {
  const size_t at = complaint.find(before);
  if (at == std::string::npos) return std::nullopt;
  const size_t first = at + std::string_view(before).size();
  return complaint.substr(first, complaint.find_first_of(", ", first) - first);
}

/// The smallest or the largest integer that is accepted, as far as its reader has one bound.
std::optional<int64_t> integer_bound(const KeyFamily& family, const KnownKey& key, bool largest, int64_t usual,
                                     const std::function<std::string(int64_t)>& write) {
  const auto good = [&](int64_t value) { return accepts(family, with(key.context, key.path, write(value))); };
  const int64_t extreme = largest ? kMaxInteger : std::numeric_limits<int64_t>::min();
  if (good(extreme)) return extreme;
  const std::string said = complaint_of(family, with(key.context, key.path, write(extreme)), key.path);
  if (const auto bound = bound_in(said, largest ? "at most " : "at least "); bound && good(std::stoll(*bound)))
    return std::stoll(*bound);
  // Other keys bound it: multiples and parts of what is usual, else what lies between.
  if (!good(usual)) return std::nullopt;
  int64_t best = usual, bad = extreme;
  for (int64_t next = usual; largest && next > 0 && next < (int64_t{1} << 40); next *= 2)
    if (good(next)) best = next;
  for (int64_t next = usual; !largest && next > 0; next /= 2)
    if (good(next)) best = next;
  while (largest ? bad - 1 > best : bad + 1 < best) {
    const int64_t middle = static_cast<int64_t>((static_cast<__int128>(best) + bad) / 2);
    if (middle == best || middle == bad) break;
    (good(middle) ? best : bad) = middle;
  }
  return best;
}

std::optional<double> real_bound(const KeyFamily& family, const KnownKey& key, bool largest, double usual,
                                 const std::function<std::string(double)>& write) {
  const auto good = [&](double value) { return accepts(family, with(key.context, key.path, write(value))); };
  const double extreme = largest ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
  if (good(extreme)) return extreme;
  const std::string said = complaint_of(family, with(key.context, key.path, write(extreme)), key.path);
  if (const auto bound = bound_in(said, largest ? "at most " : "at least ")) {
    if (const double value = std::stod(*bound); good(value)) return value;
  }
  if (const auto bound = largest ? std::nullopt : bound_in(said, "above ")) {
    const double value = std::nextafter(std::stod(*bound), 1e300);
    if (good(value)) return value;
  }
  if (!good(usual)) return std::nullopt;
  double best = usual, bad = extreme;
  for (int i = 0; i < 200; ++i) {
    const double middle = best / 2 + bad / 2;
    if (middle == best || middle == bad) break;
    (good(middle) ? best : bad) = middle;
  }
  return best;
}

std::vector<std::string> items_of(const std::string& list) {
  if (!list.starts_with('[')) return list.empty() ? std::vector<std::string>{} : std::vector<std::string>{list};
  std::vector<std::string> items = parts_of(list.substr(1, list.size() - 2), ',');
  for (std::string& item : items) item.erase(0, item.find_first_not_of(' '));
  return items;
}

std::string all_alike(size_t count, const std::string& item) { return list_of(std::vector<std::string>(count, item)); }

/// Lists of no, one and thousands of entries, and as many as is usual of the smallest and the largest entry.
std::vector<std::string> lists_for(const KeyFamily& family, const KnownKey& key) {
  using Type = KnownKey::Type;
  const std::vector<std::string> usual = items_of(key.usual);
  const size_t count = std::max<size_t>(1, usual.size());
  const std::string item = usual.empty() ? (key.type == Type::texts ? "\"a\"" : "1") : usual.front();
  std::vector<std::string> values{"[]", list_of({item}), all_alike(kThousands, item)};
  if (key.type == Type::integers) {
    const auto write = [&](int64_t value) { return all_alike(count, std::to_string(value)); };
    for (const bool largest : {true, false})
      if (const auto bound = integer_bound(family, key, largest, std::stoll(item), write))
        values.push_back(write(*bound));
  }
  if (key.type == Type::reals) {
    const auto write = [&](double value) { return all_alike(count, config::toml_text(value)); };
    for (const bool largest : {true, false})
      if (const auto bound = real_bound(family, key, largest, std::stod(item), write)) values.push_back(write(*bound));
  }
  return values;
}

std::vector<std::string> spans() {
  return {"\"9223372036854775807 steps\"", "\"9223372036854775807 epochs\"", "\"1 steps\"", "\"1 epochs\"",
          "\"0 steps\""};
}

std::vector<std::string> texts() {
  return {"\"\"",
          "\"nowhere/at/all\"",
          "\"/\"",
          "\"..\"",
          "\"two\\nlines\"",
          "\"\\u001b[31m\"",
          '"' + std::string(kThousands, 'x') + '"'};
}

}  // namespace

std::vector<std::string> bounds_of(const KeyFamily& family, const KnownKey& key) {
  using Type = KnownKey::Type;
  const std::string text = answer_of(family, key.place(), [&] {
    std::vector<std::string> values;
    switch (key.type) {
      case Type::boolean:
      case Type::word:
        values = key.words;
        break;
      case Type::integer: {
        const auto write = [](int64_t value) { return std::to_string(value); };
        for (const bool largest : {true, false})
          if (const auto bound = integer_bound(family, key, largest, std::stoll(key.usual), write))
            values.push_back(write(*bound));
        break;
      }
      case Type::real: {
        const auto write = [](double value) { return config::toml_text(value); };
        for (const bool largest : {true, false})
          if (const auto bound = real_bound(family, key, largest, std::stod(key.usual), write))
            values.push_back(write(*bound));
        break;
      }
      case Type::span:
        values = spans();
        break;
      case Type::text:
        values = texts();
        break;
      case Type::integers:
      case Type::reals:
      case Type::texts:
        values = lists_for(family, key);
    }
    std::string lines;
    for (const std::string& value : values) lines += value + '\n';
    return lines;
  });
  return parts_of(text, '\n');
}

std::vector<std::string> smaller_than(const KeyFamily& family, const KnownKey& key, const std::string& value) {
  std::vector<std::string> smaller;
  const auto add = [&](const std::string& next) {
    if (next != value && std::ranges::find(smaller, next) == smaller.end()) smaller.push_back(next);
  };
  if (key.type == KnownKey::Type::integer) {
    const auto usual = std::max<int64_t>(1, std::stoll(key.usual));
    const double most = std::log2(static_cast<double>(std::stoll(value)) / static_cast<double>(usual));
    for (double exponent = std::floor(most / 2); exponent >= 1; exponent = std::floor(exponent / 2))
      add(std::to_string(usual << static_cast<int>(exponent)));
  }
  if (key.type == KnownKey::Type::integers && value.starts_with('[')) {
    const std::vector<std::string> usual = items_of(key.usual);
    if (usual.empty()) return {};
    for (const int factor : {64, 8, 2}) {
      std::vector<std::string> items;
      for (const std::string& item : usual) items.push_back(std::to_string(factor * std::stoll(item)));
      add(list_of(items));
    }
  }
  const std::string text = answer_of(family, key.place(), [&] {
    std::string lines;
    for (const std::string& next : smaller)
      if (accepts(family, with(key.context, key.path, next))) lines += next + '\n';
    return lines;
  });
  return parts_of(text, '\n');
}

}  // namespace cachet::test
