#include "cachet/data/vision/shards/shards.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/data/vision/shards/shard_images.h"
#include "cachet/data/vision/shards/shard_pattern.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

constexpr uint64_t kMaxClassesBytes = uint64_t{16} << 20;

const std::string& pattern_of(Split split, const ShardOptions& shards) {
  if (split == Split::train) return shards.train_shards;
  return split == Split::test && !shards.test_shards.empty() ? shards.test_shards : shards.validation_shards;
}

void check_labels(const IndexedShard& shard, const std::filesystem::path& path, int64_t classes) {
  for (const ShardSample& sample : shard.index.samples)
    if (sample.label >= classes)
      throw io::Error(path.string() + ": the member " + io::in_quotes(sample.name) + " has the class " +
                      std::to_string(sample.label) + ", but there are " + config::counted(classes, "class", "classes") +
                      ", numbered from 0 on; see data.classes and " + kShardClasses);
}

[[noreturn]] void refuse_others(const IndexedShard& shard, const std::filesystem::path& path) {
  throw io::Error(path.string() + ": the member " + io::in_quotes(shard.index.first_other) +
                  " is neither an image (.jpg, .jpeg, .jpe, .jfif, .png) nor a class (.cls)" +
                  (shard.index.others > 1 ? " (and neither are " + std::to_string(shard.index.others - 1) + " more)"
                                          : std::string()) +
                  "; to skip such members, set data.skip_other_files = true");
}

}  // namespace

std::optional<std::vector<std::string>> read_shard_classes(const std::filesystem::path& root) {
  const std::filesystem::path file = root / kShardClasses;
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return std::nullopt;
  std::string text = io::read_text_file(file, kMaxClassesBytes);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  const auto lines = text.empty() ? 0 : std::ranges::count(text, '\n') + 1;
  return parse_class_names(text, lines, file.string());
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
  const std::string& pattern = pattern_of(split, options.shards);
  std::vector<std::string> names = shard_class_names(options, root);
  PassedOver passed_over("an image or its class", "images or their classes");
  std::vector<IndexedShard> shards;
  std::vector<int64_t> labels;
  for (std::string& name : find_shards(root, pattern)) {
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
  if (labels.empty()) throw io::Error((root / pattern).string() + ": the shards have no samples");
  const ImageFileOptions reading{options.folders.channels, options.folders.strict_images, options.orientation};
  auto files = std::make_shared<const ShardFiles>(root, std::move(shards));
  return std::make_shared<LabelledImages>(std::make_shared<ShardImages>(std::move(files), reading),
                                          ClassLabels(std::move(labels), std::move(names)), std::move(passed_over));
}

}  // namespace cachet::data
