#pragma once

#include <cstdint>
#include <filesystem>

#include "cachet/config/view.h"
#include "cachet/data/vision/image_dataset.h"

namespace cachet::data {

/// mnist and fashion_mnist are IDX files with known class names and statistics.
enum class DatasetKind { idx, mnist, fashion_mnist, cifar10, cifar100 };
enum class Split { train, test };

/// What a recipe's [data] table says about which images there are.
struct DatasetOptions {
  DatasetKind kind = DatasetKind::idx;
  std::filesystem::path root;  // a folder; relative to the working folder, else to CACHET_DATA
  double fraction = 1;         // share of the training images to keep, in (0, 1]
  int64_t limit = 0;           // at most so many images of each split; 0 = all
  int64_t classes = 10;        // of kind idx, whose files do not tell; the other kinds know
  uint64_t subset_seed = 0;    // draws what fraction and limit keep
};

/// Reads kind, root, fraction, limit, classes and subset_seed.
DatasetOptions read_dataset_options(const config::View& data);

/// The folder that `root` means: itself when absolute, else below `working_folder`, else below $CACHET_DATA.
/// Throws io::Error that names the folders looked at and the files expected there.
std::filesystem::path find_dataset_root(const DatasetOptions& options, const std::filesystem::path& working_folder);

/// Reads one split. Throws io::Error that names the file and the place in it.
StoredImages open_dataset(const DatasetOptions& options, Split split,
                          const std::filesystem::path& working_folder = std::filesystem::current_path());

}  // namespace cachet::data
