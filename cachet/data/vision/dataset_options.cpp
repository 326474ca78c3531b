#include "cachet/data/vision/dataset_options.h"

#include <ATen/ops/empty.h>

#include <array>
#include <string>

#include "cachet/config/choice_word.h"
#include "cachet/data/data_path.h"
#include "cachet/data/subset.h"
#include "cachet/data/vision/cifar.h"
#include "cachet/data/vision/class_folders.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/data/vision/idx.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

constexpr std::array<config::Choice<DatasetKind>, 6> kDatasetKinds{{
    {"idx", DatasetKind::idx},
    {"mnist", DatasetKind::mnist},
    {"fashion_mnist", DatasetKind::fashion_mnist},
    {"cifar10", DatasetKind::cifar10},
    {"cifar100", DatasetKind::cifar100},
    {"class_folders", DatasetKind::class_folders},
}};

constexpr int64_t kMostClasses = 100'000, kUsualFolderClasses = 1000;

std::vector<std::string> idx_class_names(const DatasetOptions& options) {
  if (options.kind == DatasetKind::fashion_mnist) return fashion_mnist_class_names();
  return numbered_class_names(options.kind == DatasetKind::mnist ? 10 : options.classes);
}

std::shared_ptr<const StoredImages> read_stored(const DatasetOptions& options, Split split,
                                                const std::filesystem::path& root) {
  const auto share = [](StoredImages&& images) { return std::make_shared<const StoredImages>(std::move(images)); };
  if (options.kind == DatasetKind::cifar10) return share(read_cifar(CifarKind::cifar10, root, split));
  if (options.kind == DatasetKind::cifar100) return share(read_cifar(CifarKind::cifar100, root, split));
  return share(read_idx(root, split, idx_class_names(options)));
}

void read_class_folder_options(const config::View& data, ClassFolderOptions& options) {
  options.train_folder = data.text("train_folder", options.train_folder);
  options.validation_folder = data.text("validation_folder", options.validation_folder);
  if (options.train_folder.empty() || options.validation_folder.empty()) {
    data.problem(options.train_folder.empty() ? "train_folder" : "validation_folder", "must not be empty");
  }
  options.skip_other_files = data.boolean("skip_other_files", options.skip_other_files);
  options.strict_images = data.boolean("strict_images", options.strict_images);
}

}  // namespace

std::string_view to_string(DatasetKind kind) { return config::word_of(kind, kDatasetKinds); }

std::string expected_files(const DatasetOptions& options) {
  switch (options.kind) {
    case DatasetKind::class_folders:
      return options.folders.train_folder + " and " + options.folders.validation_folder +
             ", with a folder of JPEG or PNG files for each class";
    case DatasetKind::cifar10:
      return "data_batch_1.bin to data_batch_5.bin and test_batch.bin (plain, .gz or .xz)";
    case DatasetKind::cifar100:
      return "train.bin and test.bin (plain, .gz or .xz)";
    default:
      return "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte "
             "(plain, .gz or .xz)";
  }
}

void read_image_kind(const config::View& data, DatasetOptions& options) {
  const DatasetKind usual = options.kind;
  options.kind = data.choice("kind", usual, kDatasetKinds);
  if (options.kind == DatasetKind::idx) {
    options.classes = data.integer("classes", options.kind == usual ? options.classes : 10, {.least = 1, .most = 256});
  } else if (options.kind == DatasetKind::class_folders) {
    options.classes = data.integer("classes", options.kind == usual ? options.classes : kUsualFolderClasses,
                                   {.least = 1, .most = kMostClasses});
    options.folders.channels = data.integer("channels", options.folders.channels, {1, 3});
    if (options.folders.channels == 2) data.problem("channels", "must be 1 or 3");
  } else {
    data.refuse("classes", "is for kind = \"idx\" and \"class_folders\" only; the other kinds know their classes");
  }
}

DatasetOptions read_dataset_options(const config::View& data, RootKey root) {
  DatasetOptions options;
  read_image_kind(data, options);
  options.root = root == RootKey::required ? data.required_text("root") : data.text("root", "");
  options.fraction = data.real("fraction", options.fraction, {.least = 0, .most = 1, .least_excluded = true});
  options.limit = data.integer("limit", options.limit, {.least = 0});
  options.subset_seed = static_cast<uint64_t>(data.integer("subset_seed", 0, {.least = 0}));
  if (options.kind == DatasetKind::class_folders) read_class_folder_options(data, options.folders);
  return options;
}

std::filesystem::path find_dataset_root(const DatasetOptions& options, const std::filesystem::path& working_folder) {
  if (options.root.empty())
    throw io::Error("data.root: names no folder of images; it should hold " + expected_files(options) + ".");
  return find_data_path("data.root", options.root, PathKind::folder, working_folder,
                        "it should hold " + expected_files(options));
}

std::shared_ptr<const ImageDataset> without_images(const DatasetOptions& options, int64_t classes,
                                                   const ImageShape& shape) {
  std::vector<std::string> names;
  if (options.kind == DatasetKind::cifar10) names = cifar10_class_names();
  if (options.kind == DatasetKind::fashion_mnist) names = fashion_mnist_class_names();
  if (static_cast<int64_t>(names.size()) != classes) names = numbered_class_names(classes);
  if (options.kind == DatasetKind::class_folders)
    return std::make_shared<ClassFolders>(options.root, std::move(names), std::vector<ClassFolders::File>(),
                                          options.folders);
  const at::Tensor none = at::empty({0, shape.channels, shape.height, shape.width}, at::kByte);
  return std::make_shared<StoredImages>(none, std::vector<int64_t>(), std::move(names));
}

std::shared_ptr<const ImageDataset> open_dataset(const DatasetOptions& options, Split split,
                                                 const std::filesystem::path& working_folder,
                                                 const IndexProgress& progress) {
  const std::filesystem::path root = find_dataset_root(options, working_folder);
  std::shared_ptr<const ImageDataset> all;
  if (options.kind == DatasetKind::class_folders) {
    all = open_class_folders(root, split, options, progress);
  } else {
    all = read_stored(options, split, root);
  }
  const bool trains = split == Split::train;
  const SubsetOptions subset{trains ? options.fraction : 1, options.limit, options.subset_seed};
  const auto kept = kept_samples(all->size(), subset, /*split=*/trains ? 0 : 1);
  return kept ? all->subset(*kept) : all;
}

}  // namespace cachet::data
