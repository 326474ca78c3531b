#include "cachet/tasks/own_data/found_data.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "cachet/data/folder_walk.h"
#include "cachet/data/text/text_lines.h"
#include "cachet/data/vision/coco/coco_instances.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/shards/shards.h"
#include "cachet/io/error.h"
#include "cachet/io/files/line_reader.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

enum class OwnSplitName { train, validation, test };

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

/// The split that a name is of: "train", "Val", "valid", "test"; nothing for other names.
std::optional<OwnSplitName> split_called(const std::string& name) {
  static const std::map<std::string, OwnSplitName> names{
      {"train", OwnSplitName::train},      {"training", OwnSplitName::train},        {"val", OwnSplitName::validation},
      {"valid", OwnSplitName::validation}, {"validation", OwnSplitName::validation}, {"dev", OwnSplitName::validation},
      {"test", OwnSplitName::test},        {"testing", OwnSplitName::test}};
  const auto found = names.find(lower(name));
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

/// Without .gz or .xz.
fs::path unpacked_name(const fs::path& path) {
  const std::string ending = lower(path.extension().string());
  return ending == ".gz" || ending == ".xz" ? path.stem() : path.filename();
}

bool is_tsv(const fs::path& path) { return lower(unpacked_name(path).extension().string()) == ".tsv"; }

/// Whether a file of a folder is text by its name.
bool is_text_file(const fs::path& path) {
  static constexpr std::array<const char*, 4> kEndings{".txt", ".text", ".md", ".tokens"};
  return std::ranges::find(kEndings, lower(unpacked_name(path).extension().string())) != kEndings.end();
}

OwnClass count_files(const fs::path& folder) {
  OwnClass found{folder.filename().string()};
  data::for_each_file_below(folder, [&](const fs::path& file, const std::string& /*name*/) {
    ++(data::has_image_name(file) ? found.images : data::has_text_name(file) ? found.texts : found.others);
  });
  return found;
}

std::vector<fs::path> folders_of(const fs::path& path) {
  std::vector<fs::path> folders;
  for (const auto& entry : data::sorted_entries(path))
    if (data::is_folder(entry)) folders.push_back(entry.path());
  return folders;
}

OwnSplit split_below(const fs::path& root, const fs::path& folder) {
  OwnSplit split{folder == root ? "." : folder.filename().string()};
  for (const fs::path& each : folders_of(folder)) split.classes.push_back(count_files(each));
  return split;
}

/// Class folders: below train and so on if there is a folder train, else below the path itself.
OwnClassFolders find_class_folders(const fs::path& path) {
  OwnClassFolders found;
  for (const fs::path& folder : folders_of(path))
    if (const auto split = split_called(folder.filename().string())) {
      OwnSplit& own = *split == OwnSplitName::train        ? found.train
                      : *split == OwnSplitName::validation ? found.validation
                                                           : found.test;
      if (own.classes.empty()) own = split_below(path, folder);
    }
  if (!found.train.classes.empty()) return found;
  found = {};
  found.train = split_below(path, path);
  return found;
}

bool is_json(const fs::path& path) { return lower(path.extension().string()) == ".json"; }

/// Files that may hold instances: below annotations, in the path itself, and one level below it.
std::vector<fs::path> annotation_files(const fs::path& path) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& folder) {
    for (const auto& entry : data::sorted_entries(folder)) {
      const std::string name = lower(entry.path().filename().string());
      static constexpr std::array<const char*, 5> kOthers{"captions", "person_keypoints", "stuff", "panoptic",
                                                          "image_info"};
      const bool other = std::ranges::any_of(kOthers, [&](const char* word) { return name.starts_with(word); });
      if (!data::is_folder(entry) && is_json(entry.path()) && !other) files.push_back(entry.path());
    }
  };
  add(path);
  for (const fs::path& folder : folders_of(path)) {
    const std::string name = lower(folder.filename().string());
    if (name == "annotations" || split_called(name)) add(folder);
  }
  return files;
}

/// The split that a file of annotations is of, by a word of its name or by its folder: instances_train2017.json,
/// valid/_annotations.coco.json.
std::optional<OwnSplitName> split_of_annotations(const fs::path& file) {
  std::string word;
  for (const char letter : lower(file.stem().string()) + "_") {
    if (std::isalpha(static_cast<unsigned char>(letter))) {
      word += letter;
      continue;
    }
    if (const auto split = split_called(word)) return split;
    word.clear();
  }
  return split_called(file.parent_path().filename().string());
}

