// Zip archives as torch.save writes them.
#include "cachet/io/compression/zip_archive.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/torch_archive.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  try {
    const io::MemorySource source(std::as_bytes(input));
    const io::ZipArchive archive(source, "input");
    for (const io::ZipMember& member : archive.members()) {
      std::vector<std::byte> bytes(member.size);
      archive.read(member, bytes);
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  const test::ZipPart first{"a/data.pkl", "\x80\x02}."}, second{"a/data/0", "12345678"}, before{"a/plain", "bytes", 0};
  test::ZipPart wide{"a/wide", "12345678"};
  wide.size = 0xFFFFFFFF;
  wide.extra = test::u16(1) + test::u16(16) + test::u64(8) + test::u64(8);
  return {test::zip_archive({first, second}), test::zip_archive({first, before}, {.zip64 = false}),
          test::zip_archive({first, wide}, {.says64 = true})};
}

}  // namespace cachet::fuzz
