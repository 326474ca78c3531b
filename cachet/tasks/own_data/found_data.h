#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cachet::tasks {

/// A kind of data of a user's own.
enum class OwnDataKind { images, coco, text, pairs, labelled_texts };

/// As people call it: "class folders of images", "a COCO folder".
std::string to_text(OwnDataKind kind);

/// A class and its files in one split.
struct OwnClass {
  std::string name;
  int64_t images = 0, texts = 0, others = 0;
};

/// A folder of class folders: a split, or the whole data.
struct OwnSplit {
  std::string folder;  // below the data; "." for the data themselves
  std::vector<OwnClass> classes{};

  int64_t images() const;
  int64_t texts() const;
};

/// The splits of class folders. `test` and `validation` have no classes if they are not there.
struct OwnClassFolders {
  OwnSplit train{}, validation{}, test{};
};

/// A file of annotations in COCO's form and the folder of its images, below the data.
struct OwnAnnotations {
  std::string file{}, images{};
  int64_t pictures = 0;
  bool given() const { return !file.empty(); }
};

/// The files of a COCO folder by split. Without `validation` the data have one file, which is `train`.
struct OwnCoco {
  OwnAnnotations train{}, validation{}, test{};
  int64_t classes = 0;
  int64_t longest_side = 0;  // of a picture of `train`, in pixels
  bool masks = false;        // whether an object of `train` has one
};

/// Texts of one language, or of two: by split, or all of them in `train`.
struct OwnTexts {
  std::vector<std::filesystem::path> train{}, validation{}, test{};
};
struct OwnPairs {
  std::string source{}, target{};  // endings of the files; empty for a TSV file
  OwnTexts source_files{}, target_files{};
  std::filesystem::path tsv{};
};

/// Data of a user's own: what may be found there.
struct FoundData {
  std::filesystem::path path;
  std::vector<OwnDataKind> kinds{};  // that fit
  OwnClassFolders folders{};
  OwnCoco coco{};
  OwnTexts texts{};
  OwnPairs pairs{};
  std::filesystem::path labelled{};  // a TSV file of texts with their classes
};

/// Looks at a folder or file, without reading what is in the files but for annotations and the first lines of TSV
/// files. Throws io::Error if there is no such path, or if nothing in it is data of one of the kinds.
FoundData find_own_data(const std::filesystem::path& path);

}  // namespace cachet::tasks
