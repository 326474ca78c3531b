#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/hub/web_address.h"

namespace cachet::hub {

/// What a server answered, without the body.
struct Answer {
  int status = 0;
  WebAddress address;                          // that answered
  std::map<std::string, std::string> headers;  // names in lower case

  std::string header(const std::string& name) const;  // "" if there is none
  std::optional<uint64_t> length() const;             // Content-Length
  /// The whole size that Content-Range names, if the part begins at `start`.
  std::optional<uint64_t> size_of_range_from(uint64_t start) const;
};

/// The lines "Name: value" of headers as Answer::headers holds them. A line of a new status empties them.
void add_header_line(std::string_view line, Answer& answer);

}  // namespace cachet::hub
