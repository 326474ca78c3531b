#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/hub/web_address.h"

namespace cachet::hub {

/// The answer of a server, without its body.
struct Answer {
  int status = 0;
  WebAddress address;                          // the address that answered
  std::map<std::string, std::string> headers;  // names in lower case

  std::string header(const std::string& name) const;  // "" if there is none
  std::optional<uint64_t> length() const;             // Content-Length
  /// Returns the size of the whole file by Content-Range, if the received part begins at `start`.
  std::optional<uint64_t> size_of_range_from(uint64_t start) const;
};

/// Adds a line "Name: value" to Answer::headers. A line with a new status empties the headers.
void add_header_line(std::string_view line, Answer& answer);

}  // namespace cachet::hub
