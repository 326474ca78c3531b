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

/// Makes Task::note() print each line only once during the object's lifetime, for any number of tasks with the same
/// data. Only one such object may exist.
class ToldOnce {
 public:
  ToldOnce() { told_ = &lines_; }
  ~ToldOnce() { told_ = nullptr; }
  ToldOnce(const ToldOnce&) = delete;
  ToldOnce& operator=(const ToldOnce&) = delete;

  /// Whether to print a line now. Marks the line as printed.
  static bool asks_for(const std::string& line) {
    return !NothingTold::lives() && (told_ == nullptr || told_->insert(line).second);
  }

 private:
  static inline std::set<std::string>* told_ = nullptr;
  std::set<std::string> lines_;
};

}  // namespace cachet::tasks