/// The folder that holds the images of a file of annotations, below the data.
std::optional<std::string> folder_of_images(const fs::path& root, const fs::path& file,
                                            const data::CocoInstances& instances) {
  if (instances.images().empty()) return std::nullopt;
  std::string stem = file.stem().string();
  if (stem.starts_with("instances_")) stem = stem.substr(std::string("instances_").size());
  std::vector<fs::path> folders{root / "images" / stem, root / stem, file.parent_path(), root / "images", root};
  if (const auto split = split_of_annotations(file))
    for (const fs::path& parent : {root / "images", root}) {
      std::error_code unreadable;
      if (!fs::is_directory(parent, unreadable)) continue;
      for (const fs::path& folder : folders_of(parent))
        if (split_called(folder.filename().string()) == split) folders.push_back(folder);
    }
  for (const fs::path& folder : folders) {
    std::error_code unreadable;
    if (fs::is_regular_file(folder / instances.images().front().file_name, unreadable))
      return folder.lexically_relative(root).generic_string();
  }
  return std::nullopt;
}

/// Throws io::Error for files that are in COCO's form and lack their images.
OwnCoco find_coco(const fs::path& path) {
  OwnCoco found;
  std::string problem;
  for (const fs::path& file : annotation_files(path)) {
    std::optional<data::CocoInstances> instances;
    try {
      instances = data::CocoInstances::read(file);
    } catch (const io::Error& error) {
      if (problem.empty()) problem = error.what();
      continue;
    }
    if (instances->categories().empty()) continue;
    const auto images = folder_of_images(path, file, *instances);
    if (!images) {
      problem = file.string() + ": the image " +
                (instances->images().empty() ? "" : instances->images().front().file_name) +
                " is neither in the folder images nor next to the file";
      continue;
    }
    OwnAnnotations own{file.lexically_relative(path).generic_string(), *images,
                       static_cast<int64_t>(instances->images().size())};
    const OwnSplitName split = split_of_annotations(file).value_or(OwnSplitName::train);
    OwnAnnotations& place = split == OwnSplitName::train        ? found.train
                            : split == OwnSplitName::validation ? found.validation
                                                                : found.test;
    if (place.given()) continue;
    place = own;
    if (split != OwnSplitName::train) continue;
    found.classes = static_cast<int64_t>(instances->categories().size());
    for (size_t i = 0; i < instances->images().size(); ++i) {
      const data::CocoImage& image = instances->images()[i];
      found.longest_side = std::max<int64_t>({found.longest_side, image.size.width, image.size.height});
      for (const data::CocoAnnotation& annotation : instances->annotations(static_cast<int64_t>(i)))
        found.masks = found.masks || annotation.form != data::CocoAnnotation::Form::none;
    }
  }
  if (!found.train.given() && !problem.empty()) throw io::Error(problem);
  return found;
}

/// Text files of a folder by the splits that their names are of, at any depth.
OwnTexts find_texts(const fs::path& path) {
  OwnTexts found;
  std::vector<fs::path> others;
  data::for_each_file_below(path, [&](const fs::path& file, const std::string& /*name*/) {
    if (!is_text_file(file)) return;
    std::string stem = unpacked_name(file).stem().string();
    if (stem.starts_with("wiki.")) stem = stem.substr(std::string("wiki.").size());
    const auto split = split_called(stem);
    if (!split)
      others.push_back(file);
    else
      (*split == OwnSplitName::train        ? found.train
       : *split == OwnSplitName::validation ? found.validation
                                            : found.test)
          .push_back(file);
  });
  if (!found.train.empty()) return found;
  for (std::vector<fs::path>* split : {&found.validation, &found.test}) {
    others.insert(others.end(), split->begin(), split->end());
    split->clear();
  }
  std::ranges::sort(others);
  found.train = std::move(others);
  return found;
}

