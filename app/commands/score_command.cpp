#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "app/arguments/one_of.h"
#include "app/arguments/sample_arguments.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "cachet/config/counted.h"
#include "cachet/io/error.h"
#include "cachet/metrics/bleu.h"
#include "cachet/metrics/chrf.h"
#include "cachet/metrics/text_errors.h"
#include "cachet/report/uncertainty.h"

namespace cachet::app {
namespace {

struct ScoreArguments {
  std::string hypotheses;
  std::vector<std::string> references;
  std::string tokens = "13a";
  bool json = false;
};

std::vector<std::string> lines_of_file(const std::string& file) {
  std::vector<std::string> lines;
  const tasks::NextSample next = samples_of_lines(file);
  while (auto line = next()) lines.push_back(std::move(line->text));
  return lines;
}

/// A score of a corpus and what it is made of.
struct CorpusScores {
  metrics::BleuOptions bleu_options;
  metrics::ChrfOptions chrf_options;
  metrics::Bleu bleu;
  double chrf = 0;
  std::optional<double> bleu_error, chrf_error;
  int64_t references = 0, sentences = 0;

  std::string bleu_signature() const { return metrics::bleu_signature(bleu_options, references); }
  std::string chrf_signature() const { return metrics::chrf_signature(chrf_options, references); }
};

CorpusScores scores_of(const std::vector<std::string>& hypotheses,
                       const std::vector<std::vector<std::string>>& references, metrics::BleuTokens tokens) {
  CorpusScores scores;
  scores.bleu_options.tokens = tokens;
  scores.references = static_cast<int64_t>(references.size());
  scores.sentences = static_cast<int64_t>(hypotheses.size());
  metrics::BleuCounter bleu_counter(scores.bleu_options);
  metrics::ChrfCounter chrf_counter(scores.chrf_options);
  std::vector<metrics::BleuCounts> bleu_counts;
  std::vector<metrics::ChrfCounts> chrf_counts;
  metrics::BleuCounts bleu_sum;
  metrics::ChrfCounts chrf_sum;
  std::vector<std::string_view> row(references.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    for (size_t k = 0; k < references.size(); ++k) row[k] = references[k][i];
    bleu_counts.push_back(bleu_counter.count(hypotheses[i], row));
    chrf_counts.push_back(chrf_counter.count(hypotheses[i], row));
    bleu_sum += bleu_counts.back();
    chrf_sum += chrf_counts.back();
  }
  scores.bleu = metrics::bleu(bleu_sum, scores.bleu_options);
  scores.chrf = metrics::chrf(chrf_sum, scores.chrf_options);
  scores.bleu_error = metrics::bleu_error(bleu_counts, scores.bleu_options);
  scores.chrf_error = metrics::chrf_error(chrf_counts, scores.chrf_options);
  return scores;
}

void require_as_many_lines(const ScoreArguments& arguments, const std::vector<std::string>& hypotheses,
                           const std::vector<std::vector<std::string>>& references) {
  if (hypotheses.empty()) throw io::Error(arguments.hypotheses + ": holds no lines");
  for (size_t i = 0; i < references.size(); ++i)
    if (references[i].size() != hypotheses.size())
      throw io::Error(arguments.references[i] + ": has " + config::counted(references[i].size(), "line") + ", but " +
                      arguments.hypotheses + " has " + config::counted(hypotheses.size(), "line") +
                      "; each translation needs its reference in the same line");
}

nlohmann::ordered_json score_json(double score, const std::optional<double>& error, const std::string& text,
                                  const std::string& signature) {
  nlohmann::ordered_json json{{"score", score}};
  if (error) json["stderr"] = *error;
  json["text"] = text;
  json["signature"] = signature;
  return json;
}

/// "BLEU 26.93 ± 0.85", and sacreBLEU's line and signature below it.
void print_score(const char* title, double score, const std::optional<double>& error, const std::string& text,
                 const std::string& signature) {
  const report::MetricDescription metric{title, title, report::ValueForm::fixed, report::Better::higher};
  std::cout << title << ' ' << report::measured_text(metric, score, error) << "\n  " << text << "\n  " << signature
            << '\n';
}

int run_score(const ScoreArguments& arguments) {
  if (std::ranges::count(arguments.references, "-") + (arguments.hypotheses == "-" ? 1 : 0) > 1)
    throw UsageError("only one of the files can be standard input (-)");
  const std::vector<std::string> hypotheses = lines_of_file(arguments.hypotheses);
  std::vector<std::vector<std::string>> references;
  for (const std::string& file : arguments.references) references.push_back(lines_of_file(file));
  require_as_many_lines(arguments, hypotheses, references);
  const CorpusScores scores =
      scores_of(hypotheses, references,
                arguments.tokens == "none" ? metrics::BleuTokens::blanks : metrics::BleuTokens::mteval_13a);
  const std::string chrf_text = metrics::chrf_text(scores.chrf, scores.chrf_options);
  if (arguments.json) {
    print_json({{"schema", kSchema},
                {"sentences", scores.sentences},
                {"references", scores.references},
                {"bleu", score_json(scores.bleu.score, scores.bleu_error, scores.bleu.text(), scores.bleu_signature())},
                {"chrf", score_json(scores.chrf, scores.chrf_error, chrf_text, scores.chrf_signature())}});
    return kDone;
  }
  print_score("BLEU", scores.bleu.score, scores.bleu_error, scores.bleu.text(), scores.bleu_signature());
  print_score("chrF", scores.chrf, scores.chrf_error, chrf_text, scores.chrf_signature());
  return kDone;
}

Action declare_score(CLI::App& app) {
  auto arguments = std::make_shared<ScoreArguments>();
  app.add_option("HYPOTHESES", arguments->hypotheses, "Translations, one sentence in each line; - is standard input")
      ->required()
      ->type_name("");
  app.add_option("REFERENCES", arguments->references,
                 "Files of reference translations, each with as many lines as the translations")
      ->required()
      ->type_name("");
  app.add_option("--tokens", arguments->tokens,
                 "Tokenizer of BLEU: 13a, or none, which splits only at spaces (default: 13a)")
      ->check(one_of({"13a", "none"}))
      ->type_name("HOW");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  return [arguments] { return run_score(*arguments); };
}

const Registration registered_score({Topic::runs,
                                     "score",
                                     "Score translations by BLEU and chrF, with sacreBLEU's signatures",
                                     {"cachet score test.hyp test.en",
                                      "cachet score test.hyp ref-a.en ref-b.en --json"},
                                     declare_score});

}  // namespace
}  // namespace cachet::app
