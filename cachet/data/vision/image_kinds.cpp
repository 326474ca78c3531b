#include "cachet/data/vision/image_kinds.h"

#include <array>

#include "cachet/data/vision/cifar.h"
#include "cachet/data/vision/class_folders.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/data/vision/idx.h"
#include "cachet/data/vision/shards/shards.h"

namespace cachet::data {
namespace {

constexpr int64_t kMaxIdxClasses = 256, kMaxFolderClasses = 100'000;

std::string idx_files(const DatasetOptions& /*options*/) {
  return "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte "
         "(plain, .gz or .xz)";
}

std::string cifar10_files(const DatasetOptions& /*options*/) { return std::string(kCifar10Files); }

std::string cifar100_files(const DatasetOptions& /*options*/) { return "train.bin and test.bin (plain, .gz or .xz)"; }

std::string folders_of_classes(const DatasetOptions& options) {
  const ClassFolderOptions& folders = options.folders;
  const std::string of_classes = "a folder of JPEG or PNG files for each class";
  const bool is_whole_root = folders.test_folder.empty() && folders.validation_folder == ".";
  if (!has_test_images(options) || is_whole_root) return of_classes;
  if (!folders.test_folder.empty())
    return folders.train_folder + ", " + folders.validation_folder + " and " + folders.test_folder + ", with " +
           of_classes;
  return folders.train_folder + " and " + folders.validation_folder + ", with " + of_classes;
}

std::string shards_of_splits(const DatasetOptions& options) {
  const ShardOptions& shards = options.shards;
  std::string text = shards.train_shards;
  if (shards.validation_shards != shards.train_shards)
    text += (shards.test_shards.empty() ? " and " : ", ") + shards.validation_shards;
  if (!shards.test_shards.empty()) text += " and " + shards.test_shards;
  return text + ", tar shards in WebDataset's layout, and " + kShardClasses + " with the class names";
}

std::vector<std::string> fashion_names(int64_t /*classes*/) { return fashion_mnist_class_names(); }
std::vector<std::string> cifar10_names(int64_t /*classes*/) { return cifar10_class_names(); }

std::vector<std::string> known_names(const DatasetOptions& options, const std::filesystem::path& /*root*/) {
  return options.kind->class_names(options.classes);
}
template <CifarKind kind>
std::vector<std::string> names_of_cifar(const DatasetOptions& /*options*/, const std::filesystem::path& root) {
  return read_cifar_class_names(kind, root);
}

std::shared_ptr<const LabelledImages> open_idx(const DatasetOptions& options, Split split,
                                               const std::filesystem::path& root, const IndexProgress& /*progress*/) {
  return read_idx(root, split, options.kind->class_names(options.classes));
}

template <CifarKind kind>
std::shared_ptr<const LabelledImages> open_cifar(const DatasetOptions& /*options*/, Split split,
                                                 const std::filesystem::path& root, const IndexProgress& /*progress*/) {
  return read_cifar(kind, root, split);
}

std::shared_ptr<const LabelledImages> open_folders(const DatasetOptions& options, Split split,
                                                   const std::filesystem::path& root, const IndexProgress& progress) {
  return open_class_folders(root, split, options, progress);
}

std::shared_ptr<const LabelledImages> open_tar_shards(const DatasetOptions& options, Split split,
                                                      const std::filesystem::path& root,
                                                      const IndexProgress& progress) {
  return open_shards(root, split, options, progress);
}

// Published: torchvision's for ImageNet, else of the full training set.
constexpr double kImageNetMean[] = {0.485, 0.456, 0.406}, kImageNetStd[] = {0.229, 0.224, 0.225};
constexpr double kMnistMean[] = {0.1307}, kMnistStd[] = {0.3081};
constexpr double kFashionMnistMean[] = {0.2860}, kFashionMnistStd[] = {0.3530};
constexpr double kCifar10Mean[] = {0.4914, 0.4822, 0.4465}, kCifar10Std[] = {0.2470, 0.2435, 0.2616};
constexpr double kCifar100Mean[] = {0.5071, 0.4865, 0.4409}, kCifar100Std[] = {0.2673, 0.2564, 0.2762};

}  // namespace

constexpr ImageKind kIdx{.name = "idx",
                         .shape = {1, 28, 28},
                         .classes = 10,
                         .most_classes = kMaxIdxClasses,
                         .class_names = numbered_class_names,
                         .names_in = known_names,
                         .mean = {},
                         .std = {},
                         .expected_files = idx_files,
                         .open = open_idx,
                         .files_tell_size = true};

constexpr ImageKind kMnist{.name = "mnist",
                           .shape = {1, 28, 28},
                           .classes = 10,
                           .class_names = numbered_class_names,
                           .names_in = known_names,
                           .mean = kMnistMean,
                           .std = kMnistStd,
                           .expected_files = idx_files,
                           .open = open_idx,
                           .files_tell_size = true};

constexpr ImageKind kFashionMnist{.name = "fashion_mnist",
                                  .shape = {1, 28, 28},
                                  .classes = 10,
                                  .class_names = fashion_names,
                                  .names_in = known_names,
                                  .mean = kFashionMnistMean,
                                  .std = kFashionMnistStd,
                                  .expected_files = idx_files,
                                  .open = open_idx,
                                  .files_tell_size = true};

constexpr ImageKind kCifar10{.name = "cifar10",
                             .shape = {3, 32, 32},
                             .classes = 10,
                             .class_names = cifar10_names,
                             .names_in = names_of_cifar<CifarKind::cifar10>,
                             .mean = kCifar10Mean,
                             .std = kCifar10Std,
                             .expected_files = cifar10_files,
                             .open = open_cifar<CifarKind::cifar10>};

constexpr ImageKind kCifar100{.name = "cifar100",
                              .shape = {3, 32, 32},
                              .classes = 100,
                              .class_names = numbered_class_names,
                              .names_in = names_of_cifar<CifarKind::cifar100>,
                              .mean = kCifar100Mean,
                              .std = kCifar100Std,
                              .expected_files = cifar100_files,
                              .open = open_cifar<CifarKind::cifar100>};

constexpr ImageKind kClassFolders{.name = "class_folders",
                                  .shape = {3, 0, 0},
                                  .classes = 1000,
                                  .most_classes = kMaxFolderClasses,
                                  .class_names = numbered_class_names,
                                  .names_in = class_folder_names,
                                  .mean = kImageNetMean,
                                  .std = kImageNetStd,
                                  .expected_files = folders_of_classes,
                                  .open = open_folders,
                                  .has_class_folders = true};

constexpr ImageKind kShards{.name = "shards",
                            .shape = {3, 0, 0},
                            .classes = 1000,
                            .most_classes = kMaxFolderClasses,
                            .class_names = numbered_class_names,
                            .names_in = shard_class_names,
                            .mean = kImageNetMean,
                            .std = kImageNetStd,
                            .expected_files = shards_of_splits,
                            .open = open_tar_shards,
                            .has_shards = true};

std::span<const ImageKind* const> image_kinds() {
  static constexpr std::array kAll{&kIdx, &kMnist, &kFashionMnist, &kCifar10, &kCifar100, &kClassFolders, &kShards};
  return kAll;
}

}  // namespace cachet::data
