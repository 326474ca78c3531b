#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cachet::config {

/// Where a value was written: a file and line, a `--set` option, or nowhere (a default).
struct Origin {
  std::string source;  // path of the recipe, "--set", or "default"
  int64_t line = 0;    // 0 where the source has no lines
  std::string text() const;  // "recipes/vision/base.toml:12", "--set", "default"
};

struct Problem {
  Origin origin;
  std::string key;      // whole path, "model.cache.ratio"
  std::string message;  // what is wrong and what would be accepted
};

/// A recipe that cannot be used. what() has one line a problem, in the order of the file: `origin: key: message`.
class Error : public std::runtime_error {
 public:
  explicit Error(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// The inclusive range that a number must lie in.
template <class Number>
struct Range {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
  bool least_excluded = false;  // (0, 1] is {0, 1, true}
};

/// One word of a closed set and what it stands for.
template <class Enum>
struct Choice {
  std::string_view word;
  Enum value;
};

class View;

/// A TOML table merged from a recipe, its bases and `--set` options, which knows where each value was written.
///
/// The layers read their options from it through View. Problems (wrong type, out of range, unknown word) do not throw
/// where they are met: they are collected, so that a user sees all of them at once, and finish() throws them.
class Document {
 public:
  Document();  // empty: every value is its default
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  /// Reads a recipe. Its key `base` (a path or a list of paths, relative to the recipe) names recipes that it is merged
  /// over, the last one nearest. Throws Error for files that are missing, over 1 MB, no UTF-8, no TOML, nested deeper
  /// than 16 tables, or that name each other in a circle.
  static Document from_file(const std::filesystem::path& path);
  static Document from_text(std::string_view text, std::string_view source);

  /// Overrides one value: "model.cache.ratio=0.25". The right side is TOML; a bare word is taken as a string.
  void set(std::string_view assignment);

  View root();

  /// Adds a problem that no single read can see.
  void problem(const std::string& key, const std::string& message);

  /// Throws Error when any read met a problem, or when a key was written that nothing read (with the nearest known name).
  void finish();

  struct Value {
    std::string key;   // "model.cache.ratio"
    std::string toml;  // the value as TOML text: 0.25, "grc", [1, 2]
    Origin origin;
  };
  /// Everything that was read, defaults included, in the order of reading.
  std::vector<Value> resolved() const;
  /// The same as one TOML file; with_origins adds `# origin` behind each value.
  std::string resolved_toml(bool with_origins) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// A table of a Document, by the path of its key. Cheap to copy; the Document must outlive it.
///
/// Every read names its default, records key, value and origin for Document::resolved(), and on a problem records that
/// and returns the default.
class View {
 public:
  bool has(std::string_view key) const;
  View table(std::string_view key) const;
  const std::string& path() const { return path_; }

  bool boolean(std::string_view key, bool fallback) const;
  int64_t integer(std::string_view key, int64_t fallback, Range<int64_t> range = {}) const;
  double real(std::string_view key, double fallback, Range<double> range = {}) const;  // finite; integers are taken
  std::string text(std::string_view key, std::string_view fallback) const;
  std::string required_text(std::string_view key) const;
  std::vector<int64_t> integers(std::string_view key, std::vector<int64_t> fallback, Range<int64_t> range = {}) const;
  std::vector<double> reals(std::string_view key, std::vector<double> fallback, Range<double> range = {}) const;
  std::vector<std::string> texts(std::string_view key, std::vector<std::string> fallback) const;

  /// One word of a closed set; another one is a problem that names the nearest.
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

  /// Records a problem with a key of this table, at the place where it was written.
  void problem(std::string_view key, const std::string& message) const;

 private:
  friend class Document;
  View(std::shared_ptr<Document::State> state, std::string path) : state_(std::move(state)), path_(std::move(path)) {}
  size_t word_index(std::string_view key, size_t fallback, std::span<const std::string_view> words) const;

  std::shared_ptr<Document::State> state_;
  std::string path_;
};

}  // namespace cachet::config
