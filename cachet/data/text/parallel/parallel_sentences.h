#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "cachet/data/fingerprint.h"
#include "cachet/data/text/corpora/token_file.h"
#include "cachet/data/text/sequences/token_store.h"

namespace cachet::data {

/// The sentences of one language as tokens, without begin and end tokens.
class Sentences {
 public:
  virtual ~Sentences() = default;
  virtual int64_t size() const = 0;
  virtual int64_t length(int64_t sentence) const = 0;
  virtual std::vector<Token> tokens(int64_t sentence) const = 0;
  /// Adds the sentences first … end − 1 to a digest: the length and the ids of each sentence. The digest does not
  /// depend on where the sentences are stored.
  virtual void add_to(Fingerprint& fingerprint, int64_t first, int64_t end) const;
};

/// Sentences in memory, with two bytes for each token if the size of the vocabulary permits, otherwise four.
class SentencesInMemory final : public Sentences {
 public:
  explicit SentencesInMemory(int64_t vocabulary) : store_(vocabulary) {}
  void add(const std::vector<Token>& tokens) { store_.add(tokens); }

  int64_t size() const override { return store_.size(); }
  int64_t length(int64_t sentence) const override { return static_cast<int64_t>(store_[sentence].size()); }
  std::vector<Token> tokens(int64_t sentence) const override;

 private:
  TokenStore store_;
};

/// Sentences in a file of tokens, read on demand. For each sentence, the object stores eight bytes in memory: the
/// position of the sentence in the file. Each sentence is followed by its end token, which no sentence contains.
class SentencesInFile final : public Sentences {
 public:
  /// Reads the whole file once. Throws io::Error if the file is missing or damaged or has another vocabulary, and if
  /// the last sentence has no end token.
  SentencesInFile(TokenFile file, const Vocabulary& vocabulary, Token end);

  const TokenFile& file() const { return file_; }
  int64_t size() const override { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t length(int64_t sentence) const override;
  std::vector<Token> tokens(int64_t sentence) const override;
  /// Adds sentences to a digest with the same result as Sentences::add_to(), but reads the tokens of many sentences
  /// together from the file.
  void add_to(Fingerprint& fingerprint, int64_t first, int64_t end) const override;

 private:
  TokenFile file_;
  std::vector<int64_t> starts_{0};  // start of each sentence, and the index after the last end
};

/// Chosen sentences of several files, in the order in which the sentences were added.
class ChosenSentences final : public Sentences {
 public:
  void add_file(std::shared_ptr<const Sentences> file) { files_.push_back(std::move(file)); }
  void add(int64_t sentence) { chosen_.push_back({static_cast<int32_t>(files_.size()) - 1, sentence}); }  // last file's

  int64_t size() const override { return static_cast<int64_t>(chosen_.size()); }
  int64_t length(int64_t sentence) const override;
  std::vector<Token> tokens(int64_t sentence) const override;
  void add_to(Fingerprint& fingerprint, int64_t first, int64_t end) const override;

 private:
  struct Place {
    int32_t file;
    int64_t sentence;
  };
  const Place& place(int64_t sentence) const { return chosen_.at(static_cast<size_t>(sentence)); }

  std::vector<std::shared_ptr<const Sentences>> files_;
  std::vector<Place> chosen_;
};

}  // namespace cachet::data
