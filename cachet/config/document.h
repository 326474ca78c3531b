#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/problem.h"

namespace cachet::config {

class View;

/// A TOML table merged from a recipe, its bases and `--set` options, which knows where each value was written.
///
/// The layers read their options from it through View. Problems (wrong type, out of range, unknown word) do not throw
/// where they are met: they are collected, so that a user sees all of them at once, and finish() throws them.
/// Reading changes the document (it remembers what was read): one thread at a time.
class Document {
 public:
  Document();  // empty: every value is its default, so that resolved() lists all keys that its readers know
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  /// Reads a recipe. Its key `base` (a path or a list of paths, relative to the recipe) names recipes that it is merged
  /// over, the last one nearest; its table `sweep` is passed over (tasks/sweep.h). Throws Error for files that are
  /// missing, over 1 MB, no UTF-8, no TOML, nested deeper than 16 tables, or that name each other in a circle.
  static Document from_file(const std::filesystem::path& path);
  /// The same for a text, which has no folder and so no bases. `source` names it in origins and errors.
  static Document from_text(std::string_view text, std::string_view source);

  /// Overrides one value: "model.cache.ratio=0.25". The right side is TOML; a bare word is taken as a string.
  /// `source` names it in origins if it is not an option of the user. Throws Error for what is not an assignment.
  void set(std::string_view assignment, std::string_view source = kSetSource);

  /// Changes the default of one key, in the form of set(): for options that are newer than what the recipe belongs to.
  /// If the key is not written, its reader gets this value, with kEarlierSource as the origin; if that is the reader's
  /// own default, the origin is kDefaultSource. A key without a reader has no effect.
  void set_default(std::string_view assignment);

  /// Replaces a value that was read, in the form of set(): resolved() lists the new one. For values that are known
  /// later than the recipe is read.
  void settle(std::string_view assignment, std::string_view source);

  View root();

  /// Adds a problem that no single read can see. `key` is a whole path. The problem's position is that of the key, or
  /// if the key was not written, of the nearest table.
  void problem(const std::string& key, const std::string& message);

  /// What readers noted about values that they accept (View::note), a line each: `origin: key: message`.
  std::vector<std::string> notes() const;

  /// Throws Error when any read met a problem, or when a key was written that nothing read (with the nearest known
  /// name).
  void finish();

  struct Value {
    std::string key;   // "model.cache.ratio"
    std::string toml;  // the value as TOML text: 0.25, "grc", [1, 2]
    Origin origin;
  };
  /// Everything that was read, defaults included, in the order of reading.
  std::vector<Value> resolved() const;
  /// The same as one TOML file; with_origins adds `# origin` after each value.
  std::string resolved_toml(bool with_origins) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace cachet::config
