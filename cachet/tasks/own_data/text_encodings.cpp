#include "cachet/tasks/own_data/text_encodings.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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

std::string as_utf8(std::string_view bytes, std::string* encoding) {
  const auto named = [&](const char* name, std::string text) {
    if (encoding != nullptr) *encoding = name;
    return with_plain_ends(std::move(text));
  };
  if (bytes.starts_with("\xFF\xFE")) return named("UTF-16", of_utf16(bytes.substr(2), false));
  if (bytes.starts_with("\xFE\xFF")) return named("UTF-16", of_utf16(bytes.substr(2), true));
  if (config::first_invalid_utf8(bytes) == std::string_view::npos)
    return named("UTF-8", std::string(data::without_byte_order_mark(bytes)));
  return named("Windows-1252", of_windows_1252(bytes));
}

std::string TextReader::read_bytes(const std::filesystem::path& file) {
  const data::TextFile source(file);
  std::string bytes(static_cast<size_t>(source.source().size()), '\0');
  source.source().read_at(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string TextReader::read(const std::filesystem::path& file) {
  std::string encoding, text = as_utf8(read_bytes(file), &encoding);
  ++files_;
  if (encoding != "UTF-8" && others_++ == 0) {
    first_ = file;
    encoding_ = encoding;
  }
  return text;
}

std::string TextReader::note() const {
  if (others_ == 0) return "";
  if (files_ == 1) return first_.string() + " is not UTF-8 and was read as " + encoding_;
  return std::to_string(others_) + " of " + std::to_string(files_) +
         (others_ == 1 ? " files is not UTF-8 and was read as " : " files are not UTF-8 and were read as ") +
         encoding_ + (others_ == 1 ? ": " : "; the first: ") + first_.string();
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
