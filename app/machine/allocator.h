#pragma once

#include <string>

namespace cachet::app {

/// Returns the name of the memory allocator of this program, for bug reports: "jemalloc 5.3.0", or "the system's".
///
/// glibc returns large blocks to the system at once, and every operator then waits for new pages. If glibc retains the
/// blocks, it splits them, and batches of many lengths grow the process to several times its size. jemalloc retains
/// blocks and joins their parts.
std::string allocator();

}  // namespace cachet::app
