#pragma once

#include <string>
#include <string_view>

namespace cachet::hub {

/// An http or https address: scheme://host[:port]/path[?query]. A fragment (#…) is not part of it.
struct WebAddress {
  std::string scheme;  // "https", "http"
  std::string host;    // lower case; IPv6 with brackets
  int port = 0;        // 443 or 80 if the address has none
  std::string target;  // "/path?query", at least "/"

  std::string text() const;
  /// Whether both addresses have the same scheme, host and port.
  bool has_origin_of(const WebAddress& other) const;
  /// Whether the host is this machine: localhost, 127.0.0.0/8 or [::1].
  bool is_loopback() const;
};

/// Parses an address. Throws io::Error with the address if it is not http or https, has no host, has a user name, a
/// control character or a space, or is an http address of another machine.
WebAddress parse_address(std::string_view text);

/// Returns the address that a Location header in the answer to `from` means: a whole address, one without a scheme, a
/// path, or a path relative to that of `from`. Throws as parse_address() does, and for a redirect from https to http.
WebAddress redirected(const WebAddress& from, std::string_view location);

/// Encodes all bytes as %XX except letters, digits, -._~ and the bytes in `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace cachet::hub
