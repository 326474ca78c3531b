#include "cachet/data/many_files.h"

#include <algorithm>
#include <future>
#include <vector>

namespace cachet::data {

void look_at_files(size_t count, const std::function<void(size_t index)>& look, size_t of_thread) {
  constexpr size_t kThreads = 16;
  of_thread = std::max(of_thread, (count + kThreads - 1) / kThreads);
  std::vector<std::future<void>> parts;
  for (size_t begin = 0; begin < count; begin += of_thread)
    parts.push_back(std::async(begin == 0 ? std::launch::deferred : std::launch::async, [&, begin] {
      const size_t end = std::min(count, begin + of_thread);
      for (size_t i = begin; i < end; ++i) look(i);
    }));
  for (std::future<void>& part : parts) part.get();
}

}  // namespace cachet::data
