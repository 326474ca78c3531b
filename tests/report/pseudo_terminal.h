#pragma once

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "tests/support/environment_variable.h"

namespace cachet::report::test {

using cachet::test::EnvironmentVariable;

/// Two connected descriptors: what is written to `inner` is read from `outer`.
struct Channel {
  int outer = -1, inner = -1;
  ~Channel() {
    if (inner >= 0) close(inner);
    if (outer >= 0) close(outer);
  }
  void start_reading() const { fcntl(outer, F_SETFL, O_NONBLOCK); }
  std::string read_all() const {
    std::string text;
    char part[4096];
    for (ssize_t n; (n = ::read(outer, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
    return text;
  }
};

/// One that nobody sees, of a width.
struct Terminal : Channel {
  explicit Terminal(int columns) {
    winsize size{24, static_cast<unsigned short>(columns), 0, 0};
    if (openpty(&outer, &inner, nullptr, nullptr, &size) != 0) throw std::runtime_error("no pseudo-terminal");
    start_reading();
  }
  void resize(int columns) {
    const winsize size{24, static_cast<unsigned short>(columns), 0, 0};
    ioctl(outer, TIOCSWINSZ, &size);
  }
};

}  // namespace cachet::report::test
