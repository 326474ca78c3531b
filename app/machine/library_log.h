#pragma once

#include <cstdint>
#include <filesystem>

namespace cachet::app {

/// While it lives, the lines that LibTorch's own log writes to standard error, with their call stacks ("[W1128
/// 12:00:00.0 socket.cpp:460] [c10d] …"), go into the log of a run. Entries before the run's log is known are
/// saved for it, up to a limit. If TORCH_CPP_LOG_LEVEL is set, the user wants to see them: they stay on standard error.
class LibraryLog {
 public:
  LibraryLog();
  ~LibraryLog();
  LibraryLog(const LibraryLog&) = delete;
  LibraryLog& operator=(const LibraryLog&) = delete;

  /// Appends to the file, "process <rank>: " before each entry of any process but the first. A file that cannot be
  /// written ends nothing.
  void write_to(const std::filesystem::path& log, int64_t rank);
};

}  // namespace cachet::app
