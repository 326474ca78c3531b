#include "cachet/report/text/terminal.h"

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

namespace cachet::report {
namespace {

// Holds SIGPIPE back from this thread and swallows the one that a write raised.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    const timespec no_time{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &no_time);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

}  // namespace

bool is_terminal(int descriptor) noexcept { return isatty(descriptor) == 1; }

bool moves_cursor(int descriptor) noexcept {
  const char* kind = std::getenv("TERM");
  return is_terminal(descriptor) && kind != nullptr && *kind != 0 && std::strcmp(kind, "dumb") != 0;
}

int terminal_columns(int descriptor) noexcept {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int text_columns(int descriptor) noexcept {
  const std::string_view wished = std::getenv("COLUMNS") == nullptr ? "" : std::getenv("COLUMNS");
  int columns = 0;
  const auto [end, error] = std::from_chars(wished.data(), wished.data() + wished.size(), columns);
  const bool is_number = error == std::errc() && end == wished.data() + wished.size();
  return is_number && columns > 0 ? columns : terminal_columns(descriptor);
}

bool is_foreground(int descriptor) noexcept {
  const pid_t group = tcgetpgrp(descriptor);
  return group <= 0 || group == getpgrp();
}

bool has_utf8_locale() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == 0) continue;
    return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
  }
  return false;
}

bool takes_unicode(int descriptor) noexcept { return !is_terminal(descriptor) || has_utf8_locale(); }

bool write_fully(int descriptor, std::string_view text) noexcept {
  const PipeSignalBlocked blocked;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      if (poll(&ready, 1, 1000) <= 0) return false;  // a reader that sleeps must not stop the run
    } else if (!(written < 0 && errno == EINTR)) {
      return false;
    }
  }
  return true;
}

}  // namespace cachet::report
