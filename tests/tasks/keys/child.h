#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace cachet::test {

/// How a call in a process of its own ended.
struct ChildOutcome {
  enum class End {
    done,       // the call returned
    crashed,    // a signal, or an exit that the call did not choose
    too_large,  // it took more memory than it was given
    too_slow,   // it took more time than it was given
  };
  End end = End::done;
  std::string text;     // what the call returned
  std::string printed;  // what it wrote to the standard streams
  std::string ending;   // of a crash: "signal 11 (Segmentation fault)"
};

/// What a call may take beyond the memory of this process, and how long.
struct ChildLimits {
  int64_t bytes = int64_t{1} << 30;
  std::chrono::seconds processor_time{10};
  std::chrono::seconds time{60};  // of the clock, for one that waits
};

/// Calls `work` in a copy of this process. This process must have no other threads.
ChildOutcome in_child(const std::function<std::string()>& work, const ChildLimits& limits = {});

}  // namespace cachet::test
