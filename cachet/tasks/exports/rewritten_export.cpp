#include "cachet/tasks/exports/rewritten_export.h"

namespace cachet::tasks {

std::string compared_samples(const std::string& what, const train::SampleWords& words, bool real) {
  return what + (real ? words.held_out + " " + words.many : "made-up " + words.many + ", none of them real");
}

}  // namespace cachet::tasks
