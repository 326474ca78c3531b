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
  bool until_linked = false;           // stop at the hub's answer for a file that is stored elsewhere (X-Linked-ETag)
};

/// Receives, in pieces, the body of an answer with a status 2xx.
using ReceivePiece = std::function<void(const Answer& answer, std::span<const std::byte> piece)>;

/// Whether this build has libcurl.
bool can_download();

/// Sends a request and follows redirects. The token is sent only to the first origin; after a redirect to another
/// origin it is sent to none. The proxies are those of libcurl's variables (https_proxy, all_proxy, no_proxy); a
/// request to this machine uses no proxy. The certificates are those of SSL_CERT_FILE and SSL_CERT_DIR, else the
/// system's. Throws ConnectionError, and io::Error if this build has no libcurl, if the server's certificate is not
/// accepted, for the eleventh redirect, and for one that redirected() refuses. Passes on exceptions of `receive`.
Answer send(Request request, const ReceivePiece& receive = {});

}  // namespace cachet::hub
