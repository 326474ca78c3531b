#pragma once

#include <set>
#include <string>

namespace cachet::tasks {

/// While it lives, Task::note() prints each line once, for any number of tasks made of the same data. One at a
/// time.
class ToldOnce {
 public:
  ToldOnce() { told_ = &lines_; }
  ~ToldOnce() { told_ = nullptr; }
  ToldOnce(const ToldOnce&) = delete;
  ToldOnce& operator=(const ToldOnce&) = delete;

  /// Whether to print a line now; from then on it counts as printed.
  static bool asks_for(const std::string& line) { return told_ == nullptr || told_->insert(line).second; }

 private:
  static inline std::set<std::string>* told_ = nullptr;
  std::set<std::string> lines_;
};

}  // namespace cachet::tasks
