#pragma once

#include <cstddef>
#include <functional>

namespace cachet::data {

/// Of files that are only asked for, such as their sizes, one thread looks at so many before a second one is started.
inline constexpr size_t kLookedAtFilesOfThread = 4096;

/// Calls `look` for each index below `count`, from up to 16 threads at once if there are more than `of_thread`: a
/// network's file system takes a millisecond to answer a question about a file. `look` must not throw.
void look_at_files(size_t count, const std::function<void(size_t index)>& look,
                   size_t of_thread = kLookedAtFilesOfThread);

}  // namespace cachet::data
