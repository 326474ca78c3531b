#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_builder.h"
#include "cachet/data/text/sequences/sequence_kinds.h"

namespace cachet::data {

/// A sample that the user gives, in contrast to a sample of the data set's files.
struct GivenSequence {
  std::vector<Token> tokens, second;  // `second` is used only for pairs
};

/// Converts a user's texts to tokens in the same way as the reader of the data set's files.
class GivenSequenceReader {
 public:
  /// Takes options for texts, pairs of texts or expressions. Throws io::Error for an unusable subword model, and
  /// std::invalid_argument if the samples of the data set are images.
  explicit GivenSequenceReader(const SequenceDatasetOptions& options);

  /// Reads an expression (listops), a text (imdb), or two texts with a tab between them (matching). Throws io::Error,
  /// which names the fault, for an invalid text.
  GivenSequence read(std::string_view text);

  const SequenceCounts& counts() const { return counts_; }  // counts of the rules' changes so far

 private:
  std::vector<Token> encode(std::string_view text);

  GivenForm form_;
  SequenceRules rules_;
  std::unique_ptr<const TextEncoder> encoder_;  // encoder, for kinds with texts
  SequenceCounts counts_;
};

}  // namespace cachet::data
