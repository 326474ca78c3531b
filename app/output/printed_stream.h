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
  results,   // control characters are escaped only on a terminal; programs receive the original bytes
};

/// During the lifetime of this object, a stream escapes control characters except line ends and tabs (config::visible).
/// If its descriptor is a terminal without UTF-8 (report::takes_unicode), it writes signs in ASCII
/// (report::ascii_text). In messages, line ends within `arguments` are also escaped, so that they do not end a line.
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
    /// Writes complete code points only or, with `all`, all pending bytes. Returns false if the target takes no more.
    bool pass_on(bool all);

   protected:
    int_type overflow(int_type byte) override;
    std::streamsize xsputn(const char* bytes, std::streamsize count) override;
    int sync() override;

   private:
    std::string shown(std::string_view text) const;

    std::streambuf* target_;
    bool escapes_, ascii_;
    std::vector<std::string> words_;  // arguments with line ends to escape, the longest first
    std::string waiting_;             // incomplete code point
  };

  std::ostream& stream_;
  Buffer buffer_;
  std::streambuf* before_ = nullptr;  // null if the stream is not changed
};

}  // namespace cachet::app
