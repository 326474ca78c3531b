#include "cachet/tasks/language_modelling/language_modelling_plan.h"

#include <array>
#include <utility>

#include "cachet/data/text/text_overlap.h"
#include "cachet/io/error.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/language_modelling/language_modelling.h"
#include "cachet/tasks/saved_vocabulary.h"

namespace cachet::tasks {
namespace {

const SavedVocabulary kCorpusVocabulary{"data.vocabulary", "vocabulary"};

constexpr std::array<config::Choice<data::SequenceSplit>, 2> kHeldOutTexts{
    {{"validation", data::SequenceSplit::validation}, {"test", data::SequenceSplit::test}}};

constexpr std::array<config::Choice<BitsOf>, 2> kBitsOf{
    {{"coded_text", BitsOf::coded_text}, {"whole_text", BitsOf::whole_text}}};

constexpr config::Range<int64_t> kSegmentLengths{1, 1 << 20}, kMemoryLengths{0, 1 << 24};

}  // namespace

LanguageModellingOptions read_language_modelling_options(const config::View& root, data::DataRoot data_root) {
  const config::View data = root.table("data"), task = root.table("task");
  LanguageModellingOptions options;
  options.corpus = data::read_corpus_options(data, data_root);
  options.loader = data::read_loader_options(data);
  options.held_out = task.choice("held_out", options.held_out, kHeldOutTexts);
  options.segments_per_step = task.integer("segments_per_step", options.segments_per_step, {1, 1000});
  options.baseline = task.boolean("baseline", options.baseline);
  options.model = models::read_language_model(root.table("model"), {options.corpus.vocabulary});
  const config::View evaluation = task.table("evaluation");
  LanguageEvaluationOptions& own = options.evaluation;
  own.batch_rows = evaluation.integer("lanes", own.batch_rows, {1, 1 << 20});
  own.samples = evaluation.integer("samples", own.samples, {0, 100});
  own.bits_of = evaluation.choice("bits_of", own.bits_of, kBitsOf);
  own.target_length = evaluation.integer("target_length", options.model.text.target_length, kSegmentLengths);
  own.segments.memory_length =
      evaluation.integer("memory_length", options.model.segments.memory_length, kMemoryLengths);
  own.segments.clamp_length = evaluation.integer("clamp_length", options.model.segments.clamp_length, kMemoryLengths);
  own.segments.same_length = evaluation.boolean("same_length", options.model.segments.same_length);
  own.segments.whole_past = evaluation.boolean("whole_past", options.model.segments.whole_past);
  if (own.segments.whole_past && !options.model.segments.whole_past)
    evaluation.problem("whole_past", "must be false, because the model was trained with whole_past = false");
  if (own.segments.same_length && own.segments.memory_length == 0)
    evaluation.problem("same_length",
                       "with same_length, each token sees memory_length tokens, so memory_length must be above 0");
  if (options.model.segments.memory_length == 0 && own.segments.memory_length > 0)
    evaluation.problem("memory_length", "must be 0, because the model was trained without a memory");
  if (!options.model.relative_positions && own.segments.clamp_length > 0)
    evaluation.problem("clamp_length",
                       "must be 0, because it needs relative positions, and the model's positions are absolute");
  return options;
}

std::vector<report::MetricDescription> language_metrics(data::CorpusTokens tokens, BitsOf bits_of) {
  using report::Better, report::ValueForm;
  const bool words = tokens == data::CorpusTokens::words, whole = bits_of == BitsOf::whole_text;
  std::vector<report::MetricDescription> metrics{
      {.name = "perplexity",
       .title = "perplexity",
       .form = ValueForm::fixed,
       .better = Better::lower,
       .decides = words,
       .headline = true},
      {"loss", "loss", ValueForm::fixed, Better::lower},
      {kBitsPerByte, whole ? "bits per byte of the whole text" : "bits per byte", ValueForm::fixed, Better::lower,
       /*decides=*/!words},
      {"bits_per_character", whole ? "bits per character of the whole text" : "bits per character", ValueForm::fixed,
       Better::lower}};
  if (whole) metrics.push_back({kBitsPerCodedByte, "bits per coded byte", ValueForm::fixed, Better::lower});
  metrics.push_back(
      {.name = kUncoded, .title = "text not coded", .form = ValueForm::percent, .constant = true, .condition = true});
  metrics.push_back({.name = kTextBytes,
                     .title = "bytes of the text",
                     .form = ValueForm::whole,
                     .constant = true,
                     .condition = true});
  metrics.push_back(
      {.name = "baseline_perplexity", .title = "5-gram's perplexity", .form = ValueForm::fixed, .constant = true});
  return metrics;
}

std::vector<std::string> LanguageModellingPlan::current_rules() const { return {"task.evaluation.bits_of=coded_text"}; }

TaskProfile LanguageModellingPlan::profile() const {
  return {"language_modelling",
          {"segment", "segments", "segments/s", data::to_string(options_.held_out)},
          language_metrics(options_.corpus.tokens, options_.evaluation.bits_of),
          options_.model,
          /*reports_choice=*/options_.held_out == data::SequenceSplit::test};
}

std::vector<std::string> LanguageModellingPlan::settings_for_batches_of(int64_t batch) const {
  return {"task.evaluation.lanes=" + std::to_string(batch)};
}

std::vector<DataPlace> LanguageModellingPlan::data() const {
  return {{"text", options_.corpus.root, data::expected_corpus_files(options_.corpus)}};
}

std::optional<std::string> LanguageModellingPlan::absent_data() const try {
  data::find_corpus_root(options_.corpus, std::filesystem::current_path());
  return std::nullopt;
} catch (const io::Error& error) {
  return error.what();
}

DataLook LanguageModellingPlan::look_at_data(const data::LookProgress& progress) const {
  const auto root = data::find_corpus_root(options_.corpus, std::filesystem::current_path());
  const auto is_only_tokens = [&](data::SequenceSplit split) {
    return !data::has_corpus_text(root, split) && std::filesystem::exists(root / data::token_file_name(split));
  };
  if (is_only_tokens(data::SequenceSplit::train) || is_only_tokens(options_.held_out))
    return {.not_compared = kOnlyTokens};
  std::vector<data::SequenceSplit> splits{options_.held_out};
  for (const data::SequenceSplit other : {data::SequenceSplit::validation, data::SequenceSplit::test})
    if (other != options_.held_out && data::has_corpus_text(root, other)) splits.push_back(other);
  return {.overlaps = data::corpus_overlaps(options_.corpus, splits, progress)};
}

SavedFiles LanguageModellingPlan::files_to_keep() const {
  data::VocabularyFile file = data::read_vocabulary_file(options_.corpus, std::filesystem::current_path());
  if (file.bytes.empty()) return {};
  SavedFiles keep;
  keep_vocabulary(kCorpusVocabulary, std::move(file), options_.corpus.vocabulary_hash, keep);
  return keep;
}

std::vector<std::string> LanguageModellingPlan::saved_file_settings(const std::filesystem::path& run) const {
  if (options_.corpus.tokens == data::CorpusTokens::bytes) return {};
  return saved_vocabulary_settings({kCorpusVocabulary}, run);
}

std::unique_ptr<Task> LanguageModellingPlan::build(const train::TrainOptions& training, Splits splits) const {
  LanguageModellingPlan plan = *this;
  if (splits == Splits::test) plan.options_.held_out = data::SequenceSplit::test;
  return std::make_unique<LanguageModelling>(plan, training, splits);
}

void LanguageModellingPlan::replace_model(std::function<std::shared_ptr<models::Model>()> make) {
  options_.model.build = [make = std::move(make)] { return std::dynamic_pointer_cast<models::LanguageModel>(make()); };
}

TaskKind language_modelling() {
  return {"language_modelling", [](const config::View& root, data::DataRoot data_root) {
            return std::make_unique<LanguageModellingPlan>(read_language_modelling_options(root, data_root));
          }};
}

}  // namespace cachet::tasks
