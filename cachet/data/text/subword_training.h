#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cachet::data {

/// How pieces are found: byte-pair encoding (Sennrich et al. 2016), or a unigram language model (Kudo 2018).
enum class SubwordKind { bpe, unigram };

struct SubwordOptions {
  int64_t vocabulary = 8000;  // pieces, padding (id 0) and unknown (id 1) among them; at most kMostTokens
  SubwordKind kind = SubwordKind::bpe;
  bool begin_and_end = false;  // ids 2 and 3 stand for the begin and the end of a sequence
};

/// The texts to train a subword model with: all .txt files below a folder, by name, or of a TSV file of pairs
/// (data/text/matching.h) its texts, each once. Bytes that are no UTF-8 are replaced, and counted in `replaced`.
/// Throws io::Error, also for a folder that holds folders train and test, which would mix the two.
std::vector<std::string> read_training_texts(const std::filesystem::path& path, int64_t& replaced);

/// Trains a SentencePiece model and returns its bytes: the same for the same texts, in whatever process. Throws
/// io::Error, also in a build without SentencePiece.
std::string train_subwords(const std::vector<std::string>& texts, const SubwordOptions& options);

}  // namespace cachet::data
