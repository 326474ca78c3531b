#include "cachet/data/text/sequences/sequence_dataset.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/fingerprint.h"
#include "cachet/data/text/encoders/subword_encoder.h"

namespace cachet::data {

SequenceDataset::SequenceDataset(std::shared_ptr<const TokenStore> store, std::vector<SequenceSample> samples,
                                 Vocabulary vocabulary, std::vector<std::string> class_names, SequenceCounts counts,
                                 std::string text_digest)
    : store_(std::move(store)),
      samples_(std::move(samples)),
      vocabulary_(std::move(vocabulary)),
      class_names_(std::move(class_names)),
      counts_(counts),
      text_digest_(std::move(text_digest)) {
  const auto is_sequence = [&](int64_t number) {
    return number >= 0 && number < store_->size() && !(*store_)[number].empty();
  };
  for (size_t i = 0; i < samples_.size(); ++i) {
    const SequenceSample& sample = samples_[i];
    const std::string name = "sample " + std::to_string(i);
    if (sample.label < 0 || sample.label >= classes())
      throw std::invalid_argument(name + ": label " + std::to_string(sample.label) +
                                  " must be below the number of classes, " + std::to_string(classes()));
    if ((sample.second >= 0) != has_pairs())
      throw std::invalid_argument(name + ": either all samples must be pairs, or none");
    if (!is_sequence(sample.tokens) || (has_pairs() && !is_sequence(sample.second)))
      throw std::invalid_argument(name + ": a sample has a sequence that is missing or empty");
  }
}

TokenView SequenceDataset::second(int64_t index) const {
  return has_pairs() ? (*store_)[sample(index).second] : TokenView();
}

int64_t SequenceDataset::length(int64_t index) const {
  return static_cast<int64_t>(std::max(tokens(index).size(), second(index).size()));
}

bool SequenceDataset::is_cut(int64_t index) const {
  return store_->is_cut(sample(index).tokens) || (has_pairs() && store_->is_cut(sample(index).second));
}

void SequenceDataset::add_sample(Fingerprint& fingerprint, int64_t index) const {
  fingerprint.add(label(index)).add(class_names_[static_cast<size_t>(label(index))]);
  for (const TokenView& sequence : {tokens(index), second(index)}) {
    const std::vector<Token> ids(sequence.begin(), sequence.end());
    fingerprint.add(std::ssize(ids)).add(std::as_bytes(std::span(ids)));
  }
}

DataDigest SequenceDataset::digest() const {
  Fingerprint contents;
  contents.add(size()).add(vocabulary_.size).add(vocabulary_.fingerprint);
  for (int64_t i = 0; i < size(); ++i) add_sample(contents, i);
  return {.contents = contents.text(), .texts = text_digest_};
}

std::string SequenceDataset::sample_digest(int64_t index) const {
  Fingerprint sample;
  add_sample(sample, index);
  return sample.text();
}

std::string SequenceDataset::fingerprint() const {
  Fingerprint fingerprint;
  fingerprint.add(size()).add(vocabulary_.size).add(vocabulary_.fingerprint);
  for (int64_t i = 0; i < size(); ++i)
    fingerprint.add(label(i)).add(static_cast<int64_t>(tokens(i).size())).add(static_cast<int64_t>(second(i).size()));
  Fingerprint::for_some(size(), [&](int64_t index) {
    for (const TokenView& sequence : {tokens(index), second(index)}) {
      const std::vector<int64_t> ids(sequence.begin(), sequence.end());
      fingerprint.add(ids);
    }
  });
  return fingerprint.text();
}

const SequenceOrigins& SequenceDataset::origins() const {
  if (!origins_) throw std::logic_error("the origins of the samples were not recorded");
  return *origins_;
}

std::vector<std::string> SequenceDataset::split_keys(int64_t index) const {
  std::vector<std::string> keys;
  for (const int64_t number : {sample(index).tokens, sample(index).second})
    if (number >= 0) keys.push_back(origins().keys.at(static_cast<size_t>(number)));
  return keys;
}

std::string SequenceDataset::sample_name(int64_t index) const {
  const auto place = static_cast<size_t>(sample(index).place);
  return origins().files.empty() ? origins().before_place + std::to_string(place) : origins().files.at(place);
}

std::shared_ptr<const SequenceDataset> SequenceDataset::with_classes(const std::vector<int64_t>& to,
                                                                     std::vector<std::string> class_names) const {
  std::vector<SequenceSample> samples = samples_;
  for (SequenceSample& sample : samples) sample.label = to.at(static_cast<size_t>(sample.label));
  auto same =
      std::make_shared<SequenceDataset>(store_, std::move(samples), vocabulary_, std::move(class_names), counts_);
  same->origins_ = origins_;
  same->text_digest_ = text_digest_;
  same->split_size_ = split_size_;
  return same;
}

std::shared_ptr<const SequenceDataset> SequenceDataset::subset(const std::vector<int64_t>& indices,
                                                               int64_t split_size) const {
  auto kept = std::make_shared<SequenceDataset>(*this);
  kept->split_size_ = split_size;
  kept->samples_.clear();
  std::unordered_set<int64_t> cut;  // several samples may share one
  for (const int64_t index : indices) {
    const SequenceSample& taken = kept->samples_.emplace_back(sample(index));
    for (const int64_t number : {taken.tokens, taken.second})
      if (number >= 0 && store_->is_cut(number)) cut.insert(number);
  }
  kept->counts_.truncated = static_cast<int64_t>(cut.size());
  return kept;
}

std::vector<std::string> describe(const SequenceDataset& dataset, const std::string& split_name) {
  int64_t tokens = 0, longest = 0;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    tokens += static_cast<int64_t>(dataset.tokens(i).size() + dataset.second(i).size());
    longest = std::max(longest, dataset.length(i));
  }
  const std::string of_split = split_name + ": ";
  std::vector<std::string> lines{of_split + config::counted(dataset.size(), dataset.has_pairs() ? "pair" : "sequence") +
                                 ", " + config::counted(tokens, "token") + "; the longest sequence has " +
                                 config::counted(longest, "token")};
  for (const std::string& line : describe(dataset.counts())) lines.push_back(of_split + line);
  return lines;
}

std::vector<std::string> describe(const SequenceCounts& counts) {
  std::vector<std::string> lines;
  const auto say = [&](int64_t count, const std::string& one, const std::string& many) {
    if (count > 0) lines.push_back(count == 1 ? "1 " + one : std::to_string(count) + " " + many);
  };
  say(counts.truncated, "sequence was longer than data.max_length and was truncated",
      "sequences were longer than data.max_length and were truncated");
  say(counts.skipped, "sample with an empty text was skipped", "samples with an empty text were skipped");
  if (counts.replaced > 0) lines.push_back(replaced_bytes_text(counts.replaced));
  if (counts.passed_over) {
    if (auto note = counts.passed_over->note()) lines.push_back(*std::move(note));
  }
  return lines;
}

}  // namespace cachet::data
