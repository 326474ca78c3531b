#include "cachet/data/vision/image_overlap.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/data/many_files.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/image.h"

namespace cachet::data {
namespace {

constexpr uint64_t kPieceBytes = 4096;
constexpr size_t kReadFilesOfThread = 16, kHashedImagesOfThread = 256;

/// Images that may still be equal to one of the other split, and what is known of their bytes.
struct Candidates {
  const ImageSource& source;
  std::vector<int64_t> images;
  std::vector<std::string> keys;  // of each; empty if it cannot be read

  explicit Candidates(const ImageSource& of) : source(of), images(static_cast<size_t>(of.size())) {
    std::iota(images.begin(), images.end(), int64_t{0});
  }
  std::optional<StoredBytes> stored(size_t place) const { return source.stored(images[place]); }
  /// Leaves those whose key is in `others`.
  void keep(const std::unordered_set<std::string>& others) {
    size_t kept = 0;
    for (size_t i = 0; i < images.size(); ++i) {
      if (keys[i].empty() || !others.contains(keys[i])) continue;
      images[kept] = images[i];
      std::swap(keys[kept++], keys[i]);
    }
    images.resize(kept);
    keys.resize(kept);
  }
};

/// Reports, from one thread at a time, how many files were read.
class CountedFiles {
 public:
  CountedFiles(const LookProgress& progress, size_t total) : progress_(progress), total_(total) {}
  void add() {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    progress_(++done_, static_cast<int64_t>(total_));
  }

 private:
  const LookProgress& progress_;
  size_t total_;
  std::mutex mutex_;
  int64_t done_ = 0;
};

std::string size_key(const StoredBytes& stored) { return stored.size == 0 ? "" : std::to_string(stored.size); }

/// Of the bytes in the middle: most formats begin alike.
std::string piece_key(const StoredBytes& stored) {
  try {
    const io::InputFile input(stored.file);
    std::array<std::byte, kPieceBytes> piece;
    const auto bytes = std::span(piece).first(static_cast<size_t>(std::min(stored.size, kPieceBytes)));
    input.read_at(stored.begin + (stored.size - bytes.size()) / 2, bytes);
    return std::to_string(stored.size) + " " + digest_of(bytes);
  } catch (const io::Error&) {
    return "";
  }
}

/// Takes the keys of both splits, from several threads, and leaves the images whose keys both have.
template <class KeyOf>
void narrow(Candidates& training, Candidates& evaluation, size_t of_thread, const LookProgress& progress, KeyOf key) {
  CountedFiles counted(progress, training.images.size() + evaluation.images.size());
  std::array<std::unordered_set<std::string>, 2> found;
  size_t side = 0;
  for (Candidates* split : {&training, &evaluation}) {
    split->keys.assign(split->images.size(), "");
    const auto look = [&](size_t i) {
      split->keys[i] = key(*split, i);
      counted.add();
    };
    look_at_files(split->images.size(), look, of_thread);
    found[side++].insert(split->keys.begin(), split->keys.end());
  }
  training.keep(found[1]);
  evaluation.keep(found[0]);
}

/// Whether the images are encoded in files, one in each file or many.
bool are_files(const ImageSource& images) {
  return images.size() > 0 && (images.file(0).has_value() || !images.shard_sizes().empty());
}

std::string name_of(const ImageSource& images, int64_t index) {
  if (const auto file = images.file(index)) return file->string();
  const auto stored = images.stored(index);
  return stored ? stored->name : "image " + std::to_string(index);
}

std::string whole_key(const Candidates& images, size_t place) {
  std::string digest = images.source.image_digest(images.images[place]);
  return digest == kUnreadable ? "" : digest;
}

}  // namespace

SplitOverlap image_overlap(const ImageSource& training, const ImageSource& evaluation, const std::string& split,
                           const LookProgress& progress) {
  Candidates trained(training), evaluated(evaluation);
  if (are_files(training) && are_files(evaluation)) {
    const auto of_stored = [](std::string (*key)(const StoredBytes&)) {
      return [key](const Candidates& images, size_t place) {
        const auto stored = images.stored(place);
        return stored ? key(*stored) : std::string();
      };
    };
    narrow(trained, evaluated, kLookedAtFilesOfThread, {}, of_stored(size_key));
    narrow(trained, evaluated, kReadFilesOfThread, progress, of_stored(piece_key));
    narrow(trained, evaluated, kReadFilesOfThread, progress, whole_key);
  } else {
    narrow(trained, evaluated, kHashedImagesOfThread, progress,
           [](const Candidates& images, size_t place) { return images.source.image_digest(images.images[place]); });
  }
  OverlapSearch search;
  size_t next = 0;
  for (int64_t image = 0; image < evaluation.size(); ++image) {
    const bool is_left = next < evaluated.images.size() && evaluated.images[next] == image;
    if (is_left)
      search.add_evaluation({evaluated.keys[next++]}, name_of(evaluation, image));
    else
      search.add_evaluation({}, "");
  }
  for (size_t i = 0; i < trained.images.size(); ++i)
    search.add_training(trained.keys[i], [&] { return name_of(training, trained.images[i]); });
  return search.found(split, "images");
}

}  // namespace cachet::data
