#pragma once

#include <string>
#include <string_view>

namespace cachet::hub {

/// An http or https address: scheme://host[:port]/path[?query]. A fragment (#…) is not part of it.
struct WebAddress {
  std::string scheme;  // "https", "http"
  std::string host;    // lower case; IPv6 with brackets
  int port = 0;        // if the address names none, 443 or 80
  std::string target;  // "/path?query", at least "/"

  std::string text() const;
  /// Whether both have the same scheme, host and port.
  bool has_origin_of(const WebAddress& other) const;
  /// Whether the host is this machine: localhost, 127.0.0.0/8 or [::1].
  bool is_loopback() const;
};

/// Parses an address. Throws io::Error that names the address: not http or https, no host, a user name in it, a control
/// character or a space, http to another machine.
WebAddress parse_address(std::string_view text);

/// Returns the address of a Location header in the answer to `from`: a whole address, one without a scheme, a path, or
/// a path relative to that of `from`. Throws as parse_address() does, and for a redirect from https to http.
WebAddress redirected(const WebAddress& from, std::string_view location);

/// Encodes all bytes as %XX except letters, digits, -._~ and those of `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace cachet::hub
