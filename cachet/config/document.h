#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/problem.h"

namespace cachet::config {

class View;

/// A TOML table merged from a recipe, its bases and `--set` options. A Document also records where each of its values
/// was written.
///
/// Each component reads its options from the document through a View. A read that meets a problem (wrong type, out of
/// range, unknown word) does not throw. The document collects the problems, and finish() throws all of them at once. A
/// read changes the document, which records the values that were read, so only one thread may use a document at a time.
class Document {
 public:
  Document();  // an empty document: every read returns its default, and resolved() lists all keys of the readers
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  /// Reads a recipe and merges it over the recipes that its key `base` names (paths relative to the recipe); later
  /// bases override earlier ones. Ignores the table `sweep` (tasks/sweep.h). Throws Error for files that are missing,
  /// over 1 MB, not UTF-8, not TOML or nested deeper than 16 tables, and for files that name each other in a circle.
  static Document from_file(const std::filesystem::path& path);
  /// Reads the text of a recipe that has no key `base`. `source` is the name of the text in origins and errors.
  static Document from_text(std::string_view text, std::string_view source);

  /// Overrides one value: "model.cache.ratio=0.25". The text after the equals sign is TOML; a bare word is taken as a
  /// string. The document records `source` as the origin of the value. Throws Error if the text is not an assignment.
  void set(std::string_view assignment, std::string_view source = kSetSource);

  /// Changes the default of one key, so that a recipe for an earlier version means the same as before. `assignment` has
  /// the syntax that set() describes. If the document does not have the key, reading the key returns the default from
  /// `assignment`, with the origin kEarlierSource. If this default equals the original default, the origin is
  /// kDefaultSource. If no code reads the key, set_default() has no effect.
  void set_default(std::string_view assignment);

  /// Replaces a value that was read; resolved() lists the new value. `assignment` has the syntax that set() describes.
  /// settle() is for values that become known after the recipe is read.
  void settle(std::string_view assignment, std::string_view source);

  View root();

  /// Adds a problem that concerns several values. `key` is the full path of a key. The problem gets the position (file
  /// and line) of the key, or of the nearest table around the key if the document does not have the key.
  void problem(const std::string& key, const std::string& message);

  /// Returns the notes on accepted values that View::note() recorded, each one as `origin: key: message`.
  std::vector<std::string> notes() const;

  /// Throws Error if a read met a problem, or if the document has a key that no reader read. For an unread key, the
  /// message suggests the nearest known name.
  void finish();

  struct Value {
    std::string key;   // full path of the key: "model.cache.ratio"
    std::string toml;  // the value as TOML text: 0.25, "grc", [1, 2]
    Origin origin;
  };
  /// Returns all values that were read, including defaults, in the order of reading.
  std::vector<Value> resolved() const;
  /// Returns the text of one TOML file with all values that were read. If `with_origins` is true, each value is
  /// followed by a comment `# origin`.
  std::string resolved_toml(bool with_origins) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace cachet::config
