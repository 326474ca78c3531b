#include "cachet/hub/download.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "cachet/io/digests/sha1.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/growing_file.h"
#include "cachet/io/files/read_file.h"

namespace cachet::hub {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kMaxWait{30'000};
constexpr const char* kAgain = "; run the command again, which continues the download";

std::string status_text(const Answer& answer) {
  const std::string number = "answers " + std::to_string(answer.status);
  switch (answer.status) {
    case 401:
      return number + " (not authorized); download the file with another program and give its path";
    case 403:
      return number + " (access refused); download the file with another program and give its path";
    case 404:
    case 410:
      return number + " (not found); check the address";
    case 429: {
      const std::string seconds = answer.header("retry-after");
      const bool is_number = !seconds.empty() && seconds.find_first_not_of("0123456789") == std::string::npos;
      return number + " (too many requests); run the command again " +
             (is_number ? "in " + seconds + " s" : std::string("later"));
    }
    default:
      return number + (answer.status / 100 == 5 ? " (an error on the server); run the command again later"
                                                : "; check the address");
  }
}

bool is_busy(int status) {
  constexpr std::array kBusy{408, 429, 500, 502, 503, 504};
  return std::ranges::find(kBusy, status) != kBusy.end();
}

/// Counts tries, and waits between them.
class Tries {
 public:
  explicit Tries(const DownloadOptions& options) : left_(options.tries), options_(options), wait_(options.first_wait) {}

  /// Whether there is another try, after a wait.
  bool again(std::optional<milliseconds> asked = std::nullopt) {
    if (--left_ <= 0 || asked.value_or(wait_) > kMaxWait) return false;
    std::this_thread::sleep_for(asked.value_or(wait_));
    wait_ *= 2;
    return true;
  }
  void reset() {
    left_ = options_.tries;
    wait_ = options_.first_wait;
  }

 private:
  int left_;
  const DownloadOptions& options_;
  milliseconds wait_;
};

std::optional<milliseconds> asked_wait(const Answer& answer) {
  const std::string text = answer.header("retry-after");
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return milliseconds(std::min<int64_t>(seconds, 1'000'000) * 1000);
}

/// The digest that git gives a file: the SHA-1 of a header and the bytes.
std::string git_digest(const fs::path& file, uint64_t size) {
  io::Sha1 hash;
  std::string header = "blob " + std::to_string(size);
  header += '\0';
  hash.update(std::as_bytes(std::span(header)));
  io::for_each_piece_of_file(file, size_t{1} << 20, [&hash](std::span<const std::byte> piece) { hash.update(piece); });
  return io::hex(hash.finish());
}

std::string sha256_of(const fs::path& file) {
  io::Sha256 hash;
  io::for_each_piece_of_file(file, size_t{1} << 20, [&hash](std::span<const std::byte> piece) { hash.update(piece); });
  return io::hex(hash.finish());
}

/// What is wrong with the digest of a complete file; "" if nothing is, or if the source names none.
std::string digest_problem(const DownloadSource& source, const fs::path& file) {
  const std::string& wanted = source.sha256.empty() ? source.git_sha1 : source.sha256;
  if (wanted.empty()) return {};
  const std::string found = source.sha256.empty() ? git_digest(file, fs::file_size(file)) : sha256_of(file);
  if (found == wanted) return {};
  return std::string(source.sha256.empty() ? "git's SHA-1" : "the SHA-256") + " of the downloaded file is " +
         found.substr(0, 12) + "…, expected " + wanted.substr(0, 12) + "…";
}

/// The bytes of one file that are here already, and those that come.
class Download {
 public:
  Download(const DownloadSource& source, const fs::path& partial, const DownloadOptions& options)
      : source_(source), partial_(partial), options_(options), file_(partial, io::FileAccess::locked) {
    done_ = fs::file_size(partial_);
    if (source_.size ? done_ > *source_.size : validator().empty() && !source_.never_changes) start_anew();
    was_begun_ = done_ > 0;
  }

  void run() {
    Tries tries(options_);
    while (!is_complete()) {
      const uint64_t before = done_;
      std::optional<milliseconds> asked;
      try {
        if (transfer(asked)) continue;
      } catch (const ConnectionError& error) {
        if (done_ > before) tries.reset();
        if (!tries.again()) throw ConnectionError(error.what() + std::string(done_ > 0 ? kAgain : ""));
        continue;
      } catch (const HttpError& error) {
        if (!is_busy(error.status) || !tries.again(asked)) throw;
      }
    }
    file_.sync();
  }

  bool was_begun() const { return was_begun_; }
  void start_anew() {
    file_.cut(0);
    done_ = 0;
    was_begun_ = false;
    total_ = source_.size;
    is_whole_ = false;
  }

 private:
  bool is_complete() const { return is_whole_ || (total_ && done_ == *total_ && done_ > 0); }

  fs::path validator_path() const { return partial_.string() + ".validator"; }

  /// What the server called this version of the file when the part was downloaded.
  std::string validator() const {
    constexpr uint64_t kMaxBytes = 1024;
    std::error_code absent;
    return fs::is_regular_file(validator_path(), absent) ? io::read_text_file(validator_path(), kMaxBytes) : "";
  }

