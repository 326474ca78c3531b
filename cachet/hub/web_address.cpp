#include "cachet/hub/web_address.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "cachet/io/error.h"

namespace cachet::hub {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& problem) {
  throw io::Error(io::in_quotes(text) + " " + problem);
}

int default_port(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

/// Four numbers from 0 to 255, the first 127. A name such as 127.0.0.1.example.org is not one.
bool is_loopback_number(std::string_view host) {
  int numbers = 0;
  while (true) {
    const size_t dot = std::min(host.find('.'), host.size());
    int value = -1;
    const auto [end, error] = std::from_chars(host.data(), host.data() + dot, value);
    if (error != std::errc() || end != host.data() + dot || value < 0 || value > 255) return false;
    if (++numbers == 1 && value != 127) return false;
    if (dot == host.size()) return numbers == 4;
    host.remove_prefix(dot + 1);
  }
}

/// A name, numbers with dots, or the numbers of IPv6 in brackets. Which bytes a name may have is the resolver's matter.
bool is_host(std::string_view host) {
  if (!host.starts_with('[')) return host.find_first_of("[]:\\%\"<>^`{|}") == std::string_view::npos;
  const std::string_view numbers = host.substr(1, host.size() - 2);
  return host.size() > 2 && host.ends_with(']') &&
         numbers.find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  return lower;
}

}  // namespace

std::string WebAddress::text() const {
  const std::string named_port = port == default_port(scheme) ? "" : ":" + std::to_string(port);
  return scheme + "://" + host + named_port + target;
}

bool WebAddress::has_origin_of(const WebAddress& other) const {
  return scheme == other.scheme && host == other.host && port == other.port;
}

bool WebAddress::is_loopback() const { return host == "localhost" || host == "[::1]" || is_loopback_number(host); }

WebAddress parse_address(std::string_view text) {
  const bool is_clean = std::ranges::all_of(text, [](unsigned char byte) { return byte > 0x20 && byte != 0x7F; });
  if (!is_clean) refuse(text, "has a space or a control character; write a space as %20, or correct the address");
  const std::string_view whole = text;
  text = text.substr(0, text.find('#'));
  WebAddress address;
  const size_t colon = text.find("://");
  if (colon != std::string_view::npos) address.scheme = lower_case(text.substr(0, colon));
  if (address.scheme != "https" && address.scheme != "http") refuse(whole, "is not an https address");
  text.remove_prefix(colon + 3);
  const size_t path = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, path);
  address.target = text.substr(path);
  if (!address.target.starts_with('/')) address.target.insert(0, "/");
  if (authority.find('@') != std::string_view::npos)
    throw io::Error("the address has a user name; leave the user name out, because addresses are printed");
  address.port = default_port(address.scheme);
  const size_t bracket = authority.rfind(']'), port = authority.rfind(':');
  if (port != std::string_view::npos && (bracket == std::string_view::npos || port > bracket)) {
    const std::string_view digits = authority.substr(port + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (error != std::errc() || end != digits.data() + digits.size() || address.port < 1 || address.port > 65535)
      refuse(whole, "has no valid port; a port must be a number from 1 to 65535");
    authority = authority.substr(0, port);
  }
  address.host = lower_case(authority);
  if (address.host.empty()) refuse(whole, "has no host");
  if (!is_host(address.host)) refuse(whole, "has no valid host; correct the address");
  if (address.scheme == "http" && !address.is_loopback())
    refuse(whole, "is not encrypted; use https (http works only for this machine: localhost, 127.0.0.1)");
  return address;
}

WebAddress redirected(const WebAddress& from, std::string_view location) {
  std::string absolute(location);
  if (location.starts_with("//")) {
    absolute = from.scheme + ":" + absolute;
  } else if (location.find("://") == std::string_view::npos) {
    WebAddress base = from;
    const std::string path = from.target.substr(0, from.target.find('?'));
    base.target = location.starts_with('/') ? absolute : path.substr(0, path.rfind('/') + 1) + absolute;
    absolute = base.text();
  }
  WebAddress to = parse_address(absolute);
  if (from.scheme == "https" && to.scheme == "http")
    throw io::Error(io::in_quotes(from.text()) +
                    " redirects to an address without encryption, and Cachet does not follow such a redirect");
  return to;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF", kPlain = "-._~";
  std::string encoded;
  for (const char symbol : text) {
    const auto byte = static_cast<unsigned char>(symbol);
    const bool is_plain = (byte < 0x80 && std::isalnum(byte)) || kPlain.find(symbol) != std::string_view::npos ||
                          kept.find(symbol) != std::string_view::npos;
    if (is_plain)
      encoded += symbol;
    else
      ((encoded += '%') += kDigits[byte >> 4]) += kDigits[byte & 15];
  }
  return encoded;
}

}  // namespace cachet::hub
