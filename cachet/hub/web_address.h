#pragma once

#include <string>
#include <string_view>

namespace cachet::hub {

/// An http or https address: scheme://host[:port]/path[?query]. A fragment of an address (#…) is not stored.
struct WebAddress {
  std::string scheme;  // "https" or "http"
  std::string host;    // host in lower case; IPv6 with brackets
  int port = 0;        // 443 (https) or 80 (http) if the address has no port
  std::string target;  // "/path?query", at least "/"

  std::string text() const;
  /// Whether two addresses have the same scheme, host and port.
  bool has_origin_of(const WebAddress& other) const;
  /// Whether the host is this machine: localhost, 127.0.0.0/8 or [::1].
  bool is_loopback() const;
};

/// Parses an address. Throws io::Error, which names the address, unless the scheme is https, or http for this machine.
/// Also throws io::Error if the address has no host, or has a user name, a control character or a space.
WebAddress parse_address(std::string_view text);

/// Returns the target of the header Location in the answer to `from`: a whole address, an address without a scheme, a
/// path, or a path relative to `from`. Throws io::Error like parse_address(), and for a redirect from https to http.
WebAddress redirected(const WebAddress& from, std::string_view location);

/// Encodes all bytes as %XX except letters, digits, -._~ and the bytes in `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace cachet::hub