  /// True if the server gave an answer with bytes of the file, all that were left or not.
  bool transfer(std::optional<milliseconds>& asked) {
    Request request{.address = source_.address, .token = source_.token};
    if (done_ > 0) {
      request.headers.push_back("Range: bytes=" + std::to_string(done_) + "-");
      if (!source_.never_changes) request.headers.push_back("If-Range: " + validator());
    }
    bool is_first = true;
    const Answer answer = send(request, [&](const Answer& begun, std::span<const std::byte> piece) {
      if (std::exchange(is_first, false)) begin(begun);
      if (total_ && piece.size() > *total_ - done_)
        throw io::Error(source_.name + ": the server sends more than the " + std::to_string(*total_) +
                        " bytes that the file has; run the command again later");
      file_.append({reinterpret_cast<const char*>(piece.data()), piece.size()});
      done_ += piece.size();
      if (options_.progress) options_.progress({source_.name, done_, total_.value_or(0)});
    });
    if (answer.status == 416 && done_ > 0) {  // the part has more bytes than the file
      start_anew();
      return true;
    }
    if (answer.status / 100 != 2) {
      asked = asked_wait(answer);
      throw HttpError(answer, source_.name);
    }
    if (is_first) begin(answer);  // no bytes came
    if (total_ && done_ < *total_)
      throw ConnectionError(source_.name + ": " + std::to_string(done_) + " of " + std::to_string(*total_) +
                            " bytes came");
    is_whole_ = true;
    return true;
  }

  void begin(const Answer& answer) {
    if (answer.header("content-type").starts_with("text/html"))
      throw io::Error(source_.name + ": is a web page, not a file; give the address of the file itself");
    std::optional<uint64_t> total;
    if (answer.status == 206) {
      total = answer.size_of_range_from(done_);
      if (!total)
        throw io::Error(source_.name + ": the server does not send the requested part of the file; try again later");
    } else {
      if (done_ > 0) start_anew();
      total = answer.length();
    }
    if (source_.size && total && *total != *source_.size)
      throw io::Error(source_.name + ": the server sends a file of " + std::to_string(*total) +
                      " bytes, but in the list of the hub its size is " + std::to_string(*source_.size) +
                      "; try again later, or check HF_ENDPOINT");
    total_ = source_.size ? source_.size : total;
    if (total_) io::require_free_space(fs::absolute(partial_).parent_path(), *total_ - done_);
    if (!source_.never_changes && answer.status == 200) keep_validator(answer);
  }

  void keep_validator(const Answer& answer) {
    std::string text = answer.header("etag");
    if (text.empty() || text.starts_with("W/")) text = answer.header("last-modified");
    io::write_file_atomically(validator_path(), text);
  }

  const DownloadSource& source_;
  const fs::path& partial_;
  const DownloadOptions& options_;
  io::GrowingFile file_;
  uint64_t done_ = 0;
  std::optional<uint64_t> total_ = source_.size;
  bool is_whole_ = false, was_begun_ = false;
};

}  // namespace

HttpError::HttpError(const Answer& answer, const std::string& name)
    : io::Error(name + ": " + answer.address.host + " " + status_text(answer)),
      status(answer.status),
      code(answer.header("x-error-code")) {}

Answer send_repeatedly(const Request& request, const std::string& name, const DownloadOptions& options,
                       const ReceivePiece& receive, const std::function<void()>& begin_try) {
  Tries tries(options);
  while (true) {
    if (begin_try) begin_try();
    std::optional<milliseconds> asked;
    try {
      Answer answer = send(request, receive);
      if (answer.status < 400) return answer;
      asked = asked_wait(answer);
      throw HttpError(answer, name);
    } catch (const ConnectionError&) {
      if (!tries.again()) throw;
    } catch (const HttpError& error) {
      if (!is_busy(error.status) || !tries.again(asked)) throw;
    }
  }
}

std::string download_text(const Request& request, const std::string& name, uint64_t max_bytes,
                          const DownloadOptions& options) {
  std::string text;
  const auto receive = [&](const Answer& answer, std::span<const std::byte> piece) {
    if (piece.size() > max_bytes - text.size())
      throw io::Error(name + ": " + answer.address.host + " sends more than " + std::to_string(max_bytes) +
                      " bytes; check HF_ENDPOINT");
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  };
  send_repeatedly(request, name, options, receive, [&text] { text.clear(); });
  return text;
}

void download(const DownloadSource& source, const fs::path& partial, const fs::path& file,
              const DownloadOptions& options) {
  Download bytes(source, partial, options);
  bytes.run();
  std::string problem = digest_problem(source, partial);
  if (!problem.empty() && bytes.was_begun()) {
    if (options.note) options.note(source.name + ": " + problem + "; the download starts again from the first byte");
    bytes.start_anew();
    bytes.run();
    problem = digest_problem(source, partial);
  }
  std::error_code ignored;
  if (!problem.empty()) {
    fs::remove(partial, ignored);
    throw io::Error(source.name + ": " + problem + "; the file was removed; run the command again later");
  }
  io::rename_durably(partial, file);
  fs::remove(partial.string() + ".validator", ignored);
}

std::string size_text(uint64_t bytes) {
  constexpr std::array kUnits{"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace cachet::hub
