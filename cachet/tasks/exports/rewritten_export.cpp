#include "cachet/tasks/exports/rewritten_export.h"

namespace cachet::tasks {

std::string compared_samples(const std::string& what, int64_t count, const train::SampleWords& words, bool real) {
  if (count != 1) return compared_samples(what + std::to_string(count) + " ", words, real);
  return what + (real ? "1 " + words.held_out + " " + words.one : "1 random " + words.one + ", not a real one");
}

std::string compared_samples(const std::string& what, const train::SampleWords& words, bool real) {
  return what + (real ? words.held_out + " " + words.many : "random " + words.many + ", none of them from the data");
}

}  // namespace cachet::tasks
