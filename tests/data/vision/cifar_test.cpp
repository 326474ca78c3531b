#include "cachet/data/vision/cifar.h"

#include <gtest/gtest.h>

#include "tests/data/vision/written_image_files.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

test::Bytes text_bytes(std::string_view text) { return {text.begin(), text.end()}; }

TEST(Cifar, ReadsTheFiveTrainingBatchesOneAfterTheOther) {
  const test::TemporaryDirectory folder;
  for (uint8_t batch = 1; batch <= 5; ++batch) {
    const test::Bytes records = test::cifar_records({{batch}, {static_cast<uint8_t>(batch + 4)}});
    const std::string name = "data_batch_" + std::to_string(batch) + ".bin";
    if (batch == 1) test::write_bytes(folder / name, records);
    if (batch == 2) test::write_bytes(folder / (name + ".gz"), test::gzip(records));
    if (batch > 2) test::write_bytes(folder / (name + ".xz"), test::xz(records));
  }
  const auto read = read_cifar(CifarKind::cifar10, folder.path(), Split::train);
  EXPECT_EQ(read->labels().values(), (std::vector<int64_t>{1, 5, 2, 6, 3, 7, 4, 8, 5, 9}));
  EXPECT_EQ(read->images().shape(), (ImageShape{3, 32, 32}));
  EXPECT_EQ(read->images().image(3)[2][1][30].item<int64_t>(), (5 + 2 * 1024 + 32 + 30) % 256);
  EXPECT_EQ(read->labels().class_names()[6], "frog");
}

TEST(Cifar, TakesTheNamesOfTheFolder) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "test_batch.bin", test::cifar_records({{9}}));
  test::write_bytes(folder / "batches.meta.txt", text_bytes("a\nb\nc\nd\ne\nf\ng\nh\ni\r\nj\n\n"));
  const auto read = read_cifar(CifarKind::cifar10, folder.path(), Split::test);
  EXPECT_EQ(read->labels().class_names()[8], "i");
  EXPECT_EQ(read->labels().class_names()[9], "j");
}

TEST(Cifar, Cifar100HasFineLabels) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "test.bin", test::cifar_records({{19, 99}, {0, 3}}));
  test::write_bytes(folder / "train.bin", test::cifar_records({{1, 42}}));
  const auto read = read_cifar(CifarKind::cifar100, folder.path(), Split::test);
  EXPECT_EQ(read->labels().values(), (std::vector<int64_t>{99, 3}));
  EXPECT_EQ(read->images().image(1)[0][0][0].item<int64_t>(), 5);
  EXPECT_EQ(read->labels().classes(), 100);
  EXPECT_EQ(read->labels().class_names()[99], "99");
  EXPECT_EQ(read_cifar(CifarKind::cifar100, folder.path(), Split::train)->labels().values(),
            (std::vector<int64_t>{42}));
}

}  // namespace
}  // namespace cachet::data
