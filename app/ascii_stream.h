#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace cachet::app {

/// While it lives, a stream whose descriptor is a terminal without UTF-8 (report::takes_unicode) writes
/// report::ascii_text() of what it is given; any other stream stays as it is.
class AsciiStream {
 public:
  AsciiStream(std::ostream& stream, int descriptor);
  ~AsciiStream();
  AsciiStream(const AsciiStream&) = delete;
  AsciiStream& operator=(const AsciiStream&) = delete;

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(std::streambuf* target) : target_(target) {}
    /// Whole code points, or all that there is; false where the target takes no more.
    bool pass_on(bool all);

   protected:
    int_type overflow(int_type byte) override;
    std::streamsize xsputn(const char* bytes, std::streamsize count) override;
    int sync() override;

   private:
    std::streambuf* target_;
    std::string waiting_;  // a code point that is not complete yet
  };

  std::ostream& stream_;
  Buffer buffer_;
  std::streambuf* before_ = nullptr;  // nothing where the stream stays as it is
};

}  // namespace cachet::app
