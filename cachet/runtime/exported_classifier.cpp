#include "cachet/runtime/exported_classifier.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cachet/io/error.h"
#include "cachet/runtime/image_preparation.h"
#include "cachet/runtime/open_session.h"

namespace cachet::runtime {
namespace {

ExportManifest image_manifest(const std::filesystem::path& folder) {
  ExportManifest manifest = read_export(folder);
  if (!manifest.image) throw io::Error(folder.string() + ": is a model of " + manifest.task + ", not of images");
  return manifest;
}

std::vector<Guess> best_of(std::span<const float> scores, const std::vector<std::string>& names, int64_t top) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = static_cast<size_t>(std::clamp<int64_t>(top, 0, static_cast<int64_t>(scores.size())));
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(count), order.end(), [&](int64_t a, int64_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  const double most = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores) sum += std::exp(score - most);
  std::vector<Guess> guesses;
  for (size_t i = 0; i < count; ++i) {
    const auto label = static_cast<size_t>(order[i]);
    guesses.push_back({order[i], names.at(label), std::exp(scores[label] - most) / sum});
  }
  return guesses;
}

}  // namespace

ImageClassifier::ImageClassifier(const std::filesystem::path& folder, const SessionOptions& options)
    : manifest_(image_manifest(folder)), session_(open_session(folder, manifest_, options)) {}

ImageClassifier::ImageClassifier(const std::filesystem::path& folder) : manifest_(image_manifest(folder)) {
  session_ = open_session(folder, manifest_, {manifest_.precision});
}

std::vector<std::vector<Guess>> ImageClassifier::classify(const std::vector<std::filesystem::path>& files,
                                                          int64_t top) {
  if (files.empty()) return {};
  const ImagePreparation& image = *manifest_.image;
  std::vector<float> batch;
  for (const std::filesystem::path& file : files) {
    const std::vector<float> prepared = prepare_file(file, image);
    batch.insert(batch.end(), prepared.begin(), prepared.end());
  }
  const Input input{
      Element::float32, {static_cast<int64_t>(files.size()), image.channels, image.height, image.width}, batch.data()};
  const Scores scores = session_->run({&input, 1});
  if (scores.classes != static_cast<int64_t>(manifest_.classes.size()))
    throw io::Error("the model gives " + std::to_string(scores.classes) + " scores, but has names for " +
                    std::to_string(manifest_.classes.size()) + " classes; export it again");
  std::vector<std::vector<Guess>> answers;
  for (int64_t i = 0; i < scores.samples; ++i) answers.push_back(best_of(scores.of(i), manifest_.classes, top));
  return answers;
}

}  // namespace cachet::runtime
