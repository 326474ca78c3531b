#include "cachet/data/vision/shards/shards.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/folder_walk.h"
#include "cachet/data/named_by.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/data/vision/shards/shard_images.h"
#include "cachet/data/vision/shards/shard_pattern.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

constexpr uint64_t kMaxClassesBytes = uint64_t{16} << 20;

/// The pattern of the shards of a split, and the key of a recipe that sets the pattern.
struct SplitPattern {
  const std::string& pattern;
  const char* key;
};

SplitPattern pattern_of(Split split, const ShardOptions& shards) {
  if (split == Split::train) return {shards.train_shards, "data.train_shards"};
  if (split == Split::test && !shards.test_shards.empty()) return {shards.test_shards, "data.test_shards"};
  return {shards.validation_shards, "data.validation_shards"};
}

std::vector<std::string> shards_of(const std::filesystem::path& root, const SplitPattern& split) {
  return named_by({"data.root", split.key}, [&] { return find_shards(root, split.pattern); });
}

void check_labels(const IndexedShard& shard, const std::filesystem::path& path, int64_t classes) {
  for (const ShardSample& sample : shard.index.samples)
    if (sample.label >= classes)
      throw io::Error(path.string() + ": the member " + io::in_quotes(sample.name) + " has the class " +
                      std::to_string(sample.label) + ", but there are " + config::counted(classes, "class", "classes") +
                      ", numbered from 0 on; see data.classes and " + kShardClasses);
}

std::string key_of(const std::string& member) { return split_member_name(member).key; }

/// Whether a member would be an image or a class if its name had no other dot: "a.b.jpg". Its sample must have no image
/// of another name, as "a.jpg" is for "a.mask.jpg".
bool has_dot_in_key(const std::string& member, const ShardIndex& index) {
  const std::filesystem::path name(member);
  const bool is_of_sample = has_image_name(name) || name.extension() == ".cls";
  const std::string key = key_of(member);
  return is_of_sample &&
         std::ranges::none_of(index.samples, [&](const ShardSample& sample) { return key_of(sample.name) == key; });
}

[[noreturn]] void refuse_others(const IndexedShard& shard, const std::filesystem::path& path) {
  const std::string& first = shard.index.first_other;
  const std::string member = path.string() + ": the member " + io::in_quotes(first);
  if (!split_member_name(first).has_key())
    throw io::Error(member +
                    " has a name that begins with a dot, as files that macOS adds; to skip such members, set "
                    "data.skip_other_files = true");
  if (has_dot_in_key(first, shard.index))
    throw io::Error(member + " has the key " + io::in_quotes(key_of(first)) +
                    ", because a key ends at the first dot (WebDataset's rule); rename the members, so that their "
                    "names have only the dot of .jpg, .png or .cls");
  throw io::Error(member + " is neither an image (.jpg, .jpeg, .jpe, .jfif, .png) nor a class (.cls)" +
                  and_others(shard.index.others - 1) + "; to skip such members, set data.skip_other_files = true");
}

}  // namespace

std::optional<std::vector<std::string>> read_shard_classes(const std::filesystem::path& root) {
  const std::filesystem::path file = root / kShardClasses;
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return std::nullopt;
  std::string text = io::read_text_file(file, kMaxClassesBytes);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.empty())
    throw io::Error(file.string() + ": is empty; write one class name in each line, or remove the file");
  std::vector<std::string> names = parse_class_names(text, std::ranges::count(text, '\n') + 1, file.string());
  std::map<std::string, size_t> lines;
  for (size_t i = 0; i < names.size(); ++i)
    if (const auto [first, is_new] = lines.emplace(names[i], i + 1); !is_new)
      throw io::Error(file.string() + ":" + std::to_string(i + 1) + ": the name " + io::in_quotes(names[i]) +
                      " is also in line " + std::to_string(first->second) + "; each class needs another name");
  return names;
}

std::vector<std::string> shard_class_names(const DatasetOptions& options, const std::filesystem::path& root) {
  auto names = read_shard_classes(root);
  const bool has_list = !options.class_names.empty();  // the data's classes are matched with it by name
  if (!names)
    return numbered_class_names(has_list ? static_cast<int64_t>(options.class_names.size()) : options.classes);
  const auto found = static_cast<int64_t>(names->size());
  if (!has_list && found != options.classes)
    throw io::Error((root / kShardClasses).string() + ": has " + config::counted(found, "class name") +
                    ", but data.classes is " + std::to_string(options.classes) +
                    "; name a folder that has these classes, or set data.classes = " + std::to_string(found));
  return *std::move(names);
}

std::shared_ptr<const LabelledImages> open_shards(const std::filesystem::path& root, Split split,
                                                  const DatasetOptions& options, const IndexProgress& progress) {
  const SplitPattern pattern = pattern_of(split, options.shards);
  if (split == Split::train && !options.shards.test_shards.empty())
    shards_of(root, pattern_of(Split::test, options.shards));  // not only after the training
  std::vector<std::string> names = shard_class_names(options, root);
  PassedOver passed_over("an image or its class", "images or their classes");
  std::vector<IndexedShard> shards;
  std::vector<int64_t> labels;
  for (std::string& name : shards_of(root, pattern)) {
    const std::filesystem::path path = root / name;
    const FileVersion version = version_of(path);
    IndexedShard shard{std::move(name), version, read_shard_index(path)};
    if (version_of(path) != version) throw io::Error(path.string() + ": changed while it was opened");
    check_labels(shard, path, static_cast<int64_t>(names.size()));
    if (shard.index.others > 0 && !options.folders.skip_other_files) refuse_others(shard, path);
    for (int64_t i = 0; i < shard.index.others; ++i) passed_over.add_other(path / shard.index.first_other);
    for (const ShardSample& sample : shard.index.samples) labels.push_back(sample.label);
    if (progress) progress(static_cast<int64_t>(labels.size()));
    shards.push_back(std::move(shard));
  }
  if (labels.empty())
    throw io::Error(
        with_keys((root / pattern.pattern).string() + ": the shards have no samples" +
                      (passed_over.count() > 0 ? ", only " + config::counted(passed_over.count(), "other member") +
                                                     " such as " + passed_over.first().string()
                                               : ""),
                  {pattern.key}));
  const ImageFileOptions reading{options.folders.channels, options.folders.strict_images, options.orientation};
  auto files = std::make_shared<const ShardFiles>(root, std::move(shards));
  return std::make_shared<LabelledImages>(std::make_shared<ShardImages>(std::move(files), reading),
                                          ClassLabels(std::move(labels), std::move(names)), std::move(passed_over));
}

}  // namespace cachet::data
