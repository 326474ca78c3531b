#include "cachet/data/vision/shards/shard_writer.h"

#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>

#include "cachet/data/random.h"
#include "cachet/data/vision/class_names.h"
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
    if (!shard) {
      shard.emplace(folder / (split + with_digits("-%06lld.tar", written.shards)));
      ++written.shards;
    }
    const std::vector<std::byte> bytes = bytes_of_image(*stored);
    const std::string key = with_digits("%08lld", written.images);
    shard->add(key + (io::image_format(bytes) == "PNG" ? ".png" : ".jpg"), bytes);
    const std::string label = std::to_string(images.labels()[index]);
    shard->add(key + ".cls", std::as_bytes(std::span(label)));
    if (shard->size() > shard_bytes) finish();
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

}  // namespace cachet::data
