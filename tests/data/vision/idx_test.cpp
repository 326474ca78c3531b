#include "cachet/data/vision/idx.h"

#include <gtest/gtest.h>

#include "tests/data/vision/written_image_files.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

const std::vector<std::string> kThreeClasses{"a", "b", "c"};

TEST(Idx, ParsesWithoutCopying) {
  const test::Bytes bytes = test::idx_images(2, 3, 4);
  const IdxImages images = parse_idx_images(bytes, "x");
  EXPECT_EQ(images.count, 2);
  EXPECT_EQ(images.height, 3);
  EXPECT_EQ(images.width, 4);
  EXPECT_EQ(images.pixels.data(), bytes.data() + 16);
  EXPECT_EQ(images.pixels.size(), 24u);
}

TEST(Idx, ReadsPlainGzipAndXz) {
  const test::Bytes images = test::idx_images(3, 2, 5);
  const test::Bytes labels = test::idx_labels({2, 0, 1});
  const test::TemporaryDirectory plain, gzipped, mixed;
  test::write_bytes(plain / "train-images-idx3-ubyte", images);
  test::write_bytes(plain / "train-labels-idx1-ubyte", labels);
  test::write_bytes(gzipped / "train-images-idx3-ubyte.gz", test::gzip(images));
  test::write_bytes(gzipped / "train-labels-idx1-ubyte.gz", test::gzip(labels));
  test::write_bytes(mixed / "train-images-idx3-ubyte.xz", test::xz(images));
  test::write_bytes(mixed / "train-labels-idx1-ubyte", test::gzip(labels));  // the bytes count, not the name
  for (const auto* folder : {&plain, &gzipped, &mixed}) {
    const auto read = read_idx(folder->path(), Split::train, kThreeClasses);
    EXPECT_EQ(read->images().shape(), (ImageShape{1, 2, 5}));
    EXPECT_EQ(read->labels().values(), (std::vector<int64_t>{2, 0, 1}));
    EXPECT_EQ(read->images().image(2)[0][1][4].item<int64_t>(), 7 * 2 + 9);
  }
}

TEST(Idx, TheTestSplitHasFilesOfItsOwn) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "t10k-images-idx3-ubyte", test::idx_images(1, 2, 2));
  test::write_bytes(folder / "t10k-labels-idx1-ubyte", test::idx_labels({1}));
  EXPECT_EQ(read_idx(folder.path(), Split::test, kThreeClasses)->size(), 1);
  EXPECT_ANY_THROW(read_idx(folder.path(), Split::train, kThreeClasses));
}

}  // namespace
}  // namespace cachet::data
