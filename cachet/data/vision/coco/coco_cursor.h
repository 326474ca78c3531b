#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/geometry/run_lengths.h"
#include "cachet/io/json/json_cursor.h"

/// Parsers for parts of COCO's files.
namespace cachet::data {

/// Reads a JSON array. Calls `element()` once for each value of the array; the call must read exactly this value.
template <class Element>
void read_array(io::JsonCursor& cursor, std::string_view what, Element element) {
  if (!cursor.take('[')) cursor.fail(std::string(what) + " must be an array");
  if (cursor.take(']')) return;
  do {
    element();
  } while (cursor.take(','));
  cursor.expect(']');
}

/// Reads a JSON object. Calls `value(key)` for each key of the object. The function `value` either reads the value and
/// returns true, or returns false to skip the value. None of the keys in `keys` may occur twice in the object.
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
      if ((seen >> i & 1) != 0) cursor.fail("'" + key + "' occurs twice in " + std::string(what));
      seen |= uint64_t{1} << i;
    }
    cursor.expect(':');
    if (!value(std::string_view(key))) cursor.skip_value();
  } while (cursor.take(','));
  cursor.expect('}');
}

/// A segmentation as run lengths, unchanged from the file. The parser has checked the types of the values, but not
/// whether the values are valid.
struct CocoRuns {
  std::vector<int64_t> size;    // height and width: two numbers in a valid file
  std::vector<int64_t> counts;  // run lengths in the plain form
  std::string text;             // run lengths in the compressed form
  bool compressed = false;
};

/// Reads {"size": [h, w], "counts": …}. Throws an error that names the file if "size" or "counts" has values of another
/// type.
CocoRuns read_coco_runs(io::JsonCursor& cursor);

/// Returns the mask that the run lengths describe. Throws std::invalid_argument if the size is not two numbers, or if
/// the run lengths are invalid.
geometry::RunLengths mask_of(const CocoRuns& runs);

/// Reads an array of numbers and stores up to `most` of them.
std::vector<double> read_numbers(io::JsonCursor& cursor, std::string_view what, size_t most);

}  // namespace cachet::data
