#include "cachet/config/counted_list.h"

#include <string>

namespace cachet::config {
namespace {

/// "3 numbers", "1 to 64 numbers", "one number or two".
std::string count_text(const Count& count, const std::string& what) {
  if (count.least == 1 && count.most == 2) return "one " + what + " or two";
  const std::string whats = count.most == 1 ? what : what + "s";
  if (count.least == count.most) return std::to_string(count.least) + " " + whats;
  return std::to_string(count.least) + " to " + std::to_string(count.most) + " " + whats;
}

template <class T>
std::vector<T> counted(const View& view, std::string_view key, std::vector<T> values, const std::vector<T>& fallback,
                       const Count& count, const char* what) {
  if (values.size() >= count.least && values.size() <= count.most) return values;
  view.problem(key, "takes " + count_text(count, what) + ", not " + std::to_string(values.size()));
  return fallback;
}

}  // namespace

std::vector<int64_t> counted_integers(const View& view, std::string_view key, const std::vector<int64_t>& fallback,
                                      Count count, Range<int64_t> range) {
  return counted(view, key, view.integers(key, fallback, range), fallback, count, "integer");
}

std::vector<double> counted_reals(const View& view, std::string_view key, const std::vector<double>& fallback,
                                  Count count, Range<double> range) {
  return counted(view, key, view.reals(key, fallback, range), fallback, count, "number");
}

}  // namespace cachet::config
