#pragma once

#include <set>
#include <string>
#include <utility>

namespace cachet::tasks {

/// While it lives, Task::note() prints nothing: for tasks that are made to measure them.
class NothingTold {
 public:
  NothingTold() : before_(std::exchange(lives_, true)) {}
  ~NothingTold() { lives_ = before_; }
  NothingTold(const NothingTold&) = delete;
  NothingTold& operator=(const NothingTold&) = delete;

  static bool lives() { return lives_; }

 private:
  static inline bool lives_ = false;
  bool before_;
};

/// While it lives, Task::note() prints each line once, for any number of tasks made of the same data. One at a
/// time.
class ToldOnce {
 public:
  ToldOnce() { told_ = &lines_; }
  ~ToldOnce() { told_ = nullptr; }
  ToldOnce(const ToldOnce&) = delete;
  ToldOnce& operator=(const ToldOnce&) = delete;

  /// Whether to print a line now; from then on it counts as printed.
  static bool asks_for(const std::string& line) {
    return !NothingTold::lives() && (told_ == nullptr || told_->insert(line).second);
  }

 private:
  static inline std::set<std::string>* told_ = nullptr;
  std::set<std::string> lines_;
};

}  // namespace cachet::tasks
