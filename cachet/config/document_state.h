#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/config/node.h"

namespace cachet::config {

/// Common state of a Document and its views: the merged tree, and the values that were read from it.
struct Document::State {
  Node root{Table{}, Origin{kDefaultSource, 0}};
  Node earlier_defaults{Table{}, Origin{kDefaultSource, 0}};  // defaults from Document::set_default()
  std::vector<Value> values;                                  // values in the order of reading
  std::unordered_map<std::string, size_t> positions;          // key -> index in `values`
  std::set<std::string> tables{""};                           // paths of the tables for which a view was opened
  std::set<std::string> mentioned;                            // the keys for which has() was called
  std::vector<Problem> problems;
  std::vector<std::string> notes;

  /// Records a value that was read. If a key is read several times, only the first reading counts.
  void record(const std::string& key, std::string toml, Origin origin);

  /// Adds a problem. A repeated problem is added only once.
  void add_problem(const std::string& key, const std::string& message);

  /// Adds a note. A repeated note is added only once.
  void add_note(const std::string& key, const std::string& message);

  bool is_read(const std::string& key) const { return positions.contains(key); }

  /// Returns the origin of a key, or of the nearest table around the key if the key was not written.
  Origin place(std::string key) const;
};

}  // namespace cachet::config
