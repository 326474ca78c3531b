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
  std::string file;    // value of DownloadSource::name
  uint64_t done = 0;   // received bytes, including the bytes of an earlier download
  uint64_t total = 0;  // bytes of the whole file; 0 = unknown
};

struct DownloadOptions {
  std::function<void(const DownloadProgress&)> progress{};
  std::function<void(const std::string&)> note{};  // receives messages for the user, one line each
  int tries = 4;                                   // maximum number of successive tries that receive no byte
  std::chrono::milliseconds first_wait{500};       // wait before the second try; each further wait is twice as long
};

/// The exception for a server's answer that reports an error, thrown at once or after the last repetition of the
/// request. what() has the address and the status.
class HttpError : public io::Error {
 public:
  HttpError(const Answer& answer, const std::string& name);

  int status;
  std::string code;  // header X-Error-Code of the hub: "RepoNotFound"
};

/// The address from which a file is downloaded, and the known properties of the file.
struct DownloadSource {
  std::string name;  // name for messages
  WebAddress address;
  std::string token{};
  std::optional<uint64_t> size{};
  std::string sha256{}, git_sha1{};  // expected digests; "" = unknown
  bool never_changes = false;        // whether the address always gives the same bytes; only then, `partial` is reused
};

/// Sends a request, and repeats it while connections fail or the server is busy (429, 5xx). Waits for the time in
/// Retry-After (at most 30 s). Calls `begin_try` before each try. If all requests fail, throws the exception of the
/// last request.
Answer send_repeatedly(const Request& request, const std::string& name, const DownloadOptions& options,
                       const ReceivePiece& receive = {}, const std::function<void()>& begin_try = {});

/// Downloads a text. Throws io::Error if the text has more than `max_bytes` bytes.
std::string download_text(const Request& request, const std::string& name, uint64_t max_bytes,
                          const DownloadOptions& options);

/// Downloads a file. Writes the bytes to `partial`. If the download stops, `partial` stays, and the next download
/// requests only the missing bytes (HTTP header Range). If the size and digest of `partial` match the source, renames
/// it to `file`. Only one process at a time may download a file. Throws ConnectionError, HttpError, or io::Error if the
/// size or digest differs, if the disk is full, or if the server sends a page instead of a file.
void download(const DownloadSource& source, const std::filesystem::path& partial, const std::filesystem::path& file,
              const DownloadOptions& options);

/// Returns a size in bytes as a text, such as "86.6 MB".
std::string size_text(uint64_t bytes);

}  // namespace cachet::hub
