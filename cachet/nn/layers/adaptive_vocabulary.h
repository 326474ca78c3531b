#pragma once

#include <cstdint>
#include <vector>

namespace cachet::nn {

/// A large vocabulary in the order of token frequency, cut into clusters. With clusters, frequent tokens need little
/// computation, and rare tokens are seldom computed (Grave et al., arXiv 1609.04309, and Baevski & Auli, arXiv
/// 1809.10853).
struct AdaptiveVocabulary {
  int64_t tokens = 0;
  int64_t dim = 0;                    // channels of the model
  int64_t embedding_dim = 0;          // width of the first cluster's embeddings; 0: dim
  std::vector<int64_t> cutoffs = {};  // first tokens of all clusters except the first, ascending; empty: one cluster
  int64_t division = 1;               // the embeddings of cluster i have embedding_dim / division^i channels
};

/// The tokens from `first` to first + count − 1, with embeddings of `width` channels.
struct TokenCluster {
  int64_t first = 0, count = 0, width = 0;
};

/// Returns the clusters of the vocabulary. There is at least one cluster. Throws c10::Error, which names the option, if
/// there are no tokens or channels, if the cutoffs do not ascend within the vocabulary, or if a cluster has no
/// channels.
std::vector<TokenCluster> clusters_of(const AdaptiveVocabulary& vocabulary);

/// Whether the embeddings of all clusters are in one table, with one width and one projection.
inline bool has_one_table(const AdaptiveVocabulary& vocabulary) { return vocabulary.division == 1; }

/// Whether embeddings are projected to the model's channels.
bool has_projections(const AdaptiveVocabulary& vocabulary);

}  // namespace cachet::nn
