#pragma once

#include <set>
#include <string>

namespace cachet::tasks {

/// Filters the lines that Task::note() prints during the filter's lifetime. A task records all of its lines, also the
/// lines that are not printed. Filters can be nested: a line is printed if all filters pass it. Only one thread may use
/// filters.
class NoteFilter {
 public:
  enum class Prints {
    nothing,   // for tasks that are built only to be measured
    each_once  // for several tasks with the same data
  };

  explicit NoteFilter(Prints prints) : prints_(prints), outer_(innermost_) { innermost_ = this; }
  ~NoteFilter() { innermost_ = outer_; }
  NoteFilter(const NoteFilter&) = delete;
  NoteFilter& operator=(const NoteFilter&) = delete;

  /// Returns whether the filters let the line be printed. If a filter prints each line only once, passes() records that
  /// `line` was printed.
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
