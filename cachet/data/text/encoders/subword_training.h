#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cachet/data/text/encoders/unicode_normalization.h"

namespace cachet::data {

/// How pieces are found: byte-pair encoding (Sennrich et al. 2016), or a unigram language model (Kudo 2018).
enum class SubwordKind { bpe, unigram };

struct SubwordOptions {
  int64_t vocabulary = 8000;  // pieces, padding (id 0) and unknown (id 1) among them; at most kMaxTokens
  SubwordKind kind = SubwordKind::bpe;
  bool begin_and_end = false;    // ids 2 and 3 stand for the begin and the end of a sequence
  bool keep_characters = false;  // false: the model normalizes what it reads, by NFKC and a few rules more, so that
                                 // decomposed characters come back composed
};

struct TrainingTexts {
  std::vector<std::string> texts{};
  int64_t replaced = 0;              // bytes that are not UTF-8
  std::vector<std::string> notes{};  // for the user: characters that were replaced, files that were passed over
};

/// The texts to train a subword model with, of each path in turn: all .txt files below a folder (data/folder_walk.h),
/// by name, a file a text; of a TSV file of pairs (data/text/sequences/matching.h) its texts, each once; of any other
/// file, plain, .gz or .xz, its lines that are not empty. Byte-order marks are left out. Texts are brought into `form`.
/// Bytes that are not UTF-8, and the character that SentencePiece reserves, are replaced. `most`: at most so many
/// texts, an even draw; 0 = all. Throws io::Error, also for a folder that holds folders train and test, which would mix
/// the two.
TrainingTexts read_training_texts(const std::vector<std::filesystem::path>& paths, int64_t most,
                                  TextNormalization form = TextNormalization::none);

/// Trains a SentencePiece model and returns its bytes: the same for the same texts, in whatever process. Throws
/// io::Error, also in a build without SentencePiece.
std::string train_subwords(const std::vector<std::string>& texts, const SubwordOptions& options);

}  // namespace cachet::data
