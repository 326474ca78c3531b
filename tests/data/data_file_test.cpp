#include "cachet/data/data_file.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "tests/support/packed_bytes.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

TEST(DataFile, PrefersThePlainFileThenGzipThenXz) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "numbers.xz", test::xz(test::Bytes{3}));
  EXPECT_EQ(read_data_file(folder.path(), "numbers", 100).bytes, test::Bytes{3});
  test::write_bytes(folder / "numbers.gz", test::gzip(test::Bytes{2}));
  EXPECT_EQ(read_data_file(folder.path(), "numbers", 100).bytes, test::Bytes{2});
  test::write_bytes(folder / "numbers", test::Bytes{1});
  const DataFile plain = read_data_file(folder.path(), "numbers", 100);
  EXPECT_EQ(plain.bytes, test::Bytes{1});
  EXPECT_EQ(plain.path, folder / "numbers");
}

TEST(DataFile, NamesWhatIsMissing) {
  const test::TemporaryDirectory folder;
  EXPECT_FALSE(has_data_file(folder.path(), "numbers"));
  try {
    find_data_file(folder.path(), "numbers");
    FAIL();
  } catch (const io::Error& error) {
    EXPECT_EQ(error.what(), "there is no numbers (plain, .gz or .xz) in " + folder.path().string());
  }
}

// A few bytes of gzip may unpack to gigabytes: the limit counts what comes out.
TEST(DataFile, RefusesMoreThanTheLimit) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "bomb.gz", test::gzip(test::Bytes(10'000'000)));
  test::write_bytes(folder / "flat", test::Bytes(1001));
  EXPECT_THROW(read_data_file(folder.path(), "bomb", 1000), io::Error);
  EXPECT_THROW(read_data_file(folder.path(), "flat", 1000), io::Error);
  EXPECT_EQ(read_data_file(folder.path(), "flat", 1001).bytes.size(), 1001u);
}

}  // namespace
}  // namespace cachet::data
