#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::config {

/// The allowed number of entries of a list: from `least` to `most`, both included.
struct Count {
  size_t least = 0, most = 0;

  static constexpr Count exactly(size_t number) { return {number, number}; }
};

/// These functions read a list as View::integers and View::reals do. If `count` does not allow the list's number of
/// entries, the functions record a problem with the key and return the default.
std::vector<int64_t> counted_integers(const View& view, std::string_view key, const std::vector<int64_t>& fallback,
                                      Count count, Range<int64_t> range = {});
std::vector<double> counted_reals(const View& view, std::string_view key, const std::vector<double>& fallback,
                                  Count count, Range<double> range = {});

}  // namespace cachet::config
