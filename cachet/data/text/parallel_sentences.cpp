#include "cachet/data/text/parallel_sentences.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::data {
namespace {

constexpr int64_t kTokensAtOnce = 1 << 16;

}  // namespace

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
                    ": its last sentence has no end: it is no file of sentences; `cachet data tokens "
                    "--source … --target …` makes one");
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

int64_t ChosenSentences::length(int64_t sentence) const {
  const Place& at = place(sentence);
  return files_[static_cast<size_t>(at.file)]->length(at.sentence);
}

std::vector<Token> ChosenSentences::tokens(int64_t sentence) const {
  const Place& at = place(sentence);
  return files_[static_cast<size_t>(at.file)]->tokens(at.sentence);
}

}  // namespace cachet::data
