// Tar shards and their index files: samples must lie in the shard, and have names that stay in a folder. The first byte
// chooses the reader.
#include <algorithm>
#include <cstdlib>

#include "cachet/data/vision/shards/shard_index.h"
#include "cachet/data/vision/shards/shard_pattern.h"
#include "cachet/io/archives/tar_header.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/tar_files.h"

namespace cachet::fuzz {
namespace {

constexpr data::FileVersion kVersion{10240, 1234567890};

void check(const data::ShardIndex& index, uint64_t size) {
  for (const data::ShardSample& sample : index.samples) {
    if (sample.begin > size || sample.size > size - sample.begin || sample.label < 0) std::abort();
    const std::string path = "/" + sample.name + "/";
    if (sample.name.empty() || sample.name.front() == '/' || path.find("/../") != std::string::npos) std::abort();
    if (std::ranges::any_of(sample.name, [](unsigned char c) { return c < 0x20; })) std::abort();
  }
}

// A mutation rarely leaves a right checksum: the checksums of some inputs are corrected, so that their headers are
// read.
std::string with_checksums(std::span<const uint8_t> bytes) {
  std::string text(bytes.begin(), bytes.end());
  for (size_t block = 0; block + io::kTarBlock <= text.size(); block += io::kTarBlock) {
    if (text.compare(block + 257, 5, "ustar") != 0) continue;
    text.replace(block + 148, 8, "        ");
    uint64_t sum = 0;
    for (size_t i = block; i < block + io::kTarBlock; ++i) sum += static_cast<unsigned char>(text[i]);
    text.replace(block + 148, 8, test::octal_field(sum, 7) + ' ');
  }
  return text;
}

void read_shard(std::span<const std::byte> bytes) {
  const data::ShardIndex index = data::make_shard_index(io::MemorySource(bytes), "input");
  check(index, bytes.size());
  const data::FileVersion version{bytes.size(), 7};
  if (data::parse_shard_index(data::to_text(index, version), version) != index) std::abort();
}

// The names of an index are those of its shard: only their positions are checked.
void read_index(std::string_view text) {
  const auto index = data::parse_shard_index(text, kVersion);
  if (!index) return;
  for (const data::ShardSample& sample : index->samples)
    if (sample.begin > kVersion.size || sample.size > kVersion.size - sample.begin || sample.label < 0) std::abort();
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  const auto bytes = input.subspan(1);
  try {
    switch (input[0] % 4) {
      case 0:
        return read_shard(std::as_bytes(bytes));
      case 1: {
        const std::string text = with_checksums(bytes);
        return read_shard(std::as_bytes(std::span(text)));
      }
      case 2:
        return read_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      default:
        data::expand_braces({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  const std::string plain = test::tar_archive({{"0.jpg", "first"}, {"0.cls", "3"}, {"a/1.png", "x"}, {"a/1.cls", "0"}});
  const std::string pax = test::tar_archive({{"x", test::pax_line("path", "0.jpg") + test::pax_line("size", "5"), 'x'},
                                             {"0.jpg", "first"},
                                             {"././@LongLink", std::string(120, 'n') + ".cls", 'L'},
                                             {"0.cls", "3"}});
  const std::string sparse =
      test::tar_archive({{"x", test::pax_line("GNU.sparse.map", "0,5") + test::pax_line("GNU.sparse.size", "5"), 'x'},
                         {"0.jpg", "first"}});
  const data::ShardIndex index{{{"0.jpg", 512, 5, 3}, {"a/1.png", 2560, 1, 0}}, 1, "README"};
  return {std::string(1, '\0') + plain, "\1" + pax,     "\1" + sparse, "\2" + data::to_text(index, kVersion),
          "\3train-{000..015}.tar",     "\3{a,b}-*.tar"};
}

}  // namespace cachet::fuzz
