#pragma once

#include <cstddef>
#include <functional>

namespace cachet::data {

/// If only file information (such as sizes) is read, a second thread starts above this number of files.
inline constexpr size_t kLookedAtFilesOfThread = 4096;

/// Calls `look` for each index below `count`. If `count` is larger than `of_thread`, calls it from up to 16 threads,
/// because a network file system takes a millisecond to answer a question about a file. `look` must not throw.
void look_at_files(size_t count, const std::function<void(size_t index)>& look,
                   size_t of_thread = kLookedAtFilesOfThread);

}  // namespace cachet::data
