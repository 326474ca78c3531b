// Damaged and hostile files of images: each is refused with a line that names the file and the place.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "cachet/data/vision/cifar.h"
#include "cachet/data/vision/idx.h"
#include "cachet/io/error.h"
#include "tests/data/vision/written_image_files.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

using test::Bytes;

struct BadFiles {
  const char* name;
  std::map<std::string, Bytes> files;
  std::vector<std::string> message;  // parts of it
};

std::string refusal(const BadFiles& bad, const std::function<void(const std::filesystem::path&)>& read) {
  const test::TemporaryDirectory folder;
  uint64_t size = 0;
  for (const auto& [name, content] : bad.files) {
    test::write_bytes(folder / name, content);
    size += content.size();
  }
  return test::cheap_refusal<io::Error>(size, [&] { read(folder.path()); });
}

void expect_refused(const std::vector<BadFiles>& corpus,
                    const std::function<void(const std::filesystem::path&)>& read) {
  for (const BadFiles& bad : corpus) {
    SCOPED_TRACE(bad.name);
    const std::string message = refusal(bad, read);
    for (const std::string& part : bad.message) EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

const std::string kImages = "t10k-images-idx3-ubyte";
const std::string kLabels = "t10k-labels-idx1-ubyte";
const Bytes kGoodImages = test::idx_images(3, 4, 5);    // 16 + 60 bytes
const Bytes kGoodLabels = test::idx_labels({0, 1, 2});  // 8 + 3 bytes

BadFiles bad_idx_images(const char* name, Bytes images, std::vector<std::string> message) {
  message.push_back(kImages);
  return {name, {{kImages, std::move(images)}, {kLabels, kGoodLabels}}, std::move(message)};
}

BadFiles bad_idx_labels(const char* name, Bytes labels, std::vector<std::string> message) {
  message.push_back(kLabels);
  return {name, {{kImages, kGoodImages}, {kLabels, std::move(labels)}}, std::move(message)};
}

TEST(BadImages, IdxImages) {
  const auto header = [](uint32_t count, uint32_t height, uint32_t width) {
    return test::joined(test::idx_header(0x803, {count, height, width}), Bytes(60));
  };
  expect_refused(
      {
          bad_idx_images("empty", {}, {"byte 0:", "first 4 bytes"}),
          bad_idx_images("two bytes", {0, 0}, {"byte 2:", "first 4 bytes"}),
          bad_idx_images("magic alone", test::cut(kGoodImages, 4), {"byte 4:", "header of 16 bytes"}),
          bad_idx_images("header less a byte", test::cut(kGoodImages, 15), {"byte 15:", "header of 16 bytes"}),
          bad_idx_images("header alone", test::cut(kGoodImages, 16),
                         {"byte 16:", "0 bytes of data", "its header states 60"}),
          bad_idx_images("last byte missing", test::cut(kGoodImages, 75),
                         {"byte 75:", "59 bytes", "its header states 60"}),
          bad_idx_images("one byte more", test::cut(kGoodImages, 77), {"byte 76:", "1 bytes follow"}),
          bad_idx_images("twice", test::joined(kGoodImages, kGoodImages), {"byte 76:", "76 bytes follow"}),
          bad_idx_images("another format", test::joined({0x89, 'P', 'N', 'G'}, Bytes(72)),
                         {"byte 0:", "not an IDX file"}),
          bad_idx_images("little-endian magic", test::with_byte(test::with_byte(kGoodImages, 0, 3), 3, 0),
                         {"byte 0:", "not an IDX file"}),
          bad_idx_images("floats", test::with_byte(kGoodImages, 2, 0x0d), {"byte 2:", "element type 13"}),
          bad_idx_images("signed bytes", test::with_byte(kGoodImages, 2, 0x09), {"byte 2:", "element type 9"}),
          bad_idx_images("labels as images", kGoodLabels, {"byte 3:", "1 dimensions", "images have 3"}),
          bad_idx_images("four dimensions", test::with_byte(kGoodImages, 3, 4), {"byte 3:", "4 dimensions"}),
          bad_idx_images("no images", header(0, 4, 5), {"byte 4:", "dimension 0 is 0"}),
          bad_idx_images("no rows", header(3, 0, 5), {"byte 8:", "dimension 1 is 0"}),
          bad_idx_images("no columns", header(3, 4, 0), {"byte 12:", "dimension 2 is 0"}),
          bad_idx_images("huge count", header(0xffffffff, 4, 5), {"byte 76:", "its header states 85899345900"}),
          bad_idx_images("product beyond 64 bits", header(0xffffffff, 0xffffffff, 0xffffffff),
                         {"byte 8:", "4294967295 pixels"}),
          bad_idx_images("product that wraps to the right size", header(0xc0000000, 0x80000000, 0x28),
                         {"byte 8:", "2147483648 pixels"}),
          bad_idx_images("too wide", header(1, 1, 4097), {"byte 12:", "4097 pixels", "the maximum is 4096"}),
          bad_idx_images("another count than labels", test::idx_images(4, 4, 5), {"4 images", "3 labels"}),
          bad_idx_images("gzip cut short", test::cut(test::gzip(kGoodImages), 30), {}),
          bad_idx_images("gzip with a wrong checksum", test::with_byte(test::gzip(kGoodImages), 20, 0xff), {}),
          bad_idx_images("gzip of a cut file", test::gzip(test::cut(kGoodImages, 75)), {"byte 75:", "59 bytes"}),
          bad_idx_images("gzip in gzip", test::gzip(test::gzip(kGoodImages)), {"byte 0:", "not an IDX file"}),
          bad_idx_images("xz cut short", test::cut(test::xz(kGoodImages), 40), {}),
          bad_idx_images("xz with a flipped byte", test::with_byte(test::xz(kGoodImages), 30, 0xff), {}),
          bad_idx_images("xz of a long file", test::xz(test::joined(kGoodImages, {1, 2})), {"byte 76:", "2 bytes"}),
      },
      [](const auto& folder) {
        read_idx(folder, Split::test, {"a", "b", "c"});
      });
}

TEST(BadImages, IdxLabels) {
  expect_refused(
      {
          bad_idx_labels("empty", {}, {"byte 0:", "first 4 bytes"}),
          bad_idx_labels("header less a byte", test::cut(kGoodLabels, 7), {"byte 7:", "header of 8 bytes"}),
          bad_idx_labels("last label missing", test::cut(kGoodLabels, 10),
                         {"byte 10:", "2 bytes", "its header states 3"}),
          bad_idx_labels("one byte more", test::cut(kGoodLabels, 12), {"byte 11:", "1 bytes follow"}),
          bad_idx_labels("huge count", test::with_byte(kGoodLabels, 4, 0xff),
                         {"byte 11:", "its header states 4278190083"}),
          bad_idx_labels("no labels", test::idx_labels({}), {"byte 4:", "dimension 0 is 0"}),
          bad_idx_labels("images as labels", kGoodImages, {"byte 3:", "3 dimensions", "labels have 1"}),
          bad_idx_labels("label too large", test::idx_labels({0, 3, 1}),
                         {"byte 9:", "label 3 of image 1", "must be below the number of classes, 3"}),
          bad_idx_labels("label 255", test::idx_labels({0, 1, 255}), {"byte 10:", "label 255 of image 2"}),
          bad_idx_labels("another count than images", test::idx_labels({0, 1}), {"3 images", "2 labels"}),
          bad_idx_labels("gzip of a cut file", test::gzip(test::cut(kGoodLabels, 9)), {"byte 9:", "1 bytes"}),
          {"no labels file", {{kImages, kGoodImages}}, {"there is no " + kLabels, ".gz or .xz"}},
          {"no images file", {{kLabels, kGoodLabels}}, {"there is no " + kImages}},
          {"nothing", {}, {"there is no"}},
      },
      [](const auto& folder) {
        read_idx(folder, Split::test, {"a", "b", "c"});
      });
}

TEST(BadImages, Cifar10) {
  const Bytes good = test::cifar_records({{1}, {2}});
  const auto bad = [](const char* name, Bytes content, std::vector<std::string> message) {
    message.push_back("test_batch.bin");
    return BadFiles{name, {{"test_batch.bin", std::move(content)}}, std::move(message)};
  };
  expect_refused(
      {
          bad("empty", {}, {"the file is empty"}),
          bad("one byte", {1}, {"record 0:", "1 of its 3073 bytes"}),
          bad("cut in the first record", test::cut(good, 3072), {"record 0:", "3072 of its 3073"}),
          bad("cut in the second record", test::cut(good, 3074), {"record 1:", "1 of its 3073"}),
          bad("one byte more", test::cut(good, 6147), {"record 2:", "1 of its 3073"}),
          bad("label 10", test::cifar_records({{1}, {2}, {10}}),
              {"record 2:", "label 10 must be below the number of classes, 10"}),
          bad("label 255", test::cifar_records({{255}}), {"record 0:", "label 255"}),
          bad("records of CIFAR-100", test::cifar_records({{1, 2}}), {"record 1:", "1 of its 3073"}),
          bad("gzip cut short", test::cut(test::gzip(good), 60), {}),
          bad("xz cut short", test::cut(test::xz(good), 60), {}),
          bad("xz of a cut file", test::xz(test::cut(good, 5000)), {"record 1:", "1927 of its 3073"}),
          {"names too few",
           {{"test_batch.bin", good}, {"batches.meta.txt", {'a', '\n', 'b'}}},
           {"batches.meta.txt", "2 class names", "10 classes"}},
          {"name with a control character",
           {{"test_batch.bin", good},
            {"batches.meta.txt",
             {'a', '\n', 0x1b, '\n', 'c', '\n', 'd', '\n', 'e', '\n', 'f', '\n', 'g', '\n', 'h', '\n', 'i', '\n',
              'j'}}},
           {"batches.meta.txt:2:", "control characters"}},
          {"list of names beyond reason",
           {{"test_batch.bin", good}, {"batches.meta.txt", Bytes(100'000, 'x')}},
           {"batches.meta.txt"}},
          {"missing", {}, {"there is no test_batch.bin"}},
      },
      [](const auto& folder) { read_cifar(CifarKind::cifar10, folder, Split::test); });
}

TEST(BadImages, Cifar100) {
  const auto bad = [](const char* name, Bytes content, std::vector<std::string> message) {
    message.push_back("train.bin");
    return BadFiles{name, {{"train.bin", std::move(content)}}, std::move(message)};
  };
  expect_refused(
      {
          bad("fine label 100", test::cifar_records({{0, 99}, {0, 100}}),
              {"record 1:", "label 100 must be below the number of classes, 100"}),
          bad("coarse label 20", test::cifar_records({{20, 1}}), {"record 0:", "coarse label 20"}),
          bad("records of CIFAR-10", test::cifar_records({{1}}), {"record 0:", "3073 of its 3074"}),
          {"missing", {}, {"there is no train.bin"}},
      },
      [](const auto& folder) { read_cifar(CifarKind::cifar100, folder, Split::train); });
}

TEST(BadImages, AMissingTrainingBatchIsNamed) {
  std::map<std::string, Bytes> files;
  for (const char* batch : {"1", "2", "4", "5"}) {
    files[std::string("data_batch_") + batch + ".bin"] = test::cifar_records({{0}});
  }
  expect_refused({{"third batch", files, {"there is no data_batch_3.bin"}}},
                 [](const auto& folder) { read_cifar(CifarKind::cifar10, folder, Split::train); });
}

// Every prefix of a good file is refused, plain and packed.
TEST(BadImages, EveryTruncationIsRefused) {
  for (size_t size = 0; size < kGoodImages.size(); ++size) {
    EXPECT_THROW(parse_idx_images(test::cut(kGoodImages, size), "x"), io::Error) << size;
  }
  const test::TemporaryDirectory folder;
  const std::filesystem::path images = folder / kImages;
  test::write_bytes(folder / kLabels, kGoodLabels);
  for (const Bytes& packed : {test::gzip(kGoodImages), test::xz(kGoodImages)}) {
    for (size_t size = 0; size < packed.size(); ++size) {
      test::write_bytes(images, test::cut(packed, size));
      EXPECT_THROW(read_idx(folder.path(), Split::test, {"a", "b", "c"}), io::Error) << size;
    }
  }
}

}  // namespace
}  // namespace cachet::data
