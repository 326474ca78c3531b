#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cachet/hub/answer.h"
#include "cachet/hub/web_address.h"
#include "cachet/io/error.h"

namespace cachet::hub {

/// The error for a server that cannot be reached, or a connection that ended too early. Another try may succeed.
class ConnectionError : public io::Error {
 public:
  using io::Error::Error;
};

struct Request {
  WebAddress address;
  bool only_headers = false;           // HEAD
  std::vector<std::string> headers{};  // "Range: bytes=100-"
  std::string token{};                 // sent as a bearer token to the origin of `address` only; "" = none
  bool until_linked = false;           // stop at the hub's answer that names a file elsewhere (X-Linked-ETag)
};

/// Receives the body of an answer of status 2xx in pieces.
using ReceivePiece = std::function<void(const Answer& answer, std::span<const std::byte> piece)>;

/// Whether this build has libcurl.
bool can_download();

/// Sends a request and follows redirects. The token is sent only to the first origin, and to none after a redirect to
/// another origin. Proxies are those of libcurl's variables (https_proxy, all_proxy, no_proxy); a request to this
/// machine uses none. Certificates are those of SSL_CERT_FILE and SSL_CERT_DIR, else the system's. Throws
/// ConnectionError, and io::Error if this build has no libcurl, if the server's certificate is not accepted, and for a
/// redirect that redirected() refuses or the eleventh one. Passes on exceptions of `receive`.
Answer send(Request request, const ReceivePiece& receive = {});

}  // namespace cachet::hub
