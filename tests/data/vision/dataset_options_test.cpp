#include "cachet/data/vision/dataset_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/io/error.h"
#include "tests/data/vision/written_image_files.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_data.h"

namespace cachet::data {
namespace {

DatasetOptions options_of(const std::string& text) {
  auto document = config::Document::from_text("[data]\n" + text, "recipe.toml");
  const DatasetOptions options = read_dataset_options(document.root().table("data"));
  document.finish();
  return options;
}

std::string problems_of(const std::string& text) {
  try {
    options_of(text);
  } catch (const config::Error& error) {
    return error.what();
  }
  return "";
}

// Sets CACHET_DATA, or unsets it, until the end of the scope.
class SearchRoot {
 public:
  explicit SearchRoot(const std::string& value) {
    if (const char* before = std::getenv("CACHET_DATA")) before_ = before;
    set(value);
  }
  ~SearchRoot() { set(before_); }

 private:
  static void set(const std::string& value) {
    value.empty() ? unsetenv("CACHET_DATA") : setenv("CACHET_DATA", value.c_str(), 1);
  }
  std::string before_;
};

// 100 training and 20 test images of two pixels; image i starts with pixel 7 i.
void write_idx_folder(const std::filesystem::path& folder) {
  test::write_bytes(folder / "train-images-idx3-ubyte", test::idx_images(100, 1, 2));
  test::write_bytes(folder / "train-labels-idx1-ubyte", test::idx_labels(test::Bytes(100, 4)));
  test::write_bytes(folder / "t10k-images-idx3-ubyte", test::idx_images(20, 1, 2));
  test::write_bytes(folder / "t10k-labels-idx1-ubyte", test::idx_labels(test::Bytes(20, 4)));
}

std::vector<int64_t> first_pixels(const std::shared_ptr<const LabelledImages>& samples) {
  std::vector<int64_t> pixels;
  for (int64_t i = 0; i < samples->size(); ++i) pixels.push_back(samples->images().image(i)[0][0][0].item<int64_t>());
  return pixels;
}

TEST(DatasetOptions, AreReadFromARecipe) {
  const DatasetOptions options =
      options_of("kind = \"cifar100\"\nroot = \"cifar\"\nfraction = 0.5\nlimit = 1000\nsubset_seed = 4");
  EXPECT_EQ(options.kind, &kCifar100);
  EXPECT_EQ(options.root, "cifar");
  EXPECT_EQ(options.fraction, 0.5);
  EXPECT_EQ(options.limit, 1000);
  EXPECT_EQ(options.subset_seed, 4u);
  EXPECT_EQ(options_of("root = \"x\"\nclasses = 26").classes, 26);
  const DatasetOptions folders = options_of(
      "kind = \"class_folders\"\nroot = \"x\"\nchannels = 1\ntrain_folder = \"a\"\nvalidation_folder = \"b\"\n"
      "skip_other_files = true\nstrict_images = true");
  EXPECT_EQ(folders.classes, 1000);
  EXPECT_EQ(folders.folders.channels, 1);
  EXPECT_EQ(folders.folders.train_folder, "a");
  EXPECT_EQ(folders.folders.validation_folder, "b");
  EXPECT_TRUE(folders.folders.skip_other_files && folders.folders.strict_images);
}

TEST(DatasetOptions, NameTheKeyThatIsWrong) {
  EXPECT_NE(problems_of("kind = \"idx\"").find("data.root"), std::string::npos);
  EXPECT_NE(problems_of("root = \"x\"\nkind = \"cifar\"").find("data.kind"), std::string::npos);
  EXPECT_NE(problems_of("root = \"x\"\nfraction = 0").find("data.fraction"), std::string::npos);
  EXPECT_NE(problems_of("root = \"x\"\nfraction = 1.1").find("data.fraction"), std::string::npos);
  EXPECT_NE(problems_of("root = \"x\"\nlimit = -1").find("data.limit"), std::string::npos);
  EXPECT_NE(problems_of("root = \"x\"\nclasses = 257").find("data.classes"), std::string::npos);
  EXPECT_NE(problems_of("root = \"x\"\nchannels = 3").find("data.channels"), std::string::npos);
  const std::string folders = "root = \"x\"\nkind = \"class_folders\"\n";
  EXPECT_NE(problems_of(folders + "channels = 2").find("data.channels: must be 1 or 3"), std::string::npos);
  EXPECT_NE(problems_of(folders + "validation_folder = \"\"").find("data.validation_folder"), std::string::npos);
  EXPECT_NE(problems_of(folders + "classes = 0").find("data.classes"), std::string::npos);
  EXPECT_NE(problems_of("root = \"x\"\nkind = \"mnist\"\nclasses = 10").find("data.classes"), std::string::npos);
}

// Over the class folders of a base, whose keys mean nothing to CIFAR-10.
TEST(DatasetOptions, KeysThatABaseLeavesBehindAreNoMistakes) {
  auto document =
      config::Document::from_text("[data]\nkind = \"class_folders\"\nclasses = 7\nchannels = 1", "base.toml");
  document.set("data.kind=cifar10");
  document.set("data.root=x");
  EXPECT_EQ(read_dataset_options(document.root().table("data")).kind, &kCifar10);
  EXPECT_NO_THROW(document.finish());
  document.set("data.classes=7");
  read_dataset_options(document.root().table("data"));
  EXPECT_THROW(document.finish(), config::Error) << "written for CIFAR-10";
}

TEST(DatasetOptions, OfAModelNeedNoRoot) {
  config::Document document;
  const DatasetOptions options = read_dataset_options(document.root().table("data"), DataRoot::optional);
  EXPECT_NO_THROW(document.finish());
  EXPECT_TRUE(options.root.empty());
  try {
    find_dataset_root(options, std::filesystem::current_path());
    FAIL();
  } catch (const io::Error& error) {
    EXPECT_NE(std::string(error.what()).find("data.root: names nothing"), std::string::npos) << error.what();
  }
}

TEST(DatasetOptions, KindsAreReadOverDefaultsOfTheirOwn) {
  DatasetOptions folders{.kind = &kClassFolders, .classes = 12};
  config::Document empty;
  read_image_kind(empty.root(), folders);
  EXPECT_EQ(folders.kind, &kClassFolders);
  EXPECT_EQ(folders.classes, 12);
  auto idx = config::Document::from_text("kind = \"idx\"", "recipe.toml");
  read_image_kind(idx.root(), folders);
  EXPECT_EQ(folders.classes, 10) << "12 was for class folders";
}

TEST(ImageKinds, HaveWholeRecords) {
  for (const ImageKind* kind : image_kinds()) {
    const DatasetOptions options = options_of("root = \"x\"\nkind = \"" + std::string(kind->name) + "\"");
    EXPECT_EQ(options.kind, kind);
    EXPECT_FALSE(expected_files(options).empty());
    const ImageTraits traits = image_traits(options);
    EXPECT_EQ(traits.classes, kind->classes);
    EXPECT_EQ(static_cast<int64_t>(kind->class_names(traits.classes).size()), traits.classes);
    EXPECT_EQ(options.own_sizes(), traits.shape.height == 0);
    EXPECT_EQ(kind->mean.size(), kind->std.size());
    EXPECT_TRUE(kind->mean.empty() || static_cast<int64_t>(kind->mean.size()) == traits.shape.channels);
    EXPECT_THROW(kind->open(options, Split::train, "/nowhere", {}), io::Error);
  }
  EXPECT_EQ(image_traits(options_of("root = \"x\"\nclasses = 26")).classes, 26);
  const std::string grey = "root = \"x\"\nkind = \"class_folders\"\nchannels = 1";
  EXPECT_EQ(image_traits(options_of(grey)).shape.channels, 1);
}

TEST(DatasetRoot, IsSearchedBelowTheWorkingFolderThenBelowCachetData) {
  const test::TemporaryDirectory working, search;
  const SearchRoot root(search.path().string());
  const DatasetOptions options{.root = "images"};
  std::filesystem::create_directory(search / "images");
  EXPECT_EQ(find_dataset_root(options, working.path()), search / "images");
  std::filesystem::create_directory(working / "images");
  EXPECT_EQ(find_dataset_root(options, working.path()), working / "images");
  EXPECT_EQ(find_dataset_root({.root = search.path()}, working.path()), search.path());
}

TEST(DatasetRoot, TellsWhereItLookedAndWhatItMissed) {
  const test::TemporaryDirectory working;
  const auto message = [&](const DatasetOptions& options) -> std::string {
    try {
      find_dataset_root(options, working.path());
    } catch (const io::Error& error) {
      return error.what();
    }
    return "";
  };
  const SearchRoot none("");
  EXPECT_EQ(message({.kind = &kCifar10, .root = "c"}),
            "data.root: there is no folder " + (working / "c").string() +
                "; it should contain data_batch_1.bin to data_batch_5.bin and test_batch.bin (plain, .gz or .xz). "
                "To search a second folder, set the environment variable CACHET_DATA to it.");
  const SearchRoot root("/elsewhere");
  EXPECT_NE(message({.root = "m"}).find((working / "m").string() + " or /elsewhere/m; it should contain train-images"),
            std::string::npos);
  EXPECT_EQ(message({.root = "/nowhere"}).find("elsewhere"), std::string::npos);
  test::write_bytes(working / "a.txt", "a file");
  EXPECT_TRUE(
      message({.kind = &kClassFolders, .root = "a.txt", .folders = {.train_folder = "train", .validation_folder = "."}})
          .starts_with("data.root: " + (working / "a.txt").string() +
                       " is a file, and a folder is needed; it should contain a folder of JPEG or PNG files"));
}

TEST(OpenDataset, FractionConcernsTrainingAndLimitBoth) {
  const test::TemporaryDirectory folder;
  write_idx_folder(folder.path());
  const auto size = [&](double fraction, int64_t limit, Split split) {
    return open_dataset({.root = folder.path(), .fraction = fraction, .limit = limit}, split)->size();
  };
  EXPECT_EQ(size(1, 0, Split::train), 100);
  EXPECT_EQ(size(0.25, 0, Split::train), 25);
  EXPECT_EQ(size(0.25, 0, Split::test), 20);
  EXPECT_EQ(size(0.25, 8, Split::train), 8);
  EXPECT_EQ(size(1, 8, Split::test), 8);
  EXPECT_EQ(size(1, 1000, Split::test), 20);
  EXPECT_EQ(size(1e-6, 0, Split::train), 1);
}

TEST(OpenDataset, SubsetsAreDrawnBySeedAndNested) {
  const test::TemporaryDirectory folder;
  write_idx_folder(folder.path());
  const auto pixels = [&](double fraction, uint64_t seed) {
    return first_pixels(open_dataset({.root = folder.path(), .fraction = fraction, .subset_seed = seed}, Split::train));
  };
  EXPECT_EQ(pixels(0.3, 1), pixels(0.3, 1));
  EXPECT_NE(pixels(0.3, 1), pixels(0.3, 2));
  auto all = pixels(1, 0);
  EXPECT_NE(pixels(0.3, 1), std::vector<int64_t>(all.begin(), all.begin() + 30));
  auto small = pixels(0.3, 1), large = pixels(0.6, 1);
  std::ranges::sort(small);
  std::ranges::sort(large);
  EXPECT_TRUE(std::ranges::includes(large, small));
}

TEST(OpenDataset, WithoutImagesThereAreClassesAndAShape) {
  const auto cifar = without_images({.kind = &kCifar10}, 10, {3, 32, 32});
  EXPECT_EQ(cifar->size(), 0);
  EXPECT_EQ(cifar->images().shape(), (ImageShape{3, 32, 32}));
  EXPECT_EQ(cifar->labels().class_names()[9], "truck");
  EXPECT_EQ(without_images({.kind = &kCifar10}, 4, {3, 32, 32})->labels().class_names()[3], "3");
  const auto folders = without_images({.kind = &kClassFolders}, 1000, {3, 224, 224});
  EXPECT_FALSE(folders->images().has_one_size());
  EXPECT_EQ(folders->labels().classes(), 1000);
}

TEST(OpenDataset, KindsKnowTheirClasses) {
  const test::TemporaryDirectory folder;
  write_idx_folder(folder.path());
  EXPECT_EQ(open_dataset({.kind = &kFashionMnist, .root = folder.path()}, Split::test)->labels().class_names()[9],
            "ankle boot");
  EXPECT_EQ(open_dataset({.root = folder.path(), .classes = 5}, Split::test)->labels().classes(), 5);
  EXPECT_THROW(open_dataset({.root = folder.path(), .classes = 4}, Split::test), io::Error);
}

TEST(OpenDataset, TakesTheModelsClasses) {
  const test::TemporaryDirectory folder;
  write_idx_folder(folder.path());
  const auto before = open_dataset({.root = folder.path(), .classes = 5}, Split::test);
  const auto named = options_of("root = \"" + folder.path().string() +
                                "\"\nclass_names = [\"zero\", \"one\", \"two\", \"three\", \"four\"]");
  EXPECT_EQ(named.classes, 5);
  const auto after = open_dataset(named, Split::test);
  EXPECT_EQ(after->labels().values(), before->labels().values()) << "labels are numbers";
  EXPECT_EQ(after->labels().class_names()[4], "four");
  EXPECT_EQ(without_images(named, 5, {1, 28, 28})->labels().class_names()[4], "four");
  EXPECT_EQ(find_class_names({.root = folder.path(), .classes = 5}, "").at(4), "4");

  DatasetOptions fashion{.kind = &kFashionMnist, .root = folder.path()};
  const auto articles = open_dataset(fashion, Split::test);
  fashion.class_names = {"ankle boot", "bag",      "sneaker", "shirt",       "sandal", "coat",
                         "dress",      "pullover", "trouser", "T-shirt/top", "hat"};
  EXPECT_EQ(image_traits(fashion).classes, 11);
  const auto reversed = open_dataset(fashion, Split::test);
  for (int64_t i = 0; i < reversed->size(); ++i) EXPECT_EQ(reversed->labels()[i], 9 - articles->labels()[i]);
  fashion.class_names.erase(fashion.class_names.begin());
  EXPECT_THROW(open_dataset(fashion, Split::test), io::Error);
}

TEST(DatasetOptions, ClassesAreAsManyAsTheirNames) {
  const std::string named = "root = \"x\"\nclass_names = [\"a\", \"b\"]\n";
  EXPECT_EQ(problems_of(named), "");
  EXPECT_NE(problems_of(named + "classes = 3").find("must be the number of class names, 2"), std::string::npos);
}

// The images that the repository carries.
TEST(OpenDataset, ReadsTheFashionMnistSubset) {
  const DatasetOptions options{.kind = &kFashionMnist,
                               .root = std::filesystem::path(test::test_data()) / "../../data/fashion-mnist"};
  const auto train_images = open_dataset(options, Split::train);
  const auto test_images = open_dataset(options, Split::test);
  EXPECT_EQ(train_images->images().shape(), (ImageShape{1, 28, 28}));
  EXPECT_EQ(test_images->images().shape(), train_images->images().shape());
  for (int64_t label = 0; label < 10; ++label) {
    EXPECT_EQ(train_images->labels().tensor().eq(label).sum().item<int64_t>(), train_images->size() / 10);
    EXPECT_EQ(test_images->labels().tensor().eq(label).sum().item<int64_t>(), test_images->size() / 10);
  }
  // A sample of the full set: its statistics are near the full set's.
  const Normalization found = Normalization::from_data(train_images->images());
  const Normalization known = *Normalization::known(kFashionMnist);
  EXPECT_NEAR(found.mean[0], known.mean[0], 0.01);
  EXPECT_NEAR(found.std[0], known.std[0], 0.01);
}

}  // namespace
}  // namespace cachet::data
