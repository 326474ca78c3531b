#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/geometry/run_lengths.h"
#include "cachet/io/json/json_cursor.h"

/// Pieces that COCO's files are made of.
namespace cachet::data {

/// Reads an array: calls `element()` for each of its values, which takes it.
template <class Element>
void read_array(io::JsonCursor& cursor, std::string_view what, Element element) {
  if (!cursor.take('[')) cursor.fail(std::string(what) + " must be an array");
  if (cursor.take(']')) return;
  do {
    element();
  } while (cursor.take(','));
  cursor.expect(']');
}

/// Reads an object: calls `value(key)` for each of its keys, which takes the value and returns true, or returns false
/// to have it skipped. `keys` may occur once.
template <class Value>
void read_object(io::JsonCursor& cursor, std::string_view what, const std::vector<std::string_view>& keys,
                 Value value) {
  if (!cursor.take('{')) cursor.fail(std::string(what) + " must be an object");
  uint64_t seen = 0;
  if (cursor.take('}')) return;
  do {
    const std::string key = cursor.string("a key", 1024);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] != key) continue;
      if ((seen >> i & 1) != 0) cursor.fail("'" + key + "' is there twice in " + std::string(what));
      seen |= uint64_t{1} << i;
    }
    cursor.expect(':');
    if (!value(std::string_view(key))) cursor.skip_value();
  } while (cursor.take(','));
  cursor.expect('}');
}

/// A segmentation in the form of run lengths, as it stands in a file: nothing of it is checked but its types.
struct CocoRuns {
  std::vector<int64_t> size;    // should be two numbers
  std::vector<int64_t> counts;  // of the plain form
  std::string text;             // of the compressed form
  bool compressed = false;
};

/// Reads {"size": [h, w], "counts": …}. What is of no such type is an error in the file.
CocoRuns read_coco_runs(io::JsonCursor& cursor);

/// The mask. Throws std::invalid_argument where the size is not two numbers, and as RunLengths does.
geometry::RunLengths mask_of(const CocoRuns& runs);

/// Numbers of an array, of which at most `most` are stored.
std::vector<double> read_numbers(io::JsonCursor& cursor, std::string_view what, size_t most);

}  // namespace cachet::data
