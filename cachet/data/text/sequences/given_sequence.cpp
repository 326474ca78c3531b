#include "cachet/data/text/sequences/given_sequence.h"

#include <filesystem>
#include <stdexcept>

#include "cachet/data/text/listops/listops.h"
#include "cachet/io/error.h"

namespace cachet::data {

GivenSequenceReader::GivenSequenceReader(const SequenceDatasetOptions& options)
    : form_(options.kind->given), rules_{options.max_length, options.too_long, EmptyText::refuse} {
  if (form_ == GivenForm::image) throw std::invalid_argument("samples of this data set are images");
  if (options.kind->has_texts) encoder_ = make_text_encoder(options.text, std::filesystem::current_path());
}

GivenSequence GivenSequenceReader::read(std::string_view text) {
  if (form_ == GivenForm::expression) return {fit_sequence(parse_listops(text), rules_, counts_), {}};
  if (form_ == GivenForm::text) return {encode(text), {}};
  const size_t tab = text.find('\t');
  if (tab == std::string_view::npos || text.find('\t', tab + 1) != std::string_view::npos)
    throw io::Error("a sample must be two texts with one tab between them");
  std::vector<Token> first = encode(text.substr(0, tab));
  return {std::move(first), encode(text.substr(tab + 1))};
}

std::vector<Token> GivenSequenceReader::encode(std::string_view text) {
  EncodedText encoded = encoder_->encode(text, rules_.max_length);
  if (encoded.tokens.empty()) throw io::Error("the text is empty");
  counts_.replaced += encoded.replaced;
  return fit_sequence(std::move(encoded.tokens), rules_, counts_);
}

}  // namespace cachet::data
