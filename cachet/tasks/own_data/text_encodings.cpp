#include "cachet/tasks/own_data/text_encodings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/config/utf8.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/io/error.h"

namespace cachet::tasks {
namespace {

void add_character(std::string& text, uint32_t code) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

/// What 0x80 to 0x9F are in Windows-1252; bytes that it leaves open stay as they are.
constexpr std::array<uint32_t, 32> kWindows1252{0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
                                                0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

std::string of_windows_1252(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    add_character(text, code >= 0x80 && code < 0xA0 ? kWindows1252[code - 0x80U] : code);
  }
  return text;
}

std::string of_utf16(std::string_view bytes, bool big_endian) {
  constexpr uint32_t kReplacement = 0xFFFD;
  const auto unit = [&](size_t i) {
    const auto first = static_cast<unsigned char>(bytes[i]), second = static_cast<unsigned char>(bytes[i + 1]);
    return big_endian ? uint32_t{first} << 8 | second : uint32_t{second} << 8 | first;
  };
  std::string text;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const uint32_t code = unit(i);
    const bool leads = code >= 0xD800 && code < 0xDC00;
    const uint32_t next = leads && i + 3 < bytes.size() ? unit(i + 2) : 0;
    if (leads && next >= 0xDC00 && next < 0xE000) {
      add_character(text, 0x10000 + ((code - 0xD800) << 10) + (next - 0xDC00));
      i += 2;
    } else {
      add_character(text, code >= 0xD800 && code < 0xE000 ? kReplacement : code);
    }
  }
  return text;
}

/// Whether a text without a mark is big-endian, if it can only be UTF-16: the letters of many languages have a zero
/// byte, always the first or always the second one.
std::optional<bool> order_of_unmarked_utf16(std::string_view bytes) {
  std::array<size_t, 2> zeros{};
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] == '\0') ++zeros[i % 2];
  const bool in_one_place = (zeros[0] == 0) != (zeros[1] == 0);
  if (bytes.size() % 2 != 0 || !in_one_place || (zeros[0] + zeros[1]) * 8 < bytes.size()) return std::nullopt;
  return zeros[0] > 0;
}

/// Lines that end in "\r\n" or "\r" end in "\n".
std::string with_plain_ends(std::string text) {
  size_t kept = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_return = text[i] == '\r';
    if (is_return && i + 1 < text.size() && text[i + 1] == '\n') continue;
    text[kept++] = is_return ? '\n' : text[i];
  }
  text.resize(kept);
  return text;
}

}  // namespace

std::string as_utf8(std::string_view bytes, TextEncoding* encoding) {
  const auto named = [&](const char* name, std::string text) {
    if (encoding != nullptr) *encoding = {name};
    return with_plain_ends(std::move(text));
  };
  if (bytes.starts_with("\xFF\xFE")) return named("UTF-16", of_utf16(bytes.substr(2), false));
  if (bytes.starts_with("\xFE\xFF")) return named("UTF-16", of_utf16(bytes.substr(2), true));
  if (const size_t zero = bytes.find('\0'); zero != std::string_view::npos) {
    if (const auto big_endian = order_of_unmarked_utf16(bytes)) return named("UTF-16", of_utf16(bytes, *big_endian));
    throw io::Error("line " + std::to_string(std::ranges::count(bytes.substr(0, zero), '\n') + 1) +
                    " has a zero byte, so this is not a text in UTF-8; save the text as UTF-8");
  }
  std::string text(data::without_byte_order_mark(bytes));
  if (config::first_invalid_utf8(text) == std::string::npos) return named("UTF-8", std::move(text));
  std::string repaired;
  TextEncoding mixed{"Windows-1252"};
  int64_t number = 0;
  text = with_plain_ends(std::move(text));
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const bool is_utf8 = config::first_invalid_utf8(line) == std::string_view::npos;
    if (!is_utf8 && mixed.lines++ == 0) mixed.first_line = number;
    repaired += is_utf8 ? std::string(line) : of_windows_1252(line);
    repaired += '\n';
  }
  if (!text.ends_with('\n')) repaired.pop_back();
  if (encoding != nullptr) *encoding = mixed;
  return repaired;
}

std::string TextReader::read_bytes(const std::filesystem::path& file) {
  const data::TextFile source(file);
  std::string bytes(static_cast<size_t>(source.source().size()), '\0');
  source.source().read_at(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string TextReader::read(const std::filesystem::path& file) {
  TextEncoding encoding;
  std::string text;
  try {
    text = as_utf8(read_bytes(file), &encoding);
  } catch (const io::Error& error) {
    const std::string what = error.what();
    throw io::Error(what.starts_with("line ") ? file.string() + ": " + what : what);
  }
  ++files_;
  if (encoding.name != "UTF-8" && others_++ == 0) {
    first_ = file;
    encoding_ = encoding;
  }
  return text;
}

std::string TextReader::note() const {
  if (others_ == 0) return "";
  std::string first = first_.string();
  if (encoding_.lines > 0) first += ":" + std::to_string(encoding_.first_line);
  if (encoding_.lines > 1) {
    first += " and " + config::counted(encoding_.lines - 1, "other line");
    if (files_ == 1) return first + " are not UTF-8 and were read as " + encoding_.name;
  }
  if (files_ == 1) return first + " is not UTF-8 and was read as " + encoding_.name;
  return std::to_string(others_) + " of " + std::to_string(files_) +
         (others_ == 1 ? " files is not UTF-8 and was read as " : " files are not UTF-8 and were read as ") +
         encoding_.name + (others_ == 1 ? ": " : "; the first: ") + first;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace cachet::tasks
