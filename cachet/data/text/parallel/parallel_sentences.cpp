#include "cachet/data/text/parallel/parallel_sentences.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

constexpr int64_t kTokensAtOnce = 1 << 16;

/// Adds sentences to a fingerprint, many at once.
class SentenceDigest {
 public:
  explicit SentenceDigest(Fingerprint& fingerprint) : fingerprint_(fingerprint) {}

  template <class Int>
  void add(std::span<const Int> tokens) {
    piece_.push_back(static_cast<Token>(tokens.size()));
    for (const Int token : tokens) piece_.push_back(static_cast<Token>(token));
    if (std::ssize(piece_) >= kTokensAtOnce) finish();
  }
  void finish() {
    fingerprint_.add(std::as_bytes(std::span(piece_)));
    piece_.clear();
  }

 private:
  Fingerprint& fingerprint_;
  std::vector<Token> piece_;
};

}  // namespace

void Sentences::add_to(Fingerprint& fingerprint, int64_t first, int64_t end) const {
  SentenceDigest digest(fingerprint);
  for (int64_t i = first; i < end; ++i) {
    const std::vector<Token> sentence = tokens(i);
    digest.add(std::span<const Token>(sentence));
  }
  digest.finish();
}

std::vector<Token> SentencesInMemory::tokens(int64_t sentence) const {
  const TokenView view = store_[sentence];
  return {view.begin(), view.end()};
}

SentencesInFile::SentencesInFile(TokenFile file, const Vocabulary& vocabulary, Token end) : file_(std::move(file)) {
  file_.require(vocabulary);
  std::vector<int64_t> piece;
  for (int64_t first = 0; first < file_.size(); first += kTokensAtOnce) {
    piece.resize(static_cast<size_t>(std::min(kTokensAtOnce, file_.size() - first)));
    file_.read(first, static_cast<int64_t>(piece.size()), piece.data());
    for (size_t i = 0; i < piece.size(); ++i)
      if (piece[i] == end) starts_.push_back(first + static_cast<int64_t>(i) + 1);
  }
  if (starts_.back() != file_.size())
    throw io::Error(file_.name() +
                    ": its last sentence has no end token, so this is not a file of sentences; make one with `cachet "
                    "data tokens --source … --target …`");
}

int64_t SentencesInFile::length(int64_t sentence) const {
  if (sentence < 0 || sentence >= size())
    throw std::out_of_range("sentence " + std::to_string(sentence) + " of " + std::to_string(size()));
  const auto place = static_cast<size_t>(sentence);
  return starts_[place + 1] - starts_[place] - 1;
}

std::vector<Token> SentencesInFile::tokens(int64_t sentence) const {
  std::vector<int64_t> ids(static_cast<size_t>(length(sentence)));
  file_.read(starts_[static_cast<size_t>(sentence)], static_cast<int64_t>(ids.size()), ids.data());
  return {ids.begin(), ids.end()};
}

void SentencesInFile::add_to(Fingerprint& fingerprint, int64_t first, int64_t end) const {
  SentenceDigest digest(fingerprint);
  std::vector<int64_t> ids;
  const auto start = [this](int64_t sentence) { return starts_.at(static_cast<size_t>(sentence)); };
  while (first < end) {
    int64_t after = first + 1;  // as many as fit, one at least
    while (after < end && start(after + 1) - start(first) <= kTokensAtOnce) ++after;
    ids.resize(static_cast<size_t>(start(after) - start(first)));
    file_.read(start(first), std::ssize(ids), ids.data());
    for (int64_t i = first; i < after; ++i)
      digest.add(std::span<const int64_t>(ids).subspan(static_cast<size_t>(start(i) - start(first)),
                                                       static_cast<size_t>(length(i))));
    first = after;
  }
  digest.finish();
}

void ChosenSentences::add_to(Fingerprint& fingerprint, int64_t first, int64_t end) const {
  while (first < end) {
    const Place& begin = place(first);
    int64_t after = first + 1;  // those that follow each other in their file
    while (after < end && place(after).file == begin.file && place(after).sentence == begin.sentence + after - first)
      ++after;
    files_[static_cast<size_t>(begin.file)]->add_to(fingerprint, begin.sentence, begin.sentence + after - first);
    first = after;
  }
}

int64_t ChosenSentences::length(int64_t sentence) const {
  const Place& at = place(sentence);
  return files_[static_cast<size_t>(at.file)]->length(at.sentence);
}

std::vector<Token> ChosenSentences::tokens(int64_t sentence) const {
  const Place& at = place(sentence);
  return files_[static_cast<size_t>(at.file)]->tokens(at.sentence);
}

}  // namespace cachet::data
