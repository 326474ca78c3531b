// Names of the hub, addresses, redirects and lines of headers: what is taken must not lead out of the cache, nor to a
// connection without encryption, and must mean the same when it is read again. The first byte chooses the reader.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "cachet/hub/answer.h"
#include "cachet/hub/remote_name.h"
#include "cachet/hub/web_address.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char byte) { return byte > 0x20 && byte != 0x7F; });
}

void read_name(std::string_view text) {
  const auto name = hub::hub_name(text, "https://huggingface.co");
  if (!name) return;
  require(std::ranges::count(name->repository, '/') == 1 && hub::is_file_below(name->repository));
  require(is_printable(name->repository) && name->repository.find("..") == std::string::npos);
  require(hub::is_file_below(name->revision));
  require(name->file.empty() || hub::is_file_below(name->file));
  require(hub::is_remote(name->text()));
}

void check_address(const hub::WebAddress& address) {
  const std::string text = address.text();
  require(is_printable(text) && !address.host.empty() && address.target.starts_with('/'));
  require(address.port > 0 && address.port < 65536);
  require(address.scheme == "https" || (address.scheme == "http" && address.is_loopback()));
  try {
    const hub::WebAddress again = hub::parse_address(text);
    require(again.text() == text && again.has_origin_of(address));
  } catch (const io::Error&) {
    std::abort();
  }
}

void read_redirect(std::string_view location) {
  for (const char* from : {"https://example.org/a/b?c", "http://127.0.0.1:8000/a/b"}) {
    try {
      const hub::WebAddress start = hub::parse_address(from), end = hub::redirected(start, location);
      check_address(end);
      require(start.scheme != "https" || end.scheme == "https");
    } catch (const io::Error&) {
    }
  }
}

void read_headers(std::string_view text) {
  hub::Answer answer;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    hub::add_header_line(text.substr(0, end), answer);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto is_upper = [](unsigned char byte) { return byte >= 'A' && byte <= 'Z'; };
  for (const auto& [name, value] : answer.headers) {
    require(std::ranges::none_of(name, is_upper));
    require(value.empty() || (value.front() != ' ' && value.back() != '\r'));
  }
  answer.length();
  for (const uint64_t start : {uint64_t{0}, uint64_t{7}})
    if (const auto size = answer.size_of_range_from(start)) require(*size > start);
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  try {
    switch (input[0] % 4) {
      case 0:
        return read_name(text);
      case 1:
        return check_address(hub::parse_address(text));
      case 2:
        return read_redirect(text);
      default:
        return read_headers(text);
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {"\0hf:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k@refs%2Fpr%2F1/a/b.bin"s,
          "\0https://huggingface.co/timm/vit/resolve/main/a%20b.bin?download=true"s,
          "\1https://Example.org:8443/a/b?c=d#sha256=00"s,
          "\1http://[::1]:80/a"s,
          "\1http://127.0.0.1:9/"s,
          "\2//cdn.example.org/x"s,
          "\2../x?y"s,
          "\2http://localhost:1/x"s,
          "\3HTTP/1.1 206 Partial\r\nContent-Range: bytes 7-99/100\r\nETag: \"a\"\r\nContent-Length: 93\r\n\r\n"s,
          "\3HTTP/1.1 302 Found\nLocation: /x\nHTTP/1.1 200 OK\nX-Linked-Size: 12\n"s};
}

}  // namespace cachet::fuzz
