#include "cachet/io/json/parse_json.h"

#include <cstddef>

namespace cachet::io {

bool nests_deeper_than(std::string_view json, int levels) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char symbol = json[i];
    if (in_string) {
      if (symbol == '\\') ++i;
      in_string = symbol != '"';
    } else if (symbol == '"') {
      in_string = true;
    } else if (symbol == '[' || symbol == '{') {
      if (++depth > levels) return true;
    } else if (symbol == ']' || symbol == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace cachet::io
