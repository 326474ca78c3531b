#include "cachet/tasks/translation/translation_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cachet/data/text/parallel/parallel_files.h"
#include "cachet/data/text/text_overlap.h"
#include "cachet/io/error.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/saved_vocabulary.h"
#include "cachet/tasks/translation/translation_task.h"

namespace cachet::tasks {
namespace {

constexpr std::array<config::Choice<data::SequenceSplit>, 2> kHeldOutPairs{
    {{"validation", data::SequenceSplit::validation}, {"test", data::SequenceSplit::test}}};
constexpr std::array<config::Choice<models::SmoothingShare>, 2> kSmoothingShares{
    {{"others", models::SmoothingShare::others}, {"all", models::SmoothingShare::all}}};
constexpr std::array<config::Choice<metrics::BleuTokens>, 2> kBleuTokens{
    {{"13a", metrics::BleuTokens::mteval_13a}, {"none", metrics::BleuTokens::blanks}}};
constexpr config::Range<int64_t> kTokenCounts{0, 1 << 20};
constexpr int64_t kMaxBeams = 1000;

TranslationEvaluationOptions read_translation_evaluation(const config::View& table) {
  TranslationEvaluationOptions o;
  o.translate = table.boolean("translate", o.translate);
  o.how.beam.beam = table.integer("beam", o.how.beam.beam, {1, kMaxBeams});
  o.how.beam.length_penalty = table.real("length_penalty", o.how.beam.length_penalty, {-10.0, 10.0});
  o.how.beam.lengths.shortest = table.integer("min_length", o.how.beam.lengths.shortest, kTokenCounts);
  o.how.beam.lengths.per_token = table.real("max_length_a", o.how.beam.lengths.per_token, {0.0, 1000.0});
  o.how.beam.lengths.added = table.integer("max_length_b", o.how.beam.lengths.added, kTokenCounts);
  o.limit = table.integer("limit", o.limit, {.least = 0});
  o.how.max_tokens = table.integer("max_tokens", o.how.max_tokens, {1, 1 << 24});
  o.bleu.tokens = table.choice("bleu_tokens", o.bleu.tokens, kBleuTokens);
  return o;
}

// The vocabulary of a side, which both may share.
struct SideVocabulary {
  data::ParallelSide side;
  SavedVocabulary kept;
};

std::vector<SideVocabulary> vocabularies_of(const data::ParallelOptions& options) {
  using enum data::ParallelSide;
  if (options.shared_vocabulary) return {{source, {"data.vocabulary", "vocabulary"}}};
  return {{source, {"data.source_vocabulary", "source_vocabulary"}},
          {target, {"data.target_vocabulary", "target_vocabulary"}}};
}

}  // namespace

TranslationTaskOptions read_translation_options(const config::View& root, data::DataRoot data_root) {
  const config::View data = root.table("data"), task = root.table("task");
  TranslationTaskOptions options;
  options.parallel = data::read_parallel_options(data, data_root);
  const int64_t longest = options.parallel.rules.max_length;
  options.loader = data::read_parallel_loader_options(data, longest);
  options.held_out = task.choice("held_out", options.held_out, kHeldOutPairs);
  options.smoothing.amount = task.real("label_smoothing", options.smoothing.amount, {0.0, 0.99});
  options.smoothing.share = task.choice("smoothing_share", options.smoothing.share, kSmoothingShares);
  options.evaluation = read_translation_evaluation(task.table("evaluation"));
  const auto tokens = [&](data::ParallelSide side) {
    const int64_t size = options.parallel.vocabulary(side).size;
    return size > 0 ? std::optional(size) : std::nullopt;
  };
  options.model = models::read_translation_model(
      root.table("model"), {tokens(data::ParallelSide::source), tokens(data::ParallelSide::target), longest + 1,
                            options.parallel.shared_vocabulary});
  const models::TranslationShape& text = options.model.text;
  const int64_t room = std::min(text.source_length, text.target_length) - 1;
  options.loader.padding.most_length = room + 1;
  // A model alone knows its sentences, and no data.
  if (data_root == data::DataRoot::optional && !data.has("max_length") && room >= 1)
    options.parallel.rules.max_length = std::min(longest, room);
  else if (room < longest)
    root.table("model").problem(text.source_length <= longest ? "source_length" : "target_length",
                                "must be above data.max_length, " + std::to_string(longest) +
                                    ", because a sentence also has an end token; leave the key out");
  return options;
}

std::vector<report::MetricDescription> translation_metrics(bool translates) {
  using report::Better, report::ValueForm;
  std::vector<report::MetricDescription> all;
  if (translates)
    all = {{"bleu", "BLEU", ValueForm::fixed, Better::higher, /*decides=*/true},
           {"chrf", "chrF", ValueForm::fixed, Better::higher},
           {"length_ratio", "words for one of the reference", ValueForm::fixed, Better::neither}};
  all.push_back({.name = "nll",
                 .title = "loss without smoothing",
                 .form = ValueForm::fixed,
                 .better = Better::lower,
                 .decides = !translates,
                 .family = train::kLossFamily});
  all.push_back({.name = "perplexity",
                 .title = "perplexity",
                 .form = ValueForm::fixed,
                 .better = Better::lower,
                 .headline = true});
  all.push_back({.name = "loss",
                 .title = "loss",
                 .form = ValueForm::fixed,
                 .better = Better::lower,
                 .family = train::kLossFamily});
  all.push_back({"tokens_per_second", "target tokens/s", ValueForm::count, Better::higher});
  return all;
}

TaskProfile TranslationPlan::profile() const {
  return {"translation",
          {"sentence", "sentences", "sentences/s", data::to_string(options_.held_out)},
          translation_metrics(options_.evaluation.translate),
          options_.model,
          /*reports_choice=*/options_.held_out == data::SequenceSplit::test};
}

std::vector<DataPlace> TranslationPlan::data() const {
  return {{"sentences and translations", options_.parallel.root, data::expected_parallel_files(options_.parallel)}};
}

std::optional<std::string> TranslationPlan::absent_data() const try {
  data::find_parallel_root(options_.parallel, std::filesystem::current_path());
  return std::nullopt;
} catch (const io::Error& error) {
  return error.what();
}

DataLook TranslationPlan::look_at_data(const data::LookProgress& progress) const {
  const data::ParallelOptions& options = options_.parallel;
  const auto root = data::find_parallel_root(options, std::filesystem::current_path());
  const auto has_texts = [&](data::SequenceSplit split) {
    try {
      return !data::find_parallel_files(options, split, root).empty();
    } catch (const io::Error&) {
      return false;
    }
  };
  if (!has_texts(data::SequenceSplit::train) && !data::find_parallel_token_files(options, root).empty())
    return {.not_compared = kOnlyTokens};
  std::vector<data::SequenceSplit> splits{options_.held_out};
  for (const data::SequenceSplit other : {data::SequenceSplit::validation, data::SequenceSplit::test})
    if (other != options_.held_out && has_texts(other)) splits.push_back(other);
  return {.overlaps = data::parallel_overlaps(options, splits, progress)};
}

void TranslationPlan::limit_evaluation(int64_t limit) {
  options_.evaluation_limit = limit;
  options_.evaluation.limit = 0;
}

std::vector<std::string> TranslationPlan::settings_for_batches_of(int64_t batch) const {
  const int64_t longest = longest_sentence();
  return {"data.max_samples=" + std::to_string(batch), "data.max_tokens=" + std::to_string(batch * longest),
          "task.evaluation.translate=false"};
}

int64_t TranslationPlan::longest_sentence() const {
  return options_.loader.padding.rounded_up(options_.parallel.rules.max_length + 1);
}

TaskPlan::BatchCount TranslationPlan::batch_count(const train::TrainOptions& /*training*/) const {
  const data::TokenBudgetOptions& budget = options_.loader.budget;
  const int64_t longest = std::min(longest_sentence(), budget.max_tokens),
                pairs = std::max<int64_t>(1, budget.max_tokens / longest);
  if (budget.max_samples > 0 && budget.max_samples <= pairs)
    return {"data.max_samples", budget.max_samples, 1, budget.max_samples};
  return {"data.max_tokens", budget.max_tokens, longest, pairs};
}

SavedFiles TranslationPlan::files_to_keep() const {
  SavedFiles keep;
  for (const auto& [side, kept] : vocabularies_of(options_.parallel))
    keep_vocabulary(kept, data::read_parallel_vocabulary(options_.parallel, side, std::filesystem::current_path()),
                    options_.parallel.vocabulary(side).hash, keep);
  return keep;
}

std::vector<std::string> TranslationPlan::saved_file_settings(const std::filesystem::path& run) const {
  std::vector<SavedVocabulary> all;
  for (const auto& [side, kept] : vocabularies_of(options_.parallel)) all.push_back(kept);
  return saved_vocabulary_settings(all, run);
}

std::unique_ptr<Task> TranslationPlan::build(const train::TrainOptions& training, Splits splits) const {
  TranslationPlan plan = *this;
  if (splits == Splits::test) plan.options_.held_out = data::SequenceSplit::test;
  return std::make_unique<TranslationTask>(plan, training, splits);
}

void TranslationPlan::replace_model(std::function<std::shared_ptr<models::Model>()> make) {
  options_.model.build = [make = std::move(make)] {
    return std::dynamic_pointer_cast<models::TranslationModel>(make());
  };
}

TaskKind translation() {
  return {"translation", [](const config::View& root, data::DataRoot data_root) {
            return std::make_unique<TranslationPlan>(read_translation_options(root, data_root));
          }};
}

}  // namespace cachet::tasks
