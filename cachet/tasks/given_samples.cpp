#include "cachet/tasks/given_samples.h"

#include "cachet/io/error.h"

namespace cachet::tasks {

void for_each_given(const NextSample& next, const std::function<void(const std::string& text, int64_t index)>& use) {
  for (int64_t index = 0; const auto sample = next(); ++index) {
    try {
      use(sample->text, index);
    } catch (const io::Error& problem) {
      if (sample->place.empty()) throw;
      throw io::Error(sample->place + ": " + problem.what());
    }
  }
}

}  // namespace cachet::tasks
