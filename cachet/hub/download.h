#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachet/hub/transfer.h"

namespace cachet::hub {

/// How far the download of a file is.
struct DownloadProgress {
  std::string file;    // as DownloadSource::name
  uint64_t done = 0;   // bytes, those of an earlier download among them
  uint64_t total = 0;  // 0 = unknown
};

struct DownloadOptions {
  std::function<void(const DownloadProgress&)> progress{};
  std::function<void(const std::string&)> note{};  // a line for the user
  int tries = 4;                                   // without a piece of the file in between
  std::chrono::milliseconds first_wait{500};       // before the second try; each further wait is twice as long
};

/// An answer of a server that is an error, also after all tries. what() names the address and the status.
class HttpError : public io::Error {
 public:
  HttpError(const Answer& answer, const std::string& name);

  int status;
  std::string code;  // X-Error-Code of the hub: "RepoNotFound"
};

/// Where the bytes of a file come from, and what is known of them.
struct DownloadSource {
  std::string name;  // for messages
  WebAddress address;
  std::string token{};
  std::optional<uint64_t> size{};
  std::string sha256{}, git_sha1{};  // "" = unknown
  bool never_changes = false;        // the address always gives the same bytes, so that a part of them can be completed
};

/// Repeats a request while connections fail or the server is busy (429, 5xx). Waits as long as Retry-After asks for, up
/// to half a minute. Calls `begin_try` before each try. Throws what the last try threw.
Answer send_repeatedly(const Request& request, const std::string& name, const DownloadOptions& options,
                       const ReceivePiece& receive = {}, const std::function<void()>& begin_try = {});

/// A text that a server sends. Throws io::Error if it has more than `max_bytes`.
std::string download_text(const Request& request, const std::string& name, uint64_t max_bytes,
                          const DownloadOptions& options);

/// Downloads a file. The bytes go to `partial`, which stays if the download stops and is completed by the next one
/// (Range). The file gets its name when size and digest are those of the source. Of several processes, one may do this
/// at a time. Throws ConnectionError, HttpError, and io::Error: another size or digest, no space, a page instead of a
/// file.
void download(const DownloadSource& source, const std::filesystem::path& partial, const std::filesystem::path& file,
              const DownloadOptions& options);

/// "86.6 MB"
std::string size_text(uint64_t bytes);

}  // namespace cachet::hub
