#pragma once

#include <cstdint>
#include <filesystem>

namespace cachet::app {

/// During the lifetime of this object, entries of LibTorch's own log, with their call stacks ("[W1128 12:00:00.0
/// socket.cpp:460] [c10d] …"), go into the log of a run instead of standard error. Earlier entries are stored, up to a
/// limit, until the run's log is known. If the user sets TORCH_CPP_LOG_LEVEL, the entries stay on standard error.
class LibraryLog {
 public:
  LibraryLog();
  ~LibraryLog();
  LibraryLog(const LibraryLog&) = delete;
  LibraryLog& operator=(const LibraryLog&) = delete;

  /// Appends entries to the file. An entry of a process other than the first begins with "process <rank>: ". A file
  /// that cannot be written causes no error.
  void write_to(const std::filesystem::path& log, int64_t rank);
};

}  // namespace cachet::app
