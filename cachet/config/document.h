#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/problem.h"

namespace cachet::config {

class View;

/// A TOML table merged from a recipe, its bases and `--set` options. It records where each value was written.
///
/// The layers read their options from the document through View. Reading does not throw at a problem (wrong type, out
/// of range, unknown word). Problems are collected, so that a user sees all of them at once, and finish() throws them.
/// Reading changes the document, which records what was read, so only one thread may use a document at a time.
class Document {
 public:
  Document();  // empty: every value is its default, and resolved() lists all keys that readers know
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  /// Reads a recipe, merged over the recipes that its key `base` names (a path or a list of paths, relative to the
  /// recipe); later bases override earlier ones. Ignores the table `sweep` (tasks/sweep.h). Throws Error for files that
  /// are missing, over 1 MB, not UTF-8, not TOML, nested deeper than 16 tables, or that name each other in a circle.
  static Document from_file(const std::filesystem::path& path);
  /// Reads a text like a recipe. A text has no folder and so no bases. `source` is its name in origins and errors.
  static Document from_text(std::string_view text, std::string_view source);

  /// Overrides one value: "model.cache.ratio=0.25". The right side is TOML; a bare word is taken as a string. `source`
  /// is the value's origin if the user did not set the value. Throws Error if the text is not an assignment.
  void set(std::string_view assignment, std::string_view source = kSetSource);

  /// Changes the default of one key, for options that are newer than the recipe. The assignment has the form of set().
  /// If the key is not written, its reader gets this value, with kEarlierSource as the origin. If the value equals the
  /// reader's own default, the origin is kDefaultSource. A key without a reader has no effect.
  void set_default(std::string_view assignment);

  /// Replaces a value that was read; resolved() lists the new value. The assignment has the form of set(). Use this for
  /// values that become known after the recipe is read.
  void settle(std::string_view assignment, std::string_view source);

  View root();

  /// Adds a problem that concerns several values. `key` is a full path. The problem's position is that of the key, or
  /// of the nearest table if the key was not written.
  void problem(const std::string& key, const std::string& message);

  /// Returns the notes of readers on values that they accept (View::note), each one as `origin: key: message`.
  std::vector<std::string> notes() const;

  /// Throws Error if a read met a problem, or if a written key was read by no reader. For such a key, the
  /// error has the nearest known name.
  void finish();

  struct Value {
    std::string key;   // "model.cache.ratio"
    std::string toml;  // the value as TOML text: 0.25, "grc", [1, 2]
    Origin origin;
  };
  /// Returns all values that were read, including defaults, in the order of reading.
  std::vector<Value> resolved() const;
  /// Returns all values that were read as one TOML file. with_origins adds `# origin` after each value.
  std::string resolved_toml(bool with_origins) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace cachet::config
