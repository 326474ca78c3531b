#include "cachet/tasks/normalization_text.h"

#include "cachet/report/format.h"

namespace cachet::tasks {

std::string normalization_text(const std::vector<double>& mean, const std::vector<double>& deviation) {
  const auto listed = [](const std::vector<double>& values) {
    std::string text;
    for (const double value : values) text += " " + report::format_number(value, 4);
    return text;
  };
  return "mean" + listed(mean) + ", deviation" + listed(deviation);
}

}  // namespace cachet::tasks
