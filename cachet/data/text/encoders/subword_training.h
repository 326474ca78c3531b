#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cachet/data/text/encoders/unicode_normalization.h"
#include "cachet/io/error.h"

namespace cachet::data {

/// Method for finding pieces: byte-pair encoding (Sennrich et al. 2016), or a unigram language model (Kudo 2018).
enum class SubwordKind { bpe, unigram };

struct SubwordOptions {
  int64_t vocabulary = 8000;  // number of pieces, including padding (id 0) and unknown (id 1); at most kMaxTokens
  SubwordKind kind = SubwordKind::bpe;
  bool begin_and_end = false;    // whether ids 2 and 3 are the begin and the end of a sequence
  bool keep_characters = false;  // false: the model normalizes its input by NFKC and a few more rules
                                 // After normalization by NFKC, a decoded text has composed characters in place of
                                 // decomposed characters.
};

struct TrainingTexts {
  std::vector<std::string> texts{};
  int64_t replaced = 0;              // number of bytes that are not UTF-8
  std::vector<std::string> notes{};  // for the user: replaced characters, ignored files
};

/// Reads the texts for training a subword model, from each path in turn. A folder has one text for each .txt file below
/// it (data/folder_walk.h), in the order of the names. From a TSV file of pairs (data/text/sequences/matching.h), each
/// different text is read once. A file that is not a TSV file (plain, .gz or .xz) has one text in each line that is not
/// empty. Byte-order marks are removed, and texts are normalised to `form`. Bytes that are not UTF-8, and the character
/// that SentencePiece reserves, are replaced. If there are more than `most` texts, `most` of them are selected at
/// random, each with the same probability. If `most` is 0, all texts are used. Throws io::Error for missing or
/// faulty files and folders, and for a folder with subfolders train and test, whose texts must not be mixed.
TrainingTexts read_training_texts(const std::vector<std::filesystem::path>& paths, int64_t most,
                                  TextNormalization form = TextNormalization::none);

/// The texts have too few different pieces for a vocabulary.
class TooFewPieces : public io::Error {
 public:
  /// `most`: the largest vocabulary that the texts allow.
  TooFewPieces(const std::string& message, int64_t most) : io::Error(message), most_(most) {}
  int64_t most() const { return most_; }

 private:
  int64_t most_;
};

/// Trains a SentencePiece model and returns its bytes. Training on equal texts and options returns equal bytes in every
/// process. Throws TooFewPieces if the vocabulary is too large for the texts. Throws io::Error if the training fails
/// for another reason, and in a build without SentencePiece.
std::string train_subwords(const std::vector<std::string>& texts, const SubwordOptions& options);

}  // namespace cachet::data
