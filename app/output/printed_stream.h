#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

namespace cachet::app {

/// The kind of text that a stream writes.
enum class Printed {
  messages,  // control characters, which come from files and arguments, are escaped
  results,   // the same on a terminal alone: programs get the bytes of names and texts as they are
};

/// While it lives, a stream escapes control characters but line ends and tabs (config::visible), and writes signs in
/// ASCII (report::ascii_text) if its descriptor is a terminal without UTF-8 (report::takes_unicode). In messages, the
/// line ends of `arguments` are escaped too: they end no line of a message.
class PrintedStream {
 public:
  PrintedStream(std::ostream& stream, int descriptor, Printed what, const std::vector<std::string>& arguments = {});
  ~PrintedStream();
  PrintedStream(const PrintedStream&) = delete;
  PrintedStream& operator=(const PrintedStream&) = delete;

 private:
  class Buffer : public std::streambuf {
   public:
    Buffer(std::streambuf* target, bool escapes, bool ascii, std::vector<std::string> words)
        : target_(target), escapes_(escapes), ascii_(ascii), words_(std::move(words)) {}
    /// Whole code points, or all that there is; false where the target takes no more.
    bool pass_on(bool all);

   protected:
    int_type overflow(int_type byte) override;
    std::streamsize xsputn(const char* bytes, std::streamsize count) override;
    int sync() override;

   private:
    std::string shown(std::string_view text) const;

    std::streambuf* target_;
    bool escapes_, ascii_;
    std::vector<std::string> words_;  // with line ends that are escaped, the longest first
    std::string waiting_;             // a code point that is not complete yet
  };

  std::ostream& stream_;
  Buffer buffer_;
  std::streambuf* before_ = nullptr;  // nothing where the stream stays as it is
};

}  // namespace cachet::app
