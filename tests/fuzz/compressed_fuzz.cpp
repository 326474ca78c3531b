// gzip and xz streams, and what they hold.
#include "cachet/io/compression/compressed.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  try {
    io::decompress(input, 1 << 20, "input");
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  const std::string gzip =  // printf cachet | gzip -n
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x4e\x4c\xce\x48\x2d\x01\x00\x18\x6a\x45\xbb\x06\x00\x00"
      "\x00"s;
  const std::string gzip_of_repetition =  // the same of "cachet " nine times
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4e\x4c\xce\x48\x2d\x51\x48\x26\x93\x02\x00\xd3\x42\x30"
      "\x2e\x3f\x00\x00\x00"s;
  const std::string xz =  // printf cachet | xz --check=crc64
      "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\x01"
      "\x00\x05\x63\x61\x63\x68\x65\x74\x00\x00\x00\x79\xae\x48\x6d\xa1\x1b\x47\xe8\x00\x01\x1e\x06\xc1\x2f"
      "\xa4\x1d\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a"s;
  return {"plain bytes", gzip, gzip_of_repetition, xz, gzip + gzip_of_repetition, xz + "\0\0\0\0"s + xz};
}

}  // namespace cachet::fuzz
