#include "app/machine/precision_note.h"

#include "cachet/report/format.h"
#include "cachet/train/step/precision.h"

namespace cachet::app {

std::optional<std::string> slow_bfloat16_note() {
  // Where the processor has units for it there is nothing to find, and a measurement on a busy machine would be wrong.
  if (train::precision_of_machine({train::DeviceChoice::Kind::cpu}) == train::Precision::bfloat16) return std::nullopt;
  return slow_bfloat16_note(train::bfloat16_time_ratio());
}

std::optional<std::string> slow_bfloat16_note(double ratio) {
  constexpr double kNoise = 1.05;
  if (ratio < kNoise) return std::nullopt;
  return "bfloat16 is slower than float32 on this processor. A matrix product takes " +
         report::format_number(ratio, 2) + " times as long, so fp32 is the faster choice";
}

}  // namespace cachet::app
