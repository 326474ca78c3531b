#pragma once

#include <cstddef>
#include <functional>

namespace cachet::data {

/// The number of files above which look_at_files() uses several threads, if only file information (such as sizes) is
/// read.
inline constexpr size_t kLookedAtFilesOfThread = 4096;

/// Calls `look` for each index below `count`. If `count` is larger than `of_thread`, up to 16 threads make the calls,
/// because each request to a network file system takes a millisecond. `look` must not throw.
void look_at_files(size_t count, const std::function<void(size_t index)>& look,
                   size_t of_thread = kLookedAtFilesOfThread);

}  // namespace cachet::data
