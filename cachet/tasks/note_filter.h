#pragma once

#include <set>
#include <string>

namespace cachet::tasks {

/// Filters the lines that Task::note() prints during the filter's lifetime. The tasks still record every line. Filters
/// nest: a line is printed if all of them pass it. Not for several threads.
class NoteFilter {
 public:
  enum class Prints {
    nothing,   // for tasks that are built to measure them
    each_once  // for several tasks with the same data
  };

  explicit NoteFilter(Prints prints) : prints_(prints), outer_(innermost_) { innermost_ = this; }
  ~NoteFilter() { innermost_ = outer_; }
  NoteFilter(const NoteFilter&) = delete;
  NoteFilter& operator=(const NoteFilter&) = delete;

  /// Whether to print a line now. The filters that print each line once remember it.
  static bool passes(const std::string& line) {
    for (NoteFilter* filter = innermost_; filter != nullptr; filter = filter->outer_)
      if (filter->prints_ == Prints::nothing || !filter->lines_.insert(line).second) return false;
    return true;
  }

 private:
  static inline NoteFilter* innermost_ = nullptr;
  Prints prints_;
  NoteFilter* outer_;
  std::set<std::string> lines_;
};

}  // namespace cachet::tasks
