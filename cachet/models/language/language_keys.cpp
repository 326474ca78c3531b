#include "cachet/models/language/language_keys.h"

namespace cachet::models {
namespace {

void check_cutoffs(const config::View& table, const nn::AdaptiveVocabulary& vocabulary) {
  int64_t last = 0;
  for (const int64_t cutoff : vocabulary.cutoffs) {
    if (cutoff <= last || cutoff >= vocabulary.tokens)
      table.problem("cutoffs",
                    "must be in ascending order, above 0 and below the size of the vocabulary, " +
                        std::to_string(vocabulary.tokens) + " tokens (" + table.path() +
                        ".vocabulary, by default data.vocabulary); each cutoff is the first token of a cluster");
    last = cutoff;
  }
  int64_t width = vocabulary.embedding_dim > 0 ? vocabulary.embedding_dim : vocabulary.dim;
  for (size_t i = 0; i < vocabulary.cutoffs.size(); ++i) width /= vocabulary.division;
  if (width == 0) table.problem("division", "leaves the last cluster without channels; choose a smaller number");
}

}  // namespace

nn::AdaptiveVocabulary read_adaptive_vocabulary(const config::View& table, nn::AdaptiveVocabulary vocabulary) {
  vocabulary.tokens = table.integer("vocabulary", vocabulary.tokens, {1, 1 << 24});
  vocabulary.dim = table.integer("embed_dim", vocabulary.dim, {1, 1 << 16});
  vocabulary.embedding_dim = table.integer("token_dim", vocabulary.embedding_dim, {0, 1 << 16});
  std::erase_if(vocabulary.cutoffs, [&](int64_t cutoff) { return cutoff >= vocabulary.tokens; });
  vocabulary.cutoffs = table.integers("cutoffs", vocabulary.cutoffs, {1, 1 << 24});
  vocabulary.division = table.integer("division", vocabulary.division, {1, 1024});
  check_cutoffs(table, vocabulary);
  return vocabulary;
}

}  // namespace cachet::models
