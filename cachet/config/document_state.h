#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/config/node.h"

namespace cachet::config {

/// What a Document and its views share: the merged tree, and what has been read from it.
struct Document::State {
  Node root{Table{}, Origin{kDefaultSource, 0}};
  Node earlier_defaults{Table{}, Origin{kDefaultSource, 0}};  // of Document::set_default()
  std::vector<Value> values;                                  // in the order of reading
  std::unordered_map<std::string, size_t> positions;          // key -> index in `values`
  std::set<std::string> tables{""};                           // the paths that views were opened at
  std::set<std::string> mentioned;                            // the keys that has() asked for
  std::vector<Problem> problems;
  std::vector<std::string> notes;

  /// Remembers a value that was read; the first reading of a key counts.
  void record(const std::string& key, std::string toml, Origin origin);

  /// Adds a problem, once however often it is met.
  void add_problem(const std::string& key, const std::string& message);

  /// Adds a note, once however often it is met.
  void add_note(const std::string& key, const std::string& message);

  bool is_read(const std::string& key) const { return positions.contains(key); }

  /// Where a key was written, or else the nearest table around it.
  Origin place(std::string key) const;
};

}  // namespace cachet::config
