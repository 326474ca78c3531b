#include "cachet/data/vision/shards/shard_writer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "cachet/data/random.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/data/vision/shards/shard_index.h"
#include "cachet/data/vision/shards/shards.h"
#include "cachet/io/archives/tar_writer.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/images/image_format.h"

namespace cachet::data {
namespace {

std::string with_digits(const char* form, int64_t number) {
  char text[40];
  std::snprintf(text, sizeof text, form, static_cast<long long>(number));
  return text;
}

std::vector<std::byte> bytes_of_image(const StoredBytes& stored) {
  if (stored.size > io::kMaxImageFileBytes)
    throw io::Error(stored.name + ": has " + std::to_string(stored.size) + " bytes; the maximum is " +
                    std::to_string(io::kMaxImageFileBytes));
  std::vector<std::byte> bytes(stored.size);
  io::InputFile(stored.file).read_at(stored.begin, bytes);
  return bytes;
}

constexpr size_t kShardDigits = 6;

/// Whether write_shards() gives a shard this name: "train-000000.tar".
bool is_shard_name(std::string_view name) {
  constexpr std::string_view kEnding = ".tar";
  constexpr std::array<std::string_view, 3> kSplits{"train-", "val-", "test-"};
  const auto split = std::ranges::find_if(kSplits, [&](std::string_view each) { return name.starts_with(each); });
  if (split == kSplits.end() || !name.ends_with(kEnding)) return false;
  name.remove_prefix(split->size());
  name.remove_suffix(kEnding.size());
  return name.size() >= kShardDigits && name.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_file_of_shards(std::string_view name) {
  if (name.ends_with(kIndexEnding))
    name.remove_suffix(std::string_view(kIndexEnding).size());
  else if (name == kShardClasses)
    return true;
  return is_shard_name(name);
}

}  // namespace

WrittenShards write_shards(const std::filesystem::path& folder, const std::string& split, const LabelledImages& images,
                           uint64_t shard_bytes, const ShardOrder& order,
                           const std::function<void(int64_t done)>& progress) {
  std::vector<int64_t> indices(static_cast<size_t>(images.size()));
  std::iota(indices.begin(), indices.end(), int64_t{0});
  if (order.shuffles) indices = permutation(images.size(), {order.seed, RandomStream::windows, 0, 0});
  WrittenShards written;
  std::optional<io::TarWriter> shard;
  const auto finish = [&] {
    if (!shard) return;
    written.bytes += shard->size();
    shard->finish();
    shard.reset();
  };
  for (const int64_t index : indices) {
    const auto stored = images.images().stored(index);
    if (!stored && !images.images().file(index)) throw std::invalid_argument("shards are made of images in files");
    if (!stored) throw io::Error(images.images().file(index)->string() + ": the file cannot be read");
    const std::vector<std::byte> bytes = bytes_of_image(*stored);
    const std::string label = std::to_string(images.labels()[index]);
    const std::array<uint64_t, 2> sizes{bytes.size(), label.size()};
    if (shard && shard->size_with(sizes) > shard_bytes) finish();
    if (!shard) {
      shard.emplace(folder / (split + with_digits("-%06lld.tar", written.shards)));
      ++written.shards;
    }
    const std::string key = with_digits("%08lld", written.images);
    shard->add(key + (io::image_format(bytes) == "PNG" ? ".png" : ".jpg"), bytes);
    shard->add(key + ".cls", std::as_bytes(std::span(label)));
    ++written.images;
    if (progress) progress(written.images);
  }
  finish();
  return written;
}

void write_shard_classes(const std::filesystem::path& folder, const std::vector<std::string>& class_names) {
  std::string text;
  for (const std::string& name : class_names) text += name + '\n';
  const std::filesystem::path file = folder / kShardClasses;
  parse_class_names(text, static_cast<int64_t>(class_names.size()), file.string());
  io::write_new_file(file, text);
}

std::optional<std::string> entry_other_than_shards(const std::filesystem::path& folder) {
  std::optional<std::string> first;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code unreadable;
    const bool is_file = std::filesystem::is_regular_file(entry->symlink_status(unreadable));
    if ((!is_file || !is_file_of_shards(name)) && (!first || name < *first)) first = name;
  }
  if (error) throw io::Error(folder.string() + ": the folder cannot be read: " + error.message());
  return first;
}

}  // namespace cachet::data