/// Files of two endings that have the same names: corpus.de and corpus.en, or those of splits.
OwnPairs find_parallel_files(const fs::path& path) {
  std::map<std::string, std::map<std::string, fs::path>> by_ending;  // ending -> name -> file
  for (const auto& entry : data::sorted_entries(path)) {
    if (data::is_folder(entry)) continue;
    const fs::path name = unpacked_name(entry.path());
    const std::string ending = name.extension().string();
    static constexpr std::array<const char*, 9> kOthers{".txt", ".json", ".tsv",  ".toml", ".model",
                                                        ".md",  ".csv",  ".html", ".vocab"};
    if (ending.size() < 2 || std::ranges::find(kOthers, lower(ending)) != kOthers.end() || data::has_image_name(name))
      continue;
    by_ending[ending.substr(1)][name.stem().string()] = entry.path();
  }
  if (by_ending.size() != 2) return {};
  const auto& [source, sources] = *by_ending.begin();
  const auto& [target, targets] = *by_ending.rbegin();
  OwnPairs pairs{source, target};
  const bool has_splits =
      std::ranges::any_of(sources, [](const auto& file) { return split_called(file.first) == OwnSplitName::train; });
  for (const auto& [name, file] : sources) {
    const auto other = targets.find(name);
    if (other == targets.end())
      throw io::Error(file.string() + ": there is no " + name + "." + target + " with the translations");
    const auto split = has_splits ? split_called(name) : OwnSplitName::train;
    if (!split) continue;
    const auto add = [&](OwnTexts& texts, const fs::path& each) {
      (*split == OwnSplitName::train        ? texts.train
       : *split == OwnSplitName::validation ? texts.validation
                                            : texts.test)
          .push_back(each);
    };
    add(pairs.source_files, file);
    add(pairs.target_files, other->second);
  }
  return pairs;
}

/// Columns of the first line of a TSV file; 0 of an empty one.
int64_t columns_of(const fs::path& file) {
  const data::TextFile text(file);
  io::LineReader lines(text.source(), file.string(), data::kMaxSentenceBytes);
  const auto line = lines.next();
  return line ? std::ranges::count(*line, '\t') + 1 : 0;
}

void find_in_file(const fs::path& path, FoundData& found) {
  if (is_tsv(path)) {
    if (columns_of(path) < 2)
      throw io::Error(path.string() +
                      ": the first line has no tab; each line must be a sentence and its translation, or a "
                      "class and a text, separated by a tab");
    found.pairs.tsv = found.labelled = path;
    found.kinds = {OwnDataKind::pairs, OwnDataKind::labelled_texts};
  }
  if (data::has_image_name(path))
    throw io::Error(path.string() +
                    ": is a single image; name the folder that contains a folder of images for each class");
  found.texts.train = {path};
  found.kinds.push_back(OwnDataKind::text);
}

bool has_loose_images(const fs::path& path) {
  return std::ranges::any_of(data::sorted_entries(path), [](const auto& entry) {
    return !data::is_folder(entry) && data::has_image_name(entry.path());
  });
}

/// Whether the only text is a file such as README.md next to folders or images.
bool only_describes(const fs::path& path, const FoundData& found) {
  if (found.texts.train.size() != 1 || !lower(found.texts.train.front().stem().string()).starts_with("readme"))
    return false;
  return !folders_of(path).empty() || has_loose_images(path);
}

/// The tar files of a folder, by name.
std::vector<std::string> tar_files(const fs::path& path) {
  std::vector<std::string> names;
  for (const auto& entry : data::sorted_entries(path))
    if (!data::is_folder(entry) && entry.path().extension() == ".tar") names.push_back(entry.path().stem().string());
  return names;
}

/// The pattern of shards with these names without ".tar": what the names begin with, and not their numbers.
std::string pattern_of(const std::vector<std::string>& names) {
  std::string prefix = names.front();
  for (const std::string& name : names) prefix.erase(std::ranges::mismatch(prefix, name).in1, prefix.end());
  while (!prefix.empty() && std::isdigit(static_cast<unsigned char>(prefix.back()))) prefix.pop_back();
  return prefix + "*.tar";
}

OwnSplit split_of_shards(const fs::path& root, const std::vector<std::string>& names) {
  OwnSplit split{pattern_of(names)};
  data::DatasetOptions options{.kind = &data::kShards, .root = root};
  options.folders.skip_other_files = true;
  options.shards.train_shards = split.folder;
  const auto class_names = data::read_shard_classes(root);
  options.classes = class_names ? static_cast<int64_t>(class_names->size()) : data::kShards.most_classes;
  const auto images = data::open_dataset(options, data::Split::train);
  for (const int64_t label : images->labels().values()) {
    const auto number = static_cast<size_t>(label);
    while (split.classes.size() <= number)
      split.classes.push_back(
          {class_names ? (*class_names)[split.classes.size()] : std::to_string(split.classes.size())});
    ++split.classes[number].images;
  }
  for (size_t i = split.classes.size(); class_names && i < class_names->size(); ++i)
    split.classes.push_back({(*class_names)[i]});
  return split;
}

