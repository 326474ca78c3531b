// BLEU and chrF of corpora and of each of their sentences. Reads a JSON object a line from standard input:
// {"hypotheses": […], "references": [[…], …], "bleu": [{"tokens", "smoothing", "effective"}, …], "chrf": [{"order",
// "beta", "blanks"}, …]}; writes for each a line with a list of scores by option, that of the corpus and those of its
// sentences.
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cachet/metrics/bleu.h"
#include "cachet/metrics/chrf.h"

namespace {

using namespace cachet::metrics;
using nlohmann::json;
using Texts = std::vector<std::string>;

json of(const Bleu& bleu) {
  return {{"score", bleu.score},
          {"precisions", bleu.precisions},
          {"correct", bleu.counts.correct},
          {"total", bleu.counts.total},
          {"penalty", bleu.brevity_penalty},
          {"lengths", {bleu.counts.hypothesis_length, bleu.counts.reference_length}},
          {"text", bleu.text()}};
}

json of(double score) { return {{"score", score}}; }

/// `of_corpus` and `of_sentence` give the scores by one option.
template <class Corpus, class Sentence>
json scores(const Texts& hypotheses, const std::vector<Texts>& streams, const Corpus& of_corpus,
            const Sentence& of_sentence) {
  json sentences = json::array();
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<std::string_view> references;
    for (const Texts& stream : streams) references.push_back(stream[i]);
    sentences.push_back(of(of_sentence(hypotheses[i], references)));
  }
  return {{"corpus", of(of_corpus(hypotheses, streams))}, {"sentences", std::move(sentences)}};
}

json answer(const json& asked) {
  const auto hypotheses = asked.at("hypotheses").get<Texts>();
  const auto streams = asked.at("references").get<std::vector<Texts>>();
  json bleus = json::array(), chrfs = json::array();
  for (const json& option : asked.at("bleu")) {
    const BleuOptions options{
        .tokens = option.at("tokens") == "none" ? BleuTokens::blanks : BleuTokens::mteval_13a,
        .smoothing = option.at("smoothing") == "none" ? BleuSmoothing::none : BleuSmoothing::exponential,
        .effective_order = option.at("effective").get<bool>()};
    bleus.push_back(scores(
        hypotheses, streams,
        [&](const auto& all, const auto& references) { return corpus_bleu(all, references, options); },
        [&](const auto& one, const auto& references) { return sentence_bleu(one, references, options); }));
  }
  for (const json& option : asked.at("chrf")) {
    const ChrfOptions options{.character_order = option.at("order").get<int64_t>(),
                              .beta = option.at("beta").get<int64_t>(),
                              .blanks = option.at("blanks").get<bool>()};
    chrfs.push_back(scores(
        hypotheses, streams,
        [&](const auto& all, const auto& references) { return corpus_chrf(all, references, options); },
        [&](const auto& one, const auto& references) { return sentence_chrf(one, references, options); }));
  }
  return {{"bleu", std::move(bleus)}, {"chrf", std::move(chrfs)}};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  try {
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(json::parse(line)).dump() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "text_scores: " << error.what() << "\n";
    return 1;
  }
}
