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
  bool only_headers = false;           // whether to send HEAD instead of GET
  std::vector<std::string> headers{};  // lines such as "Range: bytes=100-"
  std::string token{};                 // sent as a bearer token to the origin of `address` only; "" = none
  bool until_linked = false;           // whether to stop at an answer with X-Linked-ETag (a file outside the hub)
};

/// A function that receives the body of an answer with a status 2xx, piece by piece.
using ReceivePiece = std::function<void(const Answer& answer, std::span<const std::byte> piece)>;

/// Whether this build has libcurl.
bool can_download();

/// Sends a request and follows redirects. The token is sent only to the origin (scheme, host and port) of the request,
/// and no longer after a redirect to another origin. libcurl's variables (https_proxy, all_proxy, no_proxy) set the
/// proxies; a request to this machine uses no proxy. SSL_CERT_FILE and SSL_CERT_DIR replace the system's certificates.
/// Throws ConnectionError, or io::Error if this build has no libcurl, if the server's certificate is not accepted, at
/// the eleventh redirect, or if redirected() throws. If `receive` throws an exception, send() passes the exception on
/// to the caller.
Answer send(Request request, const ReceivePiece& receive = {});

}  // namespace cachet::hub
