#include "cachet/hub/transfer.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#ifdef CACHET_HAS_CURL
#include <curl/curl.h>
#endif

namespace cachet::hub {
namespace {

constexpr int kMaxRedirects = 10;

bool is_redirect(const Answer& answer) {
  constexpr std::array kRedirects{301, 302, 303, 307, 308};
  return std::ranges::find(kRedirects, answer.status) != kRedirects.end() && !answer.header("location").empty();
}

}  // namespace

#ifdef CACHET_HAS_CURL

namespace {

constexpr long kConnectSeconds = 10, kSilentSeconds = 30;

/// The variable's value if it is set, else the first of these files that exists. libcurl knows the certificates of the
/// system that it was built on, which may be another one.
std::string certificate_file() {
  if (const char* named = std::getenv("SSL_CERT_FILE"); named != nullptr && *named != '\0') return named;
  constexpr std::array kFiles{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                              "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
  std::error_code absent;
  for (const char* file : kFiles)
    if (std::filesystem::exists(file, absent)) return file;
  return {};
}

/// One exchange with a server, which libcurl's callbacks fill.
struct Exchange {
  CURL* handle = nullptr;
  Answer answer;
  const ReceivePiece* receive = nullptr;
  std::exception_ptr failure{};
};

size_t take_header(char* text, size_t size, size_t count, void* user) {
  add_header_line({text, size * count}, static_cast<Exchange*>(user)->answer);
  return size * count;
}

size_t take_piece(char* bytes, size_t size, size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  if (!*exchange.receive) return size * count;
  long status = 0;
  curl_easy_getinfo(exchange.handle, CURLINFO_RESPONSE_CODE, &status);
  exchange.answer.status = static_cast<int>(status);
  if (status / 100 != 2) return size * count;
  try {
    (*exchange.receive)(exchange.answer, std::as_bytes(std::span(bytes, size * count)));
  } catch (...) {  // libcurl is C
    exchange.failure = std::current_exception();
    return CURL_WRITEFUNC_ERROR;
  }
  return size * count;
}

[[noreturn]] void fail_exchange(CURLcode code, const std::string& message, const WebAddress& address) {
  const std::string origin = address.scheme + "://" + address.host + ":" + std::to_string(address.port);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      throw io::Error(origin + ": the server's certificate is not accepted (" + message +
                      "); install the package ca-certificates, or set SSL_CERT_FILE to a file of certificates");
    case CURLE_COULDNT_RESOLVE_PROXY:
      throw ConnectionError("the proxy for " + origin + " is not found (" + message + "); correct https_proxy");
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      throw ConnectionError(origin + " cannot be reached (" + message +
                            "); check the network, and set https_proxy if you need a proxy");
    default:
      throw ConnectionError("the connection to " + origin + " ended too early (" + message + ")");
  }
}

void set_address(CURL* handle, const WebAddress& address) {
  curl_easy_setopt(handle, CURLOPT_URL, address.text().c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  if (address.scheme == "http") curl_easy_setopt(handle, CURLOPT_PROXY, "");  // it goes to this machine
  const std::string certificates = certificate_file();
  if (!certificates.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, certificates.c_str());
  if (const char* folder = std::getenv("SSL_CERT_DIR"); folder != nullptr && *folder != '\0')
    curl_easy_setopt(handle, CURLOPT_CAPATH, folder);
}

Answer exchange_once(const Request& request, const ReceivePiece& receive) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(ready == CURLE_OK ? curl_easy_init() : nullptr,
                                                                   &curl_easy_cleanup);
  if (!handle) throw io::Error("libcurl cannot start; check the installed libcurl");
  Exchange state{handle.get(), {}, &receive};
  state.answer.address = request.address;
  set_address(handle.get(), request.address);
  curl_slist* list = curl_slist_append(nullptr, "Accept-Encoding: identity");
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  if (!request.token.empty()) list = curl_slist_append(list, ("Authorization: Bearer " + request.token).c_str());
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, &curl_slist_free_all);
  std::array<char, CURL_ERROR_SIZE> message{};
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle.get(), CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));  // none of them to a proxy
  curl_easy_setopt(handle.get(), CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_NOBODY, request.only_headers ? 1L : 0L);
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(handle.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  curl_easy_setopt(handle.get(), CURLOPT_USERAGENT, "cachet");
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, message.data());
  curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, &take_header);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &state);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &take_piece);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &state);
  const CURLcode code = curl_easy_perform(handle.get());
  if (state.failure) std::rethrow_exception(state.failure);
  if (code != CURLE_OK) {
    const std::string text = message[0] != '\0' ? message.data() : curl_easy_strerror(code);
    fail_exchange(code, text, request.address);
  }
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  state.answer.status = static_cast<int>(status);
  return std::move(state.answer);
}

}  // namespace

bool can_download() { return true; }

#else

namespace {

Answer exchange_once(const Request& request, const ReceivePiece&) {
  throw io::Error(request.address.text() +
                  ": this Cachet was built without libcurl and cannot download; download the file with another program "
                  "and give its path, or install libcurl4-openssl-dev and build again");
}

}  // namespace

bool can_download() { return false; }

#endif

Answer send(Request request, const ReceivePiece& receive) {
  for (int redirects = 0;; ++redirects) {
    Answer answer = exchange_once(request, receive);
    if (!is_redirect(answer) || (request.until_linked && !answer.header("x-linked-etag").empty())) return answer;
    if (redirects == kMaxRedirects)
      throw io::Error(request.address.text() + ": the server redirects more than " + std::to_string(kMaxRedirects) +
                      " times; check the address");
    const WebAddress next = redirected(answer.address, answer.header("location"));
    if (!next.has_origin_of(request.address)) request.token.clear();
    request.address = next;
  }
}

}  // namespace cachet::hub
