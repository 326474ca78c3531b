#include "cachet/nn/attention/functions/pattern_length.h"

#include <array>

namespace cachet::nn {
namespace {

constexpr std::array<config::Choice<PatternLength>, 2> kPatternLengths{
    {{"model", PatternLength::model}, {"batch", PatternLength::batch}}};

}  // namespace

PatternLength read_pattern_length(const config::View& table) {
  return table.choice("pattern_length", PatternLength::model, kPatternLengths);
}

}  // namespace cachet::nn
