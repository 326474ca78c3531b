#pragma once

#include <string>

namespace cachet::app {

/// What serves malloc in this program, for bug reports: "jemalloc 5.3.0", or "the system's".
///
/// glibc gives large blocks back to the system at once, and every operator then waits for its pages; if it keeps them,
/// it breaks them up, and batches of many lengths grow the process to several times its size. jemalloc keeps them and
/// joins their parts.
std::string allocator();

}  // namespace cachet::app
