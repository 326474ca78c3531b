#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/data/text/sequences/sequence_builder.h"
#include "cachet/data/text/sequences/sequence_kinds.h"

namespace cachet::data {

/// A sample that somebody gives, not a file of the data set.
struct GivenSequence {
  std::vector<Token> tokens, second;  // second: of pairs
};

/// Turns texts into what the reader of the data's files would make of them.
class GivenSequenceReader {
 public:
  /// For texts, pairs of them and expressions. Throws io::Error for a subword model that cannot be used,
  /// std::invalid_argument for options of images.
  explicit GivenSequenceReader(const SequenceDatasetOptions& options);

  /// Takes an expression (listops), a text (imdb), or two texts with a tab between them (matching). Throws io::Error
  /// that names its fault.
  GivenSequence read(std::string_view text);

  const SequenceCounts& counts() const { return counts_; }  // of what was done by rule, so far

 private:
  std::vector<Token> encode(std::string_view text);

  GivenForm form_;
  SequenceRules rules_;
  std::unique_ptr<const TextEncoder> encoder_;  // of texts
  SequenceCounts counts_;
};

}  // namespace cachet::data
