#include "cachet/tasks/language_modelling/language_sections.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "cachet/report/format.h"
#include "cachet/report/metric_description.h"
#include "cachet/train/runs/event_curves.h"

namespace cachet::tasks {
namespace {

/// With a capital letter and a full stop.
void add_sentence(std::string& text, std::string sentence) {
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  text += (text.empty() ? "" : " ") + sentence + ".";
}

}  // namespace

std::vector<report::Section> language_evaluation_sections(const LanguageEvaluation& evaluation,
                                                          const LanguageModellingOptions& options) {
  if (evaluation.tokens == 0) return {};
  report::Section section{"Text", {}, ""};
  const LanguageEvaluationOptions& how = options.evaluation;
  report::Table facts{"The last evaluation", {{"what"}, {"", report::Alignment::right}}, {}, ""};
  const auto fact = [&](const char* what, const std::string& value) { facts.rows.push_back({what, value}); };
  fact("tokens predicted", report::format_count(static_cast<double>(evaluation.tokens)));
  fact("vocabulary", report::format_count(static_cast<double>(options.corpus.vocabulary)));
  fact("tokens at a time", std::to_string(how.target_length));
  fact("memory", std::to_string(how.segments.memory_length) + " tokens");
  const double perplexity = std::exp(evaluation.loss);
  fact("perplexity",
       report::format_fixed(perplexity, 2) +
           (evaluation.loss_error ? " ± " + report::format_fixed(perplexity * *evaluation.loss_error, 2) : ""));
  if (evaluation.baseline.perplexity > 0)
    fact("perplexity of a Kneser–Ney 5-gram", report::format_fixed(evaluation.baseline.perplexity, 2));
  for (const std::string& note : evaluation.baseline.notes) add_sentence(facts.note, note);
  if (const auto uncoded = evaluation.text.uncoded()) {
    const data::CodedText& coded = evaluation.text.coded.targets;
    fact("text not coded", report::format_value(report::ValueForm::percent, *uncoded));
    fact("unknown tokens", report::format_count(static_cast<double>(coded.unknown)));
    if (*uncoded > 0)
      add_sentence(facts.note,
                   "text not coded is the part of the text that no token encodes: unknown words, characters without a "
                   "token, repeated blanks. Perplexity and bits do not include the cost of this part");
  }
  section.blocks.push_back(facts);
  report::LineChart chart{"Loss by position in the segment", "position", "loss, nats"};
  report::Series series{"loss", {}, evaluation.loss_by_position};
  for (size_t i = 0; i < evaluation.loss_by_position.size(); ++i) series.x.push_back(static_cast<double>(i + 1));
  chart.series.push_back(std::move(series));
  chart.note = "The first tokens of a segment are predicted only from the memory.";
  section.blocks.push_back(chart);
  if (!evaluation.samples.empty()) {
    report::Table written{"Passages of the text, continued by the model", {{"given"}, {"written"}}, {}, ""};
    for (const WrittenSample& sample : evaluation.samples) written.rows.push_back({sample.given, sample.written});
    section.blocks.push_back(std::move(written));
  }
  return {section};
}

std::vector<report::Section> language_learning_sections(const std::vector<train::Event>& events,
                                                        int64_t tokens_per_step) {
  const train::StepCurve curve = train::step_curve(events, train::Event::Kind::evaluation, "perplexity");
  if (curve.values.empty()) return {};
  report::Section section{"Perplexity by budget", {}, ""};
  const auto add = [&](const char* title, const char* x_label, const std::vector<double>& of, double scale) {
    report::LineChart chart{title, x_label, "perplexity"};
    report::Series series{"perplexity", {}, curve.values};
    for (const double x : of) series.x.push_back(x * scale);
    chart.series.push_back(std::move(series));
    section.blocks.push_back(std::move(chart));
  };
  add("Perplexity over tokens", "million tokens read", curve.steps, static_cast<double>(tokens_per_step) / 1e6);
  add("Perplexity over time", "minutes", curve.seconds, 1.0 / 60);
  return {section};
}

}  // namespace cachet::tasks
