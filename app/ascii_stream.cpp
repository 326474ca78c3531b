#include "app/ascii_stream.h"

#include <algorithm>

#include "cachet/report/ascii.h"
#include "cachet/report/terminal.h"

namespace cachet::app {
namespace {

/// How many bytes at the end of a text begin a code point that goes on behind it.
size_t incomplete_bytes(const std::string& text) {
  for (size_t back = 1; back <= std::min<size_t>(text.size(), 3); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

bool AsciiStream::Buffer::pass_on(bool all) {
  const size_t whole = waiting_.size() - (all ? 0 : incomplete_bytes(waiting_));
  const std::string ascii = report::ascii_text(std::string_view(waiting_).substr(0, whole));
  waiting_.erase(0, whole);
  const auto size = static_cast<std::streamsize>(ascii.size());
  return target_->sputn(ascii.data(), size) == size;
}

AsciiStream::Buffer::int_type AsciiStream::Buffer::overflow(int_type byte) {
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  waiting_ += traits_type::to_char_type(byte);
  return pass_on(/*all=*/false) ? byte : traits_type::eof();
}

std::streamsize AsciiStream::Buffer::xsputn(const char* bytes, std::streamsize count) {
  waiting_.append(bytes, static_cast<size_t>(count));
  return pass_on(/*all=*/false) ? count : 0;
}

int AsciiStream::Buffer::sync() {
  // Unbuffered streams sync behind each write: a code point may be cut there.
  return pass_on(/*all=*/false) ? target_->pubsync() : -1;
}

AsciiStream::AsciiStream(std::ostream& stream, int descriptor) : stream_(stream), buffer_(stream.rdbuf()) {
  if (!report::takes_unicode(descriptor)) before_ = stream_.rdbuf(&buffer_);
}

AsciiStream::~AsciiStream() {
  if (before_ == nullptr) return;
  buffer_.pass_on(/*all=*/true);
  stream_.flush();
  stream_.rdbuf(before_);
}

}  // namespace cachet::app
