#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/config/fraction.h"
#include "cachet/config/problem.h"
#include "cachet/config/range.h"

namespace cachet::config {

/// One word of a closed set, and the value that it means.
template <class Enum>
struct Choice {
  std::string_view word;
  Enum value;
};

/// A table of a Document, found by the path of its key. A view is cheap to copy, and owns a reference to the data.
///
/// Every read has a default as an argument, and records key, value and origin for Document::resolved(). At a problem, a
/// read records the problem and returns the default. Ranges do not apply to defaults, which the program chooses.
class View {
 public:
  /// Whether the key was written. After this call the key counts as known to its table, but not as read.
  bool has(std::string_view key) const;
  /// Returns the table of that name, which may be missing. Records a problem if the value is not a table.
  View table(std::string_view key) const;
  const std::string& path() const { return path_; }  // "model.cache"; "" for the root

  bool boolean(std::string_view key, bool fallback) const;
  int64_t integer(std::string_view key, int64_t fallback, Range<int64_t> range = {}) const;
  /// Reads an integer in the range, or a fraction of a number that is not known yet, as a text: "10 %", above 0 % and
  /// at most 100 %. `whole` is the name of this number in messages: "the updates of a run".
  CountOrFraction count_or_fraction(std::string_view key, CountOrFraction fallback, Range<int64_t> range,
                                    std::string_view whole) const;
  double real(std::string_view key, double fallback, Range<double> range = {}) const;  // finite; may be an integer
  std::string text(std::string_view key, std::string_view fallback) const;
  /// Reads a text that has no default and must not be empty. If the key is not written, resolved() has "" with the
  /// origin "required", and finish() will throw.
  std::string required_text(std::string_view key) const;
  /// Reads a list; one value stands for a list of one. The range applies to each item.
  std::vector<int64_t> integers(std::string_view key, std::vector<int64_t> fallback, Range<int64_t> range = {}) const;
  std::vector<double> reals(std::string_view key, std::vector<double> fallback, Range<double> range = {}) const;
  std::vector<std::string> texts(std::string_view key, std::vector<std::string> fallback) const;
  /// Reads two integers of one kind, such as the sides of an image. One number stands for both, and two equal numbers
  /// are recorded as one. The range applies to each.
  std::array<int64_t, 2> integer_pair(std::string_view key, std::array<int64_t, 2> fallback,
                                      Range<int64_t> range = {}) const;

  /// Reads one word of a closed set. For any other word, records a problem with the nearest word.
  template <class Enum, size_t N>
  Enum choice(std::string_view key, Enum fallback, const std::array<Choice<Enum>, N>& choices) const {
    std::array<std::string_view, N> words;
    size_t fallback_index = 0;
    for (size_t i = 0; i < N; ++i) {
      words[i] = choices[i].word;
      if (choices[i].value == fallback) fallback_index = i;
    }
    return choices[word_index(key, fallback_index, words)].value;
  }

  /// Returns one record of a table by its name. For an unknown name, records a problem with the nearest name.
  template <class Record>
  const Record* record(std::string_view key, const Record* fallback, std::span<const Record* const> records) const {
    std::vector<std::string_view> words;
    size_t fallback_index = 0;
    for (const Record* record : records) {
      if (record == fallback) fallback_index = words.size();
      words.push_back(record->name);
    }
    return records[word_index(key, fallback_index, words)];
  }

  /// Replaces an open value ("auto") by the reader's decision. resolved() then lists the decision.
  void decide(std::string_view key, std::string_view word) const;

  /// Records a problem with a key that this kind of table does not use, if the key was written. A key that was written
  /// for a replaced kind of a base is ignored.
  void refuse(std::string_view key, const std::string& message) const;

  /// Records a problem with a key of this table. The problem's position is that of the key, or else of the table.
  void problem(std::string_view key, const std::string& message) const;

  /// Records a note on a key of this table: the value is accepted, but the user should know its effect. The note's
  /// position is found as in problem().
  void note(std::string_view key, const std::string& message) const;

 private:
  friend class Document;
  View(std::shared_ptr<Document::State> state, std::string path) : state_(std::move(state)), path_(std::move(path)) {}
  template <class T, class Read, class Write>
  T settle(std::string_view key, T fallback, Read read, Write write) const;
  size_t word_index(std::string_view key, size_t fallback, std::span<const std::string_view> words) const;

  std::shared_ptr<Document::State> state_;
  std::string path_;
};

}  // namespace cachet::config
