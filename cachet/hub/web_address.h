#pragma once

#include <string>
#include <string_view>

namespace cachet::hub {

/// An http or https address: scheme://host[:port]/path[?query]. A fragment (#…) is not part of it.
struct WebAddress {
  std::string scheme;  // "https", "http"
  std::string host;    // lower case; of IPv6 with brackets
  int port = 0;        // 443 and 80 if the address names none
  std::string target;  // "/path?query", at least "/"

  std::string text() const;
  /// Whether both have one scheme, host and port.
  bool has_origin_of(const WebAddress& other) const;
  /// Whether the host is this machine: localhost, 127.0.0.0/8 or [::1].
  bool is_loopback() const;
};

/// Throws io::Error, which names the address: not http or https, no host, a user name in it, a control character or a
/// space, http to another machine.
WebAddress parse_address(std::string_view text);

/// The address that a Location header of the answer to `from` means: a whole address, one without a scheme, a path, or
/// a path that is relative to that of `from`. Throws as parse_address() does, and for a redirect from https to http.
WebAddress redirected(const WebAddress& from, std::string_view location);

/// %XX for all bytes but letters, digits and -._~ and those of `kept`.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace cachet::hub
