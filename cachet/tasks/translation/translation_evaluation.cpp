#include "cachet/tasks/translation/translation_evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cachet/io/json/json_fields.h"
#include "cachet/metrics/chrf.h"
#include "cachet/metrics/text_errors.h"
#include "cachet/report/format.h"
#include "cachet/report/metric_description.h"

namespace cachet::tasks {
namespace {

constexpr size_t kShownSentences = 8;

// Words of a source, by which sentences are divided into lengths.
constexpr std::array<std::pair<int64_t, int64_t>, 6> kLengths{{{0, 5}, {6, 10}, {11, 20}, {21, 30}, {31, 50}, {51, 0}}};

int64_t words_in(const std::string& text) {
  int64_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    words += !blank && !inside;
    inside = !blank;
  }
  return words;
}

nlohmann::ordered_json json_of(const std::vector<TranslatedSentence>& sentences) {
  auto all = nlohmann::ordered_json::array();
  for (const TranslatedSentence& s : sentences)
    all.push_back({{"index", s.index},
                   {"source", s.source},
                   {"reference", s.reference},
                   {"hypothesis", s.hypothesis},
                   {"bleu", s.bleu}});
  return all;
}

std::vector<TranslatedSentence> sentences_of(const std::vector<io::JsonFields>& list) {
  std::vector<TranslatedSentence> all;
  for (const io::JsonFields& s : list)
    all.push_back({s.count("index"), s.text("source"), s.text("reference"), s.text("hypothesis"), s.number("bleu")});
  return all;
}

report::Table table_of(const char* title, const std::vector<TranslatedSentence>& sentences) {
  report::Table table{title,
                      {{"sentence", report::Alignment::right},
                       {"BLEU", report::Alignment::right},
                       {"source"},
                       {"translation"},
                       {"reference"}},
                      {},
                      ""};
  for (const TranslatedSentence& s : sentences)
    table.rows.push_back(
        {std::to_string(s.index + 1), {report::format_fixed(s.bleu, 1), s.bleu}, s.source, s.hypothesis, s.reference});
  return table;
}

}  // namespace

train::Metrics TranslationEvaluation::metrics(bool translates) const {
  train::Metrics all;
  const auto set = [&](const std::string& name, double value, const std::optional<double>& error) {
    all.set(name, value);
    if (error) all.set(name + std::string(report::kErrorSuffix), *error);
  };
  if (translates) {
    set("bleu", bleu, bleu_error);
    set("chrf", chrf, chrf_error);
    all.set("length_ratio", length_ratio);
  }
  all.set("nll", nll);
  all.set("perplexity", std::exp(nll));
  all.set("loss", loss);
  return all;
}

void TranslationTally::add(const PairLosses& losses) {
  ++pairs_;
  tokens_ += losses.tokens;
  loss_ += losses.loss;
  nll_ += losses.nll;
}

void TranslationTally::finish(TranslationEvaluation& evaluation) const {
  evaluation.pairs = pairs_;
  evaluation.tokens = tokens_;
  evaluation.loss = loss_ / static_cast<double>(tokens_);
  evaluation.nll = nll_ / static_cast<double>(tokens_);
}

void score_translations(std::vector<TranslatedSentence> sentences, const metrics::BleuOptions& options,
                        TranslationEvaluation& evaluation) {
  evaluation.translated = static_cast<int64_t>(sentences.size());
  if (sentences.empty()) return;
  metrics::BleuCounter words(options);
  metrics::ChrfCounter characters;
  metrics::BleuOptions alone = options;
  alone.effective_order = true;
  metrics::BleuCounts whole;
  metrics::ChrfCounts whole_characters;
  std::vector<metrics::BleuCounts> of_sentences;
  std::vector<metrics::ChrfCounts> characters_of_sentences;
  std::array<metrics::BleuCounts, kLengths.size()> by_length{};
  std::array<int64_t, kLengths.size()> sentences_of_length{};
  for (TranslatedSentence& s : sentences) {
    const std::array<std::string_view, 1> references{s.reference};
    const metrics::BleuCounts counts = words.count(s.hypothesis, references);
    s.bleu = metrics::bleu(counts, alone).score;
    whole += counts;
    of_sentences.push_back(counts);
    characters_of_sentences.push_back(characters.count(s.hypothesis, references));
    whole_characters += characters_of_sentences.back();
    const int64_t length = words_in(s.source);
    for (size_t i = 0; i < kLengths.size(); ++i) {
      const auto [least, most] = kLengths[i];
      if (length < least || (most > 0 && length > most)) continue;
      by_length[i] += counts;
      ++sentences_of_length[i];
    }
  }
  const metrics::Bleu score = metrics::bleu(whole, options);
  evaluation.bleu = score.score;
  evaluation.bleu_text = score.text();
  evaluation.signature = metrics::bleu_signature(options, 1);
  evaluation.length_ratio = score.length_ratio();
  evaluation.chrf = metrics::chrf(whole_characters);
  evaluation.bleu_error = metrics::bleu_error(of_sentences, options);
  evaluation.chrf_error = metrics::chrf_error(characters_of_sentences);
  for (size_t i = 0; i < kLengths.size(); ++i)
    if (sentences_of_length[i] > 0)
      evaluation.by_length.push_back(
          {kLengths[i].first, kLengths[i].second, sentences_of_length[i], metrics::bleu(by_length[i], options).score});
  std::ranges::stable_sort(sentences, {}, &TranslatedSentence::bleu);
  const size_t shown = std::min(kShownSentences, sentences.size());
  evaluation.worst.assign(sentences.begin(), sentences.begin() + static_cast<std::ptrdiff_t>(shown));
  evaluation.best.assign(sentences.rbegin(), sentences.rbegin() + static_cast<std::ptrdiff_t>(shown));
}