/// Tar shards by the splits that their names are of: train-000000.tar.
OwnClassFolders find_shards(const fs::path& path, const std::vector<std::string>& tars) {
  std::map<OwnSplitName, std::vector<std::string>> by_split;
  for (const std::string& name : tars) {
    const auto letters = std::ranges::find_if_not(name, [](unsigned char c) { return std::isalpha(c) != 0; });
    if (const auto split = split_called(std::string(name.begin(), letters))) by_split[*split].push_back(name);
  }
  if (!by_split.contains(OwnSplitName::train)) by_split = {{OwnSplitName::train, tars}};
  OwnClassFolders found;
  for (const auto& [split, names] : by_split)
    (split == OwnSplitName::train        ? found.train
     : split == OwnSplitName::validation ? found.validation
                                         : found.test) = split_of_shards(path, names);
  return found;
}

/// Whether a folder has no other data than tar shards.
bool has_only_shards(const FoundData& found) {
  return found.folders.train.images() == 0 && !found.coco.train.given() &&
         std::ranges::all_of(found.texts.train, [](const fs::path& text) {
           return text.filename() == data::kShardClasses || lower(text.stem().string()).starts_with("readme");
         });
}

void find_in_folder(const fs::path& path, FoundData& found) {
  found.folders = find_class_folders(path);
  found.coco = find_coco(path);
  found.texts = find_texts(path);
  if (const std::vector<std::string> tars = tar_files(path); !tars.empty() && has_only_shards(found)) {
    found.shards = find_shards(path, tars);
    found.kinds = {OwnDataKind::shards};
    return;
  }
  found.pairs = find_parallel_files(path);
  std::vector<fs::path> tsv;
  for (const auto& entry : data::sorted_entries(path))
    if (!data::is_folder(entry) && is_tsv(entry.path())) tsv.push_back(entry.path());
  if (found.coco.train.given()) found.kinds.push_back(OwnDataKind::coco);
  if (found.folders.train.images() > 0 && !found.coco.train.given()) found.kinds.push_back(OwnDataKind::images);
  const bool mostly_texts = found.folders.train.texts() > found.folders.train.images();
  if (mostly_texts && found.folders.train.classes.size() > 1) found.kinds.push_back(OwnDataKind::labelled_texts);
  if (!found.pairs.source_files.train.empty()) found.kinds.push_back(OwnDataKind::pairs);
  if (tsv.size() == 1 && found.kinds.empty()) {
    find_in_file(tsv.front(), found);
    return;
  }
  if (found.kinds.empty() && only_describes(path, found)) found.texts = {};
  const bool of_images = found.coco.train.given() || found.folders.train.images() > 0;
  if (!found.texts.train.empty() && (mostly_texts || !of_images)) found.kinds.push_back(OwnDataKind::text);
}

}  // namespace

std::string to_text(OwnDataKind kind) {
  switch (kind) {
    case OwnDataKind::images:
      return "class folders of images";
    case OwnDataKind::coco:
      return "a COCO folder";
    case OwnDataKind::text:
      return "text";
    case OwnDataKind::pairs:
      return "pairs of sentences";
    case OwnDataKind::labelled_texts:
      return "labelled texts";
    case OwnDataKind::shards:
      return "tar shards";
  }
  return "";
}

int64_t OwnSplit::images() const {
  int64_t all = 0;
  for (const OwnClass& each : classes) all += each.images;
  return all;
}

int64_t OwnSplit::texts() const {
  int64_t all = 0;
  for (const OwnClass& each : classes) all += each.texts;
  return all;
}

FoundData find_own_data(const fs::path& path) {
  FoundData found{path};
  std::error_code unreadable;
  if (fs::is_directory(path, unreadable))
    find_in_folder(path, found);
  else if (fs::is_regular_file(path, unreadable))
    find_in_file(path, found);
  else
    throw io::Error(path.string() + ": there is no such folder or file");
  if (found.kinds.empty() && has_loose_images(path))
    throw io::Error(path.string() +
                    ": has images, but no folders of classes; put the images of each class into a folder");
  if (found.kinds.empty())
    throw io::Error(path.string() +
                    ": contains no data that Cachet recognises: no class folders of images or texts, no tar "
                    "shards, no COCO annotations with their images, no text files, and no files of two languages with "
                    "the same names");
  return found;
}

}  // namespace cachet::tasks
