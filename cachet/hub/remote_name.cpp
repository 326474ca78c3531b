#include "cachet/hub/remote_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "cachet/io/error.h"

namespace cachet::hub {
namespace {

constexpr std::string_view kScheme = "hf:";
constexpr size_t kMaxPartBytes = 255;

[[noreturn]] void refuse_name(std::string_view text) {
  throw io::Error(io::in_quotes(text) +
                  " is not a valid name of a repository on the hub; write hf:OWNER/NAME, hf:OWNER/NAME@REVISION or "
                  "hf:OWNER/NAME/FILE, for example hf:timm/vit_tiny_patch16_224.augreg_in21k_ft_in1k");
}

/// The rules of the hub: letters, digits, "-", "_" and "."; "--" and ".." are not allowed, nor "-" and "." at the ends.
bool is_repository_part(std::string_view part) {
  const auto may_be = [](unsigned char byte) {
    return byte < 0x80 && (std::isalnum(byte) || byte == '-' || byte == '_' || byte == '.');
  };
  const auto is_edge = [](char symbol) { return symbol == '-' || symbol == '.'; };
  return !part.empty() && part.size() <= 96 && std::ranges::all_of(part, may_be) && !is_edge(part.front()) &&
         !is_edge(part.back()) && part.find("--") == std::string_view::npos &&
         part.find("..") == std::string_view::npos;
}

std::string decoded(std::string_view text) {
  const auto digit = [](char symbol) {
    const auto byte = static_cast<unsigned char>(symbol);
    return std::isdigit(byte) ? byte - '0' : std::isxdigit(byte) ? std::tolower(byte) - 'a' + 10 : -1;
  };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      plain += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// Takes what comes before the next slash.
std::string_view take_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('/'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

HubName checked(HubName name, std::string_view text) {
  const size_t slash = name.repository.find('/');
  const bool is_whole = slash != std::string::npos &&
                        is_repository_part(std::string_view(name.repository).substr(0, slash)) &&
                        is_repository_part(std::string_view(name.repository).substr(slash + 1)) &&
                        is_file_below(name.revision) && (name.file.empty() || is_file_below(name.file));
  if (!is_whole) refuse_name(text);
  return name;
}

HubName read_name(std::string_view text) {
  std::string_view rest = text.substr(kScheme.size());
  if (rest.starts_with("//")) rest.remove_prefix(2);  // hf://OWNER/NAME, as other programs write it
  HubName name;
  const std::string_view owner = take_part(rest);
  std::string_view repository = take_part(rest);
  if (const size_t at = repository.find('@'); at != std::string_view::npos) {
    name.revision = decoded(repository.substr(at + 1));  // refs%2Fpr%2F1
    repository = repository.substr(0, at);
  }
  name.repository = std::string(owner) + "/" + std::string(repository);
  name.file = rest;
  return checked(std::move(name), text);
}

}  // namespace

std::string HubName::text() const {
  return std::string(kScheme) + repository + "@" + revision + (file.empty() ? "" : "/" + file);
}

bool is_remote(std::string_view text) {
  return text.starts_with(kScheme) || text.starts_with("https://") || text.starts_with("http://");
}

std::optional<HubName> hub_name(std::string_view text, std::string_view endpoint) {
  if (text.starts_with(kScheme)) return read_name(text);
  if (!text.starts_with(std::string(endpoint) + "/")) return std::nullopt;
  std::string_view rest = text.substr(endpoint.size() + 1);
  rest = rest.substr(0, rest.find_first_of("?#"));
  HubName name;
  const std::string_view owner = take_part(rest);
  const std::string_view repository = take_part(rest);
  if (repository.empty()) return std::nullopt;
  name.repository = std::string(owner) + "/" + std::string(repository);
  if (rest.empty()) return checked(std::move(name), text);
  const std::string_view kind = take_part(rest);
  if (kind != "resolve" && kind != "blob" && kind != "raw" && kind != "tree") return std::nullopt;
  name.revision = decoded(take_part(rest));
  name.file = kind == "tree" ? std::string() : decoded(rest);
  return checked(std::move(name), text);
}

bool is_file_below(std::string_view name) {
  if (name.empty() || name.ends_with('/')) return false;
  while (!name.empty()) {
    const std::string_view part = take_part(name);
    if (part.empty() || part == "." || part == ".." || part.size() > kMaxPartBytes) return false;
    if (!std::ranges::all_of(part, [](unsigned char byte) { return byte >= 0x20 && byte != 0x7F && byte != '\\'; }))
      return false;
  }
  return true;
}

bool is_commit(std::string_view text) {
  return text.size() == 40 && std::ranges::all_of(text, [](unsigned char byte) { return std::isxdigit(byte) != 0; });
}

}  // namespace cachet::hub