std::string to_json(const TranslationEvaluation& e) {
  auto by_length = nlohmann::ordered_json::array(), attention = nlohmann::ordered_json::array();
  for (const BleuByLength& each : e.by_length)
    by_length.push_back(
        {{"least", each.least}, {"most", each.most}, {"sentences", each.sentences}, {"bleu", each.bleu}});
  for (const AttentionMap& map : e.attention)
    attention.push_back({{"source", map.source}, {"target", map.target}, {"values", map.values}});
  nlohmann::ordered_json json{{"pairs", e.pairs},
                              {"tokens", e.tokens},
                              {"loss", e.loss},
                              {"nll", e.nll},
                              {"translated", e.translated},
                              {"bleu", e.bleu},
                              {"chrf", e.chrf},
                              {"length_ratio", e.length_ratio},
                              {"bleu_text", e.bleu_text},
                              {"signature", e.signature},
                              {"by_length", by_length},
                              {"best", json_of(e.best)},
                              {"worst", json_of(e.worst)},
                              {"attention", attention}};
  if (e.bleu_error) json["bleu_error"] = *e.bleu_error;
  if (e.chrf_error) json["chrf_error"] = *e.chrf_error;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<TranslationEvaluation> translation_evaluation_from_json(const std::string& text) {
  try {
    const io::JsonFields json(text, "evaluation");
    TranslationEvaluation e{json.count("pairs"),   json.count("tokens"),        json.number("loss"),
                            json.number("nll"),    json.count("translated"),    json.number("bleu"),
                            json.number("chrf"),   json.number("length_ratio"), json.text("bleu_text"),
                            json.text("signature")};
    for (const io::JsonFields& each : json.objects("by_length"))
      e.by_length.push_back({each.count("least"), each.count("most"), each.count("sentences"), each.number("bleu")});
    e.best = sentences_of(json.objects("best"));
    e.worst = sentences_of(json.objects("worst"));
    for (const io::JsonFields& map : json.objects("attention")) {
      e.attention.push_back({map.texts("source"), map.texts("target"), map.numbers_or_nan("values")});
      const AttentionMap& read = e.attention.back();
      if (read.values.size() != read.source.size() * read.target.size()) return std::nullopt;
    }
    if (json.has("bleu_error")) e.bleu_error = json.number("bleu_error");
    if (json.has("chrf_error")) e.chrf_error = json.number("chrf_error");
    return e;
  } catch (const io::Error&) {
    return std::nullopt;
  }
}

std::vector<report::Section> translation_sections(const TranslationEvaluation& e) {
  if (e.tokens == 0) return {};
  report::Section section{"Translations", {}, ""};
  report::Table facts{"The last evaluation", {{"what"}, {"", report::Alignment::right}}, {}, ""};
  const auto fact = [&](const char* what, const std::string& value) { facts.rows.push_back({what, value}); };
  fact("pairs", std::to_string(e.pairs));
  fact("tokens predicted", report::format_count(static_cast<double>(e.tokens)));
  fact("perplexity", report::format_fixed(std::exp(e.nll), 2));
  if (e.translated > 0) {
    fact("sentences translated",
         std::to_string(e.translated) + (e.translated < e.pairs ? ", the first of " + std::to_string(e.pairs) : ""));
    fact("BLEU", e.bleu_text);
    if (e.bleu_error) fact("standard error of BLEU", report::format_fixed(*e.bleu_error, 2));
    fact("signature", e.signature);
    fact("chrF", report::format_fixed(e.chrf, 2) +
                     (e.chrf_error ? " ± " + report::format_fixed(*e.chrf_error, 2) : std::string()));
    fact("words for one of the reference", report::format_fixed(e.length_ratio, 3));
  }
  section.blocks.push_back(facts);
  if (!e.by_length.empty()) {
    report::Table lengths{"BLEU by the number of words in the source",
                          {{"words"}, {"sentences", report::Alignment::right}, {"BLEU", report::Alignment::right}},
                          {},
                          ""};
    for (const BleuByLength& each : e.by_length)
      lengths.rows.push_back(
          {std::to_string(each.least) + (each.most > 0 ? "–" + std::to_string(each.most) : " or more"),
           std::to_string(each.sentences),
           {report::format_fixed(each.bleu, 1), each.bleu}});
    section.blocks.push_back(lengths);
  }
  if (!e.worst.empty()) section.blocks.push_back(table_of("The worst translations", e.worst));
  if (!e.best.empty()) section.blocks.push_back(table_of("The best translations", e.best));
  for (const AttentionMap& map : e.attention) {
    report::HeatMap heat{
        "Attention to the source", "source", "translation", map.source, map.target, map.values, 0.0, 1.0, ""};
    heat.note =
        "Attention weights of the decoder's last layer, averaged over the heads. A row is a token of the "
        "translation, and a column is a token of the source.";
    heat.square = true;
    section.blocks.push_back(std::move(heat));
  }
  return {section};
}

}  // namespace cachet::tasks
