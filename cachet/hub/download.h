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

/// The progress of a file's download.
struct DownloadProgress {
  std::string file;    // the same as DownloadSource::name
  uint64_t done = 0;   // bytes, including those of an earlier download
  uint64_t total = 0;  // 0 = unknown
};

struct DownloadOptions {
  std::function<void(const DownloadProgress&)> progress{};
  std::function<void(const std::string&)> note{};  // gets lines for the user
  int tries = 4;                                   // limit of successive tries that receive no piece of the file
  std::chrono::milliseconds first_wait{500};       // wait before the second try; each further wait is twice as long
};

/// The exception for a server's error answer, also after all tries. what() has the address and the status.
class HttpError : public io::Error {
 public:
  HttpError(const Answer& answer, const std::string& name);

  int status;
  std::string code;  // X-Error-Code of the hub: "RepoNotFound"
};

/// The address of a file's bytes, and its known properties.
struct DownloadSource {
  std::string name;  // name for messages
  WebAddress address;
  std::string token{};
  std::optional<uint64_t> size{};
  std::string sha256{}, git_sha1{};  // "" = unknown
  bool never_changes = false;        // the address always gives the same bytes, so a partial file can be completed
};

/// Sends a request again while connections fail or the server is busy (429, 5xx). Waits as long as Retry-After
/// requests, but at most half a minute. Calls `begin_try` before each try. Throws the exception of the last try.
Answer send_repeatedly(const Request& request, const std::string& name, const DownloadOptions& options,
                       const ReceivePiece& receive = {}, const std::function<void()>& begin_try = {});

/// Downloads a text. Throws io::Error if it has more than `max_bytes`.
std::string download_text(const Request& request, const std::string& name, uint64_t max_bytes,
                          const DownloadOptions& options);

/// Downloads a file. The bytes are written to `partial`, which stays if the download stops; the next download then
/// completes `partial` (Range). The file is renamed to `file` when size and digest are those of the source. Only one
/// process at a time may download a file. Throws ConnectionError, HttpError, and io::Error if the size or digest
/// differs, if the disk is full, or if the server sends a page instead of a file.
void download(const DownloadSource& source, const std::filesystem::path& partial, const std::filesystem::path& file,
              const DownloadOptions& options);

/// Returns a size in bytes as a text: "86.6 MB"
std::string size_text(uint64_t bytes);

}  // namespace cachet::hub
