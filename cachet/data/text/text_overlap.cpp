#include "cachet/data/text/text_overlap.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "cachet/data/named_by.h"
#include "cachet/data/text/encoders/coded_text.h"
#include "cachet/data/text/parallel/parallel_corpus.h"
#include "cachet/data/text/parallel/parallel_files.h"
#include "cachet/data/text/split_key.h"
#include "cachet/data/text/text_pieces.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

/// Takes samples of texts, `Texts` each, and gives them with their keys, many at once. The names of their files must
/// outlive it.
template <size_t Texts>
class KeyedSamples {
 public:
  using Take = std::function<void(std::array<std::string, Texts> keys, const fs::path& file, int64_t line)>;

  explicit KeyedSamples(Take take) : take_(std::move(take)) {}

  void add(const std::array<std::string_view, Texts>& texts, const fs::path& file, int64_t line) {
    constexpr size_t kMaxTexts = 1 << 16, kMaxBytes = size_t{1} << 26;
    for (const std::string_view text : texts) {
      bytes_ += text.size();
      texts_.emplace_back(text);
    }
    places_.emplace_back(&file, line);
    if (texts_.size() >= kMaxTexts || bytes_ >= kMaxBytes) flush();
  }
  void flush() {
    std::vector<std::string> keys = split_keys(texts_);
    for (size_t i = 0; i < places_.size(); ++i) {
      std::array<std::string, Texts> of_sample;
      for (size_t text = 0; text < Texts; ++text) of_sample[text] = std::move(keys[Texts * i + text]);
      take_(std::move(of_sample), *places_[i].first, places_[i].second);
    }
    texts_.clear();
    places_.clear();
    bytes_ = 0;
  }

 private:
  Take take_;
  std::vector<std::string> texts_;
  std::vector<std::pair<const fs::path*, int64_t>> places_;
  size_t bytes_ = 0;
};

std::string line_name(const fs::path& file, int64_t line) { return file.string() + ":" + std::to_string(line); }

/// One search for each split, in which each training sample is looked up.
class Searches {
 public:
  Searches(std::span<const SequenceSplit> splits, const LookProgress& progress)
      : splits_(splits), progress_(progress), searches_(splits.size()) {}

  OverlapSearch& of(size_t split) { return searches_[split]; }
  void add_training(std::span<const std::string> keys, const fs::path& file, int64_t line) {
    constexpr int64_t kTold = 1 << 12;
    for (const std::string& key : keys)
      for (OverlapSearch& search : searches_) search.add_training(key, [&] { return line_name(file, line); });
    if (progress_ && ++seen_ % kTold == 0) progress_(seen_, 0);
  }
  std::vector<SplitOverlap> found(const std::string& many) const {
    std::vector<SplitOverlap> all;
    for (size_t i = 0; i < searches_.size(); ++i) all.push_back(searches_[i].found(to_string(splits_[i]), many));
    return all;
  }

 private:
  std::span<const SequenceSplit> splits_;
  const LookProgress& progress_;
  std::vector<OverlapSearch> searches_;
  int64_t seen_ = 0;
};

void read_keyed_pairs(const ParallelOptions& options, SequenceSplit split, const fs::path& root,
                      const KeyedSamples<2>::Take& take) {
  const std::string key = std::string("data.") + to_string(split);
  const std::vector<ParallelFiles> files = named_by({"data.root", key, "data.source", "data.target"},
                                                    [&] { return find_parallel_files(options, split, root); });
  KeyedSamples<2> samples([&](std::array<std::string, 2> keys, const fs::path& file, int64_t line) {
    take(pair_keys(std::move(keys[0]), std::move(keys[1])), file, line);
  });
  const bool trains = split == SequenceSplit::train;
  int64_t number = 0;
  for (const ParallelFiles& each : files) {
    int64_t line = 0;
    read_pairs(each, options, [&](std::string_view source, std::string_view target) {
      ++line;
      const int64_t pair = number++;
      if (trains ? is_kept_to_train(options, pair) : options.limit == 0 || pair < options.limit)
        samples.add({source, target}, each.source, line);
    });
  }
  samples.flush();
}

bool is_long_enough(std::string_view key) { return size_of(key).characters >= kMinComparedCharacters; }

void read_keyed_lines(const fs::path& text, const KeyedSamples<1>::Take& take) {
  KeyedSamples<1> samples([&](std::array<std::string, 1> keys, const fs::path& file, int64_t line) {
    if (is_long_enough(keys[0])) take(std::move(keys), file, line);
  });
  int64_t number = 0;
  for_each_piece(text, [&](std::string_view lines) {
    while (!lines.empty()) {
      const size_t end = std::min(lines.find('\n'), lines.size());
      samples.add({lines.substr(0, end)}, text, ++number);
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  });
  samples.flush();
}

}  // namespace

SplitOverlap sequence_overlap(const SequenceDataset& training, const SequenceDataset& evaluation,
                              const std::string& split) {
  OverlapSearch search;
  for (int64_t i = 0; i < evaluation.size(); ++i)
    search.add_evaluation(evaluation.split_keys(i), evaluation.sample_name(i));
  for (int64_t i = 0; i < training.size(); ++i)
    for (const std::string& key : training.split_keys(i))
      search.add_training(key, [&] { return training.sample_name(i); });
  return search.found(split, evaluation.has_pairs() ? "pairs" : "sequences");
}

std::vector<SplitOverlap> parallel_overlaps(const ParallelOptions& options, std::span<const SequenceSplit> splits,
                                            const LookProgress& progress, const fs::path& working_folder) {
  const fs::path root = find_parallel_root(options, working_folder);
  Searches searches(splits, progress);
  for (size_t i = 0; i < splits.size(); ++i)
    read_keyed_pairs(options, splits[i], root,
                     [&](std::array<std::string, 2> keys, const fs::path& file, int64_t line) {
                       searches.of(i).add_evaluation({keys.begin(), keys.end()}, line_name(file, line));
                     });
  read_keyed_pairs(options, SequenceSplit::train, root,
                   [&](std::array<std::string, 2> keys, const fs::path& file, int64_t line) {
                     searches.add_training(keys, file, line);
                   });
  return searches.found("pairs");
}

std::vector<SplitOverlap> corpus_overlaps(const CorpusOptions& options, std::span<const SequenceSplit> splits,
                                          const LookProgress& progress, const fs::path& working_folder) {
  Searches searches(splits, progress);
  for (size_t i = 0; i < splits.size(); ++i)
    read_keyed_lines(find_corpus_text(options, splits[i], working_folder),
                     [&](std::array<std::string, 1> keys, const fs::path& file, int64_t line) {
                       searches.of(i).add_evaluation({std::move(keys[0])}, line_name(file, line));
                     });
  read_keyed_lines(find_corpus_text(options, SequenceSplit::train, working_folder),
                   [&](std::array<std::string, 1> keys, const fs::path& file, int64_t line) {
                     searches.add_training(keys, file, line);
                   });
  return searches.found("lines");
}

}  // namespace cachet::data
