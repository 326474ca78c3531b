#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cachet::tasks {

/// The kinds of a user's own data for which Cachet can make a recipe.
enum class OwnDataKind { images, coco, text, pairs, labelled_texts, shards };

/// Returns the name of a kind of data, for users: "class folders of images", "a COCO folder", "tar shards".
std::string to_text(OwnDataKind kind);

/// The name of a class, and the numbers of its files in one split.
struct OwnClass {
  std::string name;
  int64_t images = 0, texts = 0, others = 0;
};

/// A folder of class folders, which is a split or the whole data.
struct OwnSplit {
  std::string folder;  // path relative to the data's folder; "." for this folder; for shards, their pattern
  std::vector<OwnClass> classes{};

  int64_t images() const;
  int64_t texts() const;
};

/// The splits of class folders. A split `test` or `validation` that does not exist has no classes.
struct OwnClassFolders {
  OwnSplit train{}, validation{}, test{};
};

/// A file of annotations in COCO's format and the folder of its images, relative to the data.
struct OwnAnnotations {
  std::string file{}, images{};
  int64_t pictures = 0;
  bool given() const { return !file.empty(); }
};

/// The files of a COCO folder by split. If the folder has only one annotation file, this file is `train`, and
/// `validation` is empty.
struct OwnCoco {
  OwnAnnotations train{}, validation{}, test{};
  int64_t classes = 0;
  int64_t longest_side = 0;  // longest side of a picture of `train`, in pixels
  bool masks = false;        // whether any object of `train` has a mask
};

/// Texts of one or two languages, by split. If the data are not divided into splits, all texts are in `train`.
struct OwnTexts {
  std::vector<std::filesystem::path> train{}, validation{}, test{};
};
struct OwnPairs {
  std::string source{}, target{};  // suffixes of the files; empty for a TSV file
  OwnTexts source_files{}, target_files{};
  std::filesystem::path tsv{};
};

/// The kinds of data that were found in a user's folder or file.
struct FoundData {
  std::filesystem::path path;
  std::vector<OwnDataKind> kinds{};  // kinds that fit the data
  OwnClassFolders folders{};
  OwnClassFolders shards{};  // of tar shards, with the classes and images that their indices have
  OwnCoco coco{};
  OwnTexts texts{};
  OwnPairs pairs{};
  std::filesystem::path labelled{};  // a TSV file of texts with their classes
};

/// Examines a folder or file. Reads only annotations, the first lines of TSV files, and the index of each tar shard
/// (shard_index.h). Throws io::Error if the path
/// does not exist, or if none of the kinds of OwnDataKind fits the data.
FoundData find_own_data(const std::filesystem::path& path);

}  // namespace cachet::tasks
