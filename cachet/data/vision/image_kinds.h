#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/data/vision/dataset_options.h"
#include "cachet/data/vision/labelled_images.h"

namespace cachet::data {

/// The properties of one kind of image data. A new kind of images needs a record in the table of image_kinds.cpp.
struct ImageKind {
  std::string_view name;     // name in recipes
  ImageShape shape;          // image shape; height and width 0 if each image has its own; a guess if files_tell_size
  int64_t classes = 10;      // fixed number of classes, or the default if the recipe sets it
  int64_t most_classes = 0;  // maximum number of classes in recipes; 0: the number is fixed
  std::vector<std::string> (*class_names)(int64_t classes) = nullptr;  // class names that are known without the files
  std::vector<std::string> (*names_in)(const DatasetOptions& options,
                                       const std::filesystem::path& root) = nullptr;  // names read from the files
  std::span<const double> mean, std;  // for each channel over the full training set, pixels in [0, 1]; empty = unknown
  std::string (*expected_files)(const DatasetOptions& options) = nullptr;  // description of the files in the folder
  std::shared_ptr<const LabelledImages> (*open)(const DatasetOptions& options, Split split,
                                                const std::filesystem::path& root,
                                                const IndexProgress& progress) = nullptr;
  bool files_tell_size = false;    // whether only the files give the image size; `shape` is then a guess
  bool has_class_folders = false;  // whether each class has a folder; the keys of ClassFolderOptions are then read
  bool has_shards = false;         // whether images are in tar shards; the keys of ShardOptions are then read

  bool own_sizes() const { return shape.height == 0; }
};

/// Returns all kinds of image data, in the order in which messages list them.
std::span<const ImageKind* const> image_kinds();

/// The kinds of image data for which a C++ constant exists. mnist and fashion_mnist are IDX files with known class
/// names and statistics. class_folders has a folder of JPEG and PNG files for each class. shards has tar files with
/// many JPEG and PNG files each.
extern const ImageKind kIdx, kMnist, kFashionMnist, kCifar10, kCifar100, kClassFolders, kShards;

}  // namespace cachet::data
