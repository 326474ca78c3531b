#include "app/output/printed_stream.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "cachet/config/utf8.h"
#include "cachet/report/text/ascii.h"
#include "cachet/report/text/terminal.h"

namespace cachet::app {
namespace {

/// How many bytes at the end of a text are the beginning of a code point whose other bytes are still to come.
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

/// Whether a word may begin at a position of a text: "s" is not a word of "does".
bool begins_word(std::string_view text, size_t at) {
  return at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
}

/// The arguments that have a line end, and the parts of such arguments before and after a "=", the longest first.
std::vector<std::string> broken_words(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    const size_t sign = std::min(argument.find('='), argument.size());
    for (const std::string& word :
         {argument, argument.substr(0, sign), argument.substr(std::min(sign + 1, argument.size()))})
      if (word.find('\n') != std::string::npos && word != "\n") words.push_back(word);
  }
  std::ranges::sort(words, std::greater(), &std::string::size);
  return words;
}

}  // namespace

bool PrintedStream::Buffer::pass_on(bool all) {
  const size_t whole = waiting_.size() - (all ? 0 : incomplete_bytes(waiting_));
  const std::string text = shown(std::string_view(waiting_).substr(0, whole));
  waiting_.erase(0, whole);
  const auto size = static_cast<std::streamsize>(text.size());
  return target_->sputn(text.data(), size) == size;
}

std::string PrintedStream::Buffer::shown(std::string_view text) const {
  std::string one_line(text);
  for (const std::string& word : words_)
    for (size_t at = 0; (at = one_line.find(word, at)) != std::string::npos;) {
      if (!begins_word(one_line, at)) {
        ++at;
        continue;
      }
      const std::string escaped = config::visible(word, "");
      one_line.replace(at, word.size(), escaped);
      at += escaped.size();
    }
  const std::string visible = escapes_ ? config::visible(one_line) : one_line;
  return ascii_ ? report::ascii_text(visible) : visible;
}

PrintedStream::Buffer::int_type PrintedStream::Buffer::overflow(int_type byte) {
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  waiting_ += traits_type::to_char_type(byte);
  return pass_on(/*all=*/false) ? byte : traits_type::eof();
}

std::streamsize PrintedStream::Buffer::xsputn(const char* bytes, std::streamsize count) {
  waiting_.append(bytes, static_cast<size_t>(count));
  return pass_on(/*all=*/false) ? count : 0;
}

int PrintedStream::Buffer::sync() {
  // Unbuffered streams sync after each write: a code point may be cut there.
  return pass_on(/*all=*/false) ? target_->pubsync() : -1;
}

PrintedStream::PrintedStream(std::ostream& stream, int descriptor, Printed what,
                             const std::vector<std::string>& arguments)
    : stream_(stream),
      buffer_(stream.rdbuf(), /*escapes=*/true, !report::takes_unicode(descriptor),
              what == Printed::messages ? broken_words(arguments) : std::vector<std::string>()) {
  if (what == Printed::messages || report::is_terminal(descriptor)) before_ = stream_.rdbuf(&buffer_);
}

PrintedStream::~PrintedStream() {
  if (before_ == nullptr) return;
  buffer_.pass_on(/*all=*/true);
  stream_.flush();
  stream_.rdbuf(before_);
}

}  // namespace cachet::app
