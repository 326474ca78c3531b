#pragma once

#include <cstddef>
#include <functional>

namespace cachet::data {

/// Calls `look` for each index below `count`, from several threads at once if there are many: a network's file system
/// takes a millisecond to answer a question about a file. `look` must not throw.
void look_at_files(size_t count, const std::function<void(size_t index)>& look);

}  // namespace cachet::data
