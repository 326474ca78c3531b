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

/// A word that a key accepts, and the value of Enum for which the word stands.
template <class Enum>
struct Choice {
  std::string_view word;
  Enum value;
};

/// A view of one table of a Document. A view is cheap to copy, and owns a reference to the data of the document.
///
/// Every method that reads a key takes a default, and records the key, the value and its origin for
/// Document::resolved(). If a value is invalid, the method records a problem and returns the default. A range of
/// allowed values applies to the values of a recipe, but not to the program's default values.
class View {
 public:
  /// Whether the document has the key. After a call of has(), the key counts as known to its table, but not as read.
  bool has(std::string_view key) const;
  /// Returns a view of the table at `key`, even if the table is missing. Records a problem if the value is not a table.
  View table(std::string_view key) const;
  const std::string& path() const { return path_; }  // full path: "model.cache"; "" for the root

  bool boolean(std::string_view key, bool fallback) const;
  int64_t integer(std::string_view key, int64_t fallback, Range<int64_t> range = {}) const;
  /// Reads an integer in the range, or a text such as "10 %" (above 0 %, at most 100 %). A text such as "10 %" is a
  /// fraction of a number that is not known yet. `whole` is the name of the unknown number in messages: "the updates of
  /// a run".
  CountOrFraction count_or_fraction(std::string_view key, CountOrFraction fallback, Range<int64_t> range,
                                    std::string_view whole) const;
  double real(std::string_view key, double fallback, Range<double> range = {}) const;  // finite; may be an integer
  std::string text(std::string_view key, std::string_view fallback) const;
  /// Reads a text that has no default and must not be empty. If the document does not have the key, resolved() lists ""
  /// with the origin "required", and finish() throws.
  std::string required_text(std::string_view key) const;
  /// Reads a list. A single value stands for a list of one item. Each item of the list must lie in the range.
  std::vector<int64_t> integers(std::string_view key, std::vector<int64_t> fallback, Range<int64_t> range = {}) const;
  std::vector<double> reals(std::string_view key, std::vector<double> fallback, Range<double> range = {}) const;
  std::vector<std::string> texts(std::string_view key, std::vector<std::string> fallback) const;
  /// Reads a pair of integers, such as the height and width of an image. One number in the recipe stands for both
  /// integers. resolved() lists two equal integers as one number. Both integers must lie in the range.
  std::array<int64_t, 2> integer_pair(std::string_view key, std::array<int64_t, 2> fallback,
                                      Range<int64_t> range = {}) const;

  /// Reads one word of a closed set. For a word outside `choices`, records a problem that suggests the nearest word.
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

  /// Returns the record whose name is the value of `key`. For an unknown name, records a problem that suggests the
  /// nearest known name.
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

  /// Replaces a value such as "auto" by `word`, which the code that reads the recipe has chosen. resolved() then lists
  /// `word`.
  void decide(std::string_view key, std::string_view word) const;

  /// If the document has `key` although this kind of table does not use the key, records a problem with `message`. If a
  /// base recipe wrote the key for another kind, and a later recipe changed the kind, ignores the key (merge.h).
  void refuse(std::string_view key, const std::string& message) const;

  /// Records a problem with a key of this table. The problem states the file and line of the key, or of the table if
  /// the key has no position.
  void problem(std::string_view key, const std::string& message) const;

  /// Records a note on a key of this table: the value is accepted, but the user should know its effect. The note states
  /// the file and line of the key, or of the table if the key has no position.
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
