#include "cachet/data/vision/class_folders.h"

#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cachet/data/order/equal_batches.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/image_loader.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/image.h"
#include "cachet/io/tensors/png.h"
#include "tests/support/exif.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/support/written_class_folders.h"

namespace cachet::data {
namespace {

std::filesystem::path path_of(const LabelledImages& samples, int64_t index) {
  return dynamic_cast<const ImageFiles&>(samples.images()).path(index);
}

class ClassFoldersTest : public ::testing::Test {
 protected:
  ClassFoldersTest() { test::write_class_folders(root(), {"dog", "ant", "cat"}, 4, 2); }
  std::filesystem::path root() const { return folder_ / "images"; }
  DatasetOptions options() const {
    DatasetOptions options{.kind = &kClassFolders, .root = root(), .classes = 3};
    return options;
  }
  std::shared_ptr<const LabelledImages> open(Split split, const DatasetOptions& options) const {
    return open_class_folders(root(), split, options, {});
  }
  std::string refusal(Split split, const DatasetOptions& options) const {
    return test::thrown_message<io::Error>([&] { open(split, options); });
  }
  std::string refusal(Split split = Split::train) const { return refusal(split, options()); }

  test::TemporaryDirectory folder_;
};

TEST_F(ClassFoldersTest, AreSortedByClassAndName) {
  std::vector<int64_t> seen;
  const auto images =
      open_class_folders(root(), Split::train, options(), [&](int64_t files) { seen.push_back(files); });
  EXPECT_EQ(images->labels().class_names(), (std::vector<std::string>{"ant", "cat", "dog"}));
  ASSERT_EQ(images->size(), 12);
  EXPECT_EQ(path_of(*images, 0), root() / "train/ant/0.jpg");
  EXPECT_EQ(path_of(*images, 11), root() / "train/dog/3.jpg");
  EXPECT_EQ(images->labels()[4], 1);
  EXPECT_FALSE(images->images().has_one_size());
  EXPECT_EQ(images->images().shape().channels, 3);
  EXPECT_EQ(open(Split::test, options())->size(), 6);
  EXPECT_EQ(seen, (std::vector<int64_t>{4, 8, 12}));
}

TEST_F(ClassFoldersTest, DecodeWhatIsAskedFor) {
  const auto images = open(Split::train, options());
  const at::Tensor image = images->images().image(1);
  EXPECT_EQ(image.sizes(), (std::vector<int64_t>{3, 37, 47}));
  const at::Tensor part = images->images().region(1, [](const io::ImageSize&) {
    return io::ImageRequest{{3, 4, 20, 30}, {20, 30}};
  });
  EXPECT_TRUE(part.equal(image.narrow(1, 3, 20).narrow(2, 4, 30).permute({1, 2, 0})));
  DatasetOptions grey = options();
  grey.folders.channels = 1;
  for (const int64_t index : {0, 5}) EXPECT_EQ(open(Split::train, grey)->images().image(index).size(0), 1) << index;
  EXPECT_EQ(images->images().image(5).size(0), 3) << "a grey file";
}

TEST_F(ClassFoldersTest, KeepAShareOfTheImages) {
  DatasetOptions some = options();
  some.fraction = 0.5;
  const auto images = open_dataset(some, Split::train);
  EXPECT_EQ(images->size(), 6);
  EXPECT_EQ(images->labels().class_names().size(), 3u);
  some.limit = 2;
  EXPECT_EQ(open_dataset(some, Split::test)->size(), 2);
}

TEST_F(ClassFoldersTest, TakeNestedFoldersLinksAndEveryImageName) {
  const auto dog = root() / "train/dog";
  std::filesystem::create_directories(dog / "more/still more");
  for (const char* name : {"more/still more/a.JPG", "b.jpeg", "c.Jpe", "d.jfif"}) {
    test::write_bytes(dog / name, test::jpeg_file(8, 8));
  }
  const auto png = io::encode_png(at::randint(256, {5, 6, 1}, at::kByte));
  test::write_bytes(dog / "e.PNG", {reinterpret_cast<const char*>(png.data()), png.size()});
  test::write_bytes(dog / ".hidden", "not looked at");
  std::filesystem::create_directory_symlink(root() / "train/cat", root() / "train/eel");
  DatasetOptions four = options();
  four.classes = 4;
  const auto images = open(Split::train, four);
  EXPECT_EQ(images->size(), 12 + 5 + 4);
  EXPECT_EQ(images->labels().class_names()[3], "eel");
  for (int64_t i = 0; i < images->size(); ++i) EXPECT_EQ(images->images().image(i).size(0), 3);
}

TEST_F(ClassFoldersTest, CountTheFilesThatArePassedOver) {
  EXPECT_EQ(open(Split::train, options())->passed_over()->note(), std::nullopt);
  for (const char* name : {".DS_Store", "cat/._0.jpg", "list.txt"}) test::write_bytes(root() / "train" / name, "x");
  const std::string first = ". The first one is " + (root() / "train/.DS_Store").string();
  EXPECT_EQ(open(Split::train, options())->passed_over()->note(),
            "3 files were skipped (2 hidden, 1 not JPEG or PNG files of a class)" + first);
  test::write_bytes(root() / "train/dog/Thumbs.db", "x");
  DatasetOptions skipping = options();
  skipping.folders.skip_other_files = true;
  const auto images = open(Split::train, skipping);
  EXPECT_EQ(images->passed_over()->count(), 4);
  EXPECT_EQ(images->subset({0})->passed_over()->count(), 4) << "of the whole split";
  EXPECT_EQ(images->with_classes({2, 1, 0}, {"c", "b", "a"})->passed_over()->count(), 4);
  EXPECT_EQ(open(Split::test, skipping)->passed_over()->count(), 0);
}

TEST_F(ClassFoldersTest, RefuseFilesThatAreNoImages) {
  test::write_bytes(root() / "train/cat/Thumbs.db", "x");
  EXPECT_EQ(refusal(),
            (root() / "train/cat/Thumbs.db").string() +
                ": is not a .jpg, .jpeg, .jpe, .jfif or .png file; remove such files from the class folders, "
                "or set data.skip_other_files = true");
  test::write_bytes(root() / "train/dog/readme", "x");
  EXPECT_NE(refusal().find("(and neither is 1 other)"), std::string::npos);
  DatasetOptions skipping = options();
  skipping.folders.skip_other_files = true;
  EXPECT_EQ(open(Split::train, skipping)->size(), 12);
}

TEST_F(ClassFoldersTest, RefuseFoldersThatDoNotFit) {
  DatasetOptions other = options();
  other.classes = 1000;
  EXPECT_EQ(refusal(Split::train, other), (root() / "train").string() +
                                              ": contains 3 folders of classes, but data.classes is 1000; name a "
                                              "folder that has these classes, or set data.classes = 3");
  other = options();
  other.folders.validation_folder = "test";
  EXPECT_EQ(refusal(Split::test, other),
            (root() / "test").string() +
                ": there is no such folder; data.validation_folder must be the name of an existing folder");
  other.folders.train_folder = "training";
  EXPECT_NE(refusal(Split::train, other).find("data.train_folder"), std::string::npos);

  std::filesystem::create_directory(root() / "val/bee");
  EXPECT_EQ(refusal(Split::test), (root() / "val/bee").string() + ": " + (root() / "train").string() +
                                      " has no folder with the name of this class");
  std::filesystem::remove(root() / "val/bee");
  std::filesystem::remove_all(root() / "val/cat");
  EXPECT_EQ(open(Split::test, options())->labels()[2], 2) << "dogs stay dogs without a cat before them";

  std::filesystem::remove_all(root() / "train/ant");
  std::filesystem::create_directory(root() / "train/ant");
  EXPECT_EQ(refusal(), (root() / "train/ant").string() + ": the class has no JPEG or PNG files");
}

TEST_F(ClassFoldersTest, AreMatchedWithGivenClassesByName) {
  DatasetOptions named = options();
  named.class_names = {"dog", "fox", "ant", "cat"};
  named.classes = 4;
  const auto images = open(Split::test, named);
  EXPECT_EQ(images->labels().class_names(), named.class_names);
  EXPECT_EQ(images->labels().values(), (std::vector<int64_t>{2, 2, 3, 3, 0, 0})) << "ant, cat, dog";
  EXPECT_EQ(refusal(Split::train, named), (root() / "train").string() +
                                              ": has no folder 'fox', but this is a class of data.class_names; add the "
                                              "folder, or remove the name from the list");
  std::filesystem::rename(root() / "val/cat", root() / "val/Cat");
  EXPECT_NE(refusal(Split::test, named).find("the model has no class 'Cat'"), std::string::npos);
  EXPECT_EQ(class_folder_names(named, root()), (std::vector<std::string>{"ant", "cat", "dog"}));
}

TEST_F(ClassFoldersTest, RefuseAnEmptyFolderAndOneWithoutClasses) {
  std::filesystem::remove_all(root() / "train");
  std::filesystem::create_directory(root() / "train");
  EXPECT_EQ(refusal(), (root() / "train").string() + ": contains no folders of classes");
  test::write_bytes(root() / "train/1.jpg", test::jpeg_file(8, 8));
  EXPECT_EQ(refusal(), (root() / "train").string() + ": contains no folders of classes");
}

TEST_F(ClassFoldersTest, EndCirclesOfLinks) {
  std::filesystem::create_directory_symlink(root() / "train/cat", root() / "train/cat/again");
  EXPECT_NE(refusal().find("has too many levels of folders"), std::string::npos);
}

TEST_F(ClassFoldersTest, EvaluationAloneNeedsNoTrainingImages) {
  std::filesystem::remove_all(root() / "train");
  const auto images = open(Split::test, options());
  EXPECT_EQ(images->labels().class_names(), (std::vector<std::string>{"ant", "cat", "dog"}));
  EXPECT_EQ(images->size(), 6);
}

TEST_F(ClassFoldersTest, AFolderOfClassesIsItsOwnValidationSplit) {
  const auto expected = open(Split::test, options());
  const auto images = open_class_folders(root() / "val", Split::test, options(), {});
  ASSERT_EQ(images->size(), expected->size());
  EXPECT_EQ(images->labels().class_names(), expected->labels().class_names());
  for (int64_t i = 0; i < images->size(); ++i) EXPECT_EQ(path_of(*images, i), path_of(*expected, i));
  const auto refused = [&](const std::filesystem::path& folder, Split split) {
    return test::thrown_message<io::Error>([&] { open_class_folders(folder, split, options(), {}); });
  };
  EXPECT_NE(refused(root() / "val", Split::train).find("data.train_folder must be the name of an existing folder"),
            std::string::npos);
  EXPECT_NE(refused(folder_.path(), Split::test).find("contains 1 folder of a class, but data.classes is 3"),
            std::string::npos);
}

TEST_F(ClassFoldersTest, ABadImageIsNamedByTheLoader) {
  const std::string good = test::jpeg_file(30, 30);
  test::write_bytes(root() / "train/cat/1.jpg", good.substr(0, good.size() / 2));
  const auto images = open(Split::train, options());
  const ImageTransform transform(images->images().shape(), {{0.5, 0.5, 0.5}, {1, 1, 1}}, {.crop = CropKind::resized},
                                 {.image_size = 16});
  for (const int64_t workers : {0, 2}) {
    const auto order =
        std::make_shared<EqualBatches>(images->size(), EqualBatchOptions{.batch_size = 6, .shuffle = false});
    const ImageLoader loader(images, transform, order, {.workers = workers});
    EXPECT_EQ(test::thrown_message<std::runtime_error>([&] {
                for (auto stream = loader.iterate(0); stream.next();) continue;
              }),
              "sample 5: " + (root() / "train/cat/1.jpg").string() + ": JPEG: truncated: the file is incomplete");
  }
}

TEST_F(ClassFoldersTest, WarningsAreErrorsWhereStrict) {
  test::write_bytes(root() / "train/ant/0.jpg", test::jpeg_file(30, 30) + "more");
  DatasetOptions strict = options();
  const auto lenient = open(Split::train, strict);
  EXPECT_TRUE(lenient->images().notes().empty());
  for (int i = 0; i < 3; ++i) lenient->images().image(0);
  ASSERT_EQ(lenient->images().notes().size(), 1U);
  EXPECT_TRUE(lenient->images().notes()[0].starts_with(
      "image read with a warning: " + (root() / "train/ant/0.jpg").string() + ": "));
  strict.folders.strict_images = true;
  EXPECT_THROW(open(Split::train, strict)->images().image(0), io::Error);
}

TEST_F(ClassFoldersTest, CountsImagesThatAreNotTurnedUpright) {
  const auto first = root() / "train/ant/0.jpg", second = root() / "train/ant/1.jpg";
  test::write_bytes(first, test::with_exif(test::jpeg_file(20, 30), 6));
  test::write_bytes(second, test::with_exif(test::jpeg_file(20, 30), 3));
  const auto stored = open(Split::train, options());
  for (int64_t i = 0; i < stored->size(); ++i) stored->images().image(i);
  for (int64_t i = 0; i < 2; ++i) EXPECT_EQ(stored->images().image(0).sizes(), (at::IntArrayRef{3, 20, 30}));
  EXPECT_EQ(stored->images().notes(),
            std::vector<std::string>{"2 images are stored rotated or mirrored, and not turned upright; to turn such "
                                     "images upright, set data.orientation = \"apply\". One of these images is " +
                                     first.string()});
  DatasetOptions turning = options();
  turning.orientation = io::OrientationRule::apply;
  const auto upright = open(Split::train, turning);
  EXPECT_EQ(upright->images().image(0).sizes(), (at::IntArrayRef{3, 30, 20}));
  EXPECT_TRUE(upright->images().notes().empty());
}

TEST_F(ClassFoldersTest, HaveThreeSplits) {
  DatasetOptions three = options();
  EXPECT_FALSE(has_validation_images(three));
  EXPECT_THROW(open_dataset(three, Split::validation), std::invalid_argument);
  test::write_class_folders(folder_ / "more", {"dog", "ant", "cat"}, 1, 1);
  std::filesystem::rename(folder_ / "more/train", root() / "test");
  three.folders.test_folder = "test";
  EXPECT_TRUE(has_validation_images(three) && has_test_images(three));
  EXPECT_EQ(open_dataset(three, Split::train)->size(), 12);
  EXPECT_EQ(open_dataset(three, Split::validation)->size(), 6);
  EXPECT_EQ(open_dataset(three, Split::test)->size(), 3);
}

TEST_F(ClassFoldersTest, HoldOutAPartOfEachClass) {
  DatasetOptions part = options();
  part.validation_fraction = 0.5;
  const auto training = open_dataset(part, Split::train), validation = open_dataset(part, Split::validation);
  EXPECT_EQ(training->size(), 6);
  EXPECT_EQ(validation->size(), 6);
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(validation->labels()[i], i / 2);
  EXPECT_EQ(open_dataset(part, Split::test)->size(), 6);
  const std::string digest = digest_of_validation_indices(part, std::filesystem::current_path());
  part.subset_seed = 1;
  EXPECT_NE(digest_of_validation_indices(part, std::filesystem::current_path()), digest);
  EXPECT_EQ(digest_of_validation_indices(options(), std::filesystem::current_path()), "");
}

TEST_F(ClassFoldersTest, MayLieInTheRootItself) {
  DatasetOptions single = options();
  single.root = root() / "train";
  single.folders.train_folder = single.folders.validation_folder = ".";
  single.validation_fraction = 0.25;
  EXPECT_FALSE(has_test_images(single));
  EXPECT_EQ(open_dataset(single, Split::train)->size(), 9);
  EXPECT_EQ(open_dataset(single, Split::validation)->size(), 3);
  EXPECT_EQ(path_of(*open_dataset(single, Split::train), 0).parent_path(), root() / "train/ant");
}

}  // namespace
}  // namespace cachet::data
