#include "cachet/tasks/translation/translation_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <stdexcept>

#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/metrics/chrf.h"
#include "cachet/models/language/fixed_decoder.h"
#include "cachet/nn/base/regularizer.h"
#include "cachet/ops/support/finite.h"
#include "cachet/tasks/samples/shown_text.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/step/recalibration.h"

namespace cachet::tasks {
namespace {

using Side = data::ParallelSide;

constexpr int64_t kSyntheticBatches = 2;
constexpr size_t kAttentionMaps = 3, kMaxShownTokens = 40;

/// A batch on the model's device, its padding as targets that do not count.
models::SentencePairs pairs_of(models::TranslationModel& model, data::ParallelBatch batch) {
  at::Tensor targets = batch.target.ids;
  if (batch.target.padding.defined()) targets = targets.masked_fill(batch.target.padding, -1);
  train::move_to(train::device_of(model),
                 {&batch.source.ids, &batch.source.padding, &batch.input.ids, &batch.input.padding, &targets});
  return {{batch.source.ids, batch.source.padding}, {batch.input.ids, batch.input.padding}, targets};
}

std::vector<at::Tensor*> tensors_of(models::SentencePairs& pairs) {
  return {&pairs.source.ids, &pairs.source.padding, &pairs.target.ids, &pairs.target.padding, &pairs.targets};
}

int64_t tokens_of(const data::PaddedTokens& sentences) {
  return sentences.ids.numel() - (sentences.padding.defined() ? sentences.padding.sum().item<int64_t>() : 0);
}

/// Gives batches one after the other; nothing after the last.
using NextPairs = std::function<std::optional<data::ParallelBatch>()>;

NextPairs next_of(data::BatchIterator<data::ParallelBatch> batches) {
  const auto shared = std::make_shared<data::BatchIterator<data::ParallelBatch>>(std::move(batches));
  return [shared] { return shared->next(); };
}

NextPairs next_of(const std::vector<data::ParallelBatch>& batches, size_t first, size_t end) {
  return [&batches, next = first, end]() mutable -> std::optional<data::ParallelBatch> {
    return next < end ? std::optional(batches[next++]) : std::nullopt;
  };
}

class TranslationTrainingBatches final : public train::TrainingBatches {
 public:
  /// If `limits` are given, pads the micro-batches to few shapes.
  TranslationTrainingBatches(models::TranslationModel& model, NextPairs next, const models::LabelSmoothing& smoothing,
                             const std::optional<PairLimits>& limits)
      : model_(model), next_(std::move(next)), smoothing_(smoothing), limits_(limits) {}

  bool fetch() override {
    batch_ = next_();
    return batch_.has_value();
  }

  bool has_samples() const override { return batch_->target.ids.size(0) > 0; }

  void prepare() override {
    targets_ = tokens_of(batch_->target);
    samples_ = batch_->target.ids.size(0);
    pairs_ = pairs_of(model_, limits_ ? rounded_pairs(*batch_, *limits_) : *batch_);
  }

  std::optional<train::PreparedBatch> prepared() override {
    const auto targets = static_cast<double>(targets_);
    return train::PreparedBatch{tensors_of(pairs_), targets, samples_, targets_, {targets}};
  }

  train::ForwardResult forward() override {
    const models::TranslationLosses losses = model_.losses(pairs_, smoothing_);
    train::ForwardResult result;
    result.loss = losses.loss.sum();
    result.weight = static_cast<double>(targets_);
    result.penalty = nn::total_penalty(model_);
    result.samples = samples_;
    result.tokens = targets_;
    result.metrics = {{"nll", losses.negative_log_likelihood.sum(), static_cast<double>(targets_)}};
    return result;
  }

 private:
  models::TranslationModel& model_;
  NextPairs next_;
  models::LabelSmoothing smoothing_;
  std::optional<PairLimits> limits_;
  std::optional<data::ParallelBatch> batch_;
  models::SentencePairs pairs_;
  int64_t targets_ = 0, samples_ = 0;
};

// Each token as people read it.
std::vector<std::string> pieces(const std::vector<int64_t>& tokens, const data::SentenceEncoder& encoder) {
  std::vector<std::string> all;
  for (const int64_t token : tokens) {
    const std::vector<data::Token> alone{static_cast<data::Token>(token)};
    all.push_back(token == encoder.marks.end ? "(end)" : encoder.texts->decode(alone));
  }
  return all;
}

}  // namespace

TranslationTask::TranslationTask(const TranslationPlan& plan, const train::TrainOptions& training, Splits splits)
    : Task(plan.profile()), options_(plan.options()), training_options_(training), splits_(splits) {
  if (splits == Splits::synthetic)
    make_up_data();
  else
    encoders_ = data::make_parallel_encoders(options_.parallel, std::filesystem::current_path());
  if (splits != Splits::synthetic && splits != Splits::given) {
    data::ParallelOptions evaluated = options_.parallel;
    evaluated.limit = options_.evaluation_limit.value_or(evaluated.limit);
    held_out_ = open(splits == Splits::calibration ? data::SequenceSplit::train : options_.held_out, evaluated);
    held_out_loader_.emplace(held_out_, data::evaluation_order(*held_out_, options_.loader), options_.loader.loader,
                             options_.loader.padding);
    if (splits == Splits::both) training_ = open(data::SequenceSplit::train, options_.parallel);
  }
  if (training_) {
    data::ParallelLoaderOptions loader = options_.loader;
    loader.budget.seed = training.seed;
    loader.budget.max_tokens *= training.shard.parts;
    loader.budget.max_samples *= training.shard.parts;
    budget_ = loader.budget;
    training_loader_.emplace(training_, data::training_order(*training_, loader, training.shard), loader.loader,
                             loader.padding);
  }
  build_model();
}

// Batches hold sentences of like lengths: a memory made of one, and stored, gives the next ones a length that is not
// theirs.
std::optional<std::string> TranslationTask::doubt_about(const nn::Cache& cache) const {
  if (cache.why_memory_varies()) return Task::doubt_about(cache);
  return "evaluation uses the caches of the last batch, which depend on the length of its sentences. "
         "Translations "
         "may end too early or too late; to avoid this, set model.cache.attend and model.cache.inference to "
         "\"per_sample\"";
}

std::shared_ptr<const data::ParallelCorpus> TranslationTask::open(data::SequenceSplit split,
                                                                  const data::ParallelOptions& options) {
  auto corpus = data::ParallelCorpus::open(options, *encoders_, split);
  note(corpus->notes(data::to_string(split)));
  return corpus;
}

// Sentences that nobody wrote, for dry runs: two batches to train with, the first of which is evaluated.
void TranslationTask::make_up_data() {
  const models::TranslationShape& text = options_.model.text;
  const int64_t pairs = training_options_.batch_size;
  const auto tokens = [&](int64_t vocabulary, int64_t longest) {
    return at::randint(vocabulary, {pairs, std::min(longest, options_.synthetic_length)}, at::kLong);
  };
  for (int64_t i = 0; i < kSyntheticBatches * training_options_.shard.parts; ++i) {
    data::ParallelBatch batch;
    batch.source.ids = tokens(text.source_vocabulary, text.source_length);
    batch.input.ids = tokens(text.target_vocabulary, text.target_length);
    batch.target.ids = tokens(text.target_vocabulary, text.target_length);
    batch.number = i;
    synthetic_.push_back(std::move(batch));
  }
}

void TranslationTask::build_model() {
  const models::TranslationShape& text = options_.model.text;
  for (const Side side : {Side::source, Side::target}) {
    const int64_t known = side == Side::source ? text.source_vocabulary : text.target_vocabulary;
    const int64_t tokens = encoders_ ? encoders_->of(side).texts->vocabulary().size : 0;
    const std::string name = data::to_string(side);
    if (tokens > known)
      throw std::invalid_argument("the vocabulary of the " + name + " has " + std::to_string(tokens) +
                                  " tokens, but the model has " + std::to_string(known) + "; leave model." + name +
                                  "_vocabulary out");
  }
  model_ = options_.model.build();
  if (!encoders_) return;
  const data::SentenceMarks& marks = encoders_->target.marks;
  model_->set_tokens({data::kPaddingToken, marks.begin, marks.end, encoders_->target.texts->vocabulary().size});
}

std::map<std::string, data::DataDigest> TranslationTask::data_digests() const {
  std::map<std::string, data::DataDigest> digests;
  if (training_) digests["training"] = training_->digest();
  if (held_out_) digests["evaluation"] = held_out_->digest();
  return digests;
}

std::map<std::string, std::string> TranslationTask::data_fingerprints() const {
  std::map<std::string, std::string> fingerprints;
  if (training_) fingerprints["training"] = training_->fingerprint();
  if (held_out_) fingerprints["evaluation"] = held_out_->fingerprint();
  return fingerprints;
}

int64_t TranslationTask::batches_per_epoch() const {
  return training_loader_ ? training_loader_->batches() : static_cast<int64_t>(synthetic_.size());
}

std::unique_ptr<train::TrainingBatches> TranslationTask::training_batches(int64_t epoch, int64_t first_batch) {
  NextPairs next = training_loader_ ? next_of(training_loader_->iterate(epoch, first_batch))
                                    : next_of(synthetic_, static_cast<size_t>(first_batch), synthetic_.size());
  return std::make_unique<TranslationTrainingBatches>(*model_, std::move(next), options_.smoothing, pair_limits());
}

// Norms with batch statistics, and caches, would see the additional pairs.
void TranslationTask::round_shapes(bool rounded) { rounds_shapes_ = rounded && !train::has_states(*model_); }

std::optional<PairLimits> TranslationTask::pair_limits() const {
  if (!rounds_shapes_ || !training_loader_) return std::nullopt;
  const models::TranslationShape& text = options_.model.text;
  return PairLimits{budget_.max_tokens, budget_.max_samples, training_options_.shard.all_parts(), text.source_length,
                    text.target_length};
}

int64_t TranslationTask::translated_pairs() const {
  if (!options_.evaluation.translate || !held_out_) return 0;
  const int64_t limit = options_.evaluation.limit, size = held_out_->size();
  return limit > 0 ? std::min(limit, size) : size;
}

// The first pairs of the held-out split, as many as the recipe asks for.
std::vector<SentenceToTranslate> TranslationTask::sources_to_translate() const {
  std::vector<SentenceToTranslate> sources;
  for (int64_t i = 0; i < translated_pairs(); ++i) {
    sources.push_back({held_out_->tokens(Side::source, i), i});
    sources.back().tokens.push_back(encoders_->source.marks.end);
  }
  return sources;
}

int64_t TranslationTask::evaluation_size() const {
  return held_out_ ? held_out_->size() : training_options_.batch_size;
}

Task::EvaluatedSamples TranslationTask::evaluated_samples() const {
  const int64_t translated = translated_pairs();
  return {translated > 0 ? translated : evaluation_size(), held_out_ ? held_out_->split_size() : evaluation_size()};
}

train::Metrics TranslationTask::evaluate(const train::EvaluationProgress& progress) {
  const at::NoGradGuard no_grad;
  const std::vector<SentenceToTranslate> sources = sources_to_translate();
  const int64_t losses_of = held_out_loader_ ? held_out_loader_->batches() : 1;
  const int64_t batches =
      losses_of + static_cast<int64_t>(batches_by_length(sources, options_.evaluation.how.max_tokens).size());
  TranslationTally tally;
  int64_t done = 0;
  measure_pairs(0, [&](int64_t, const std::vector<PairLosses>& losses) {
    for (const PairLosses& each : losses) tally.add(each);
    progress(++done, batches);
  });
  evaluation_ = {};
  tally.finish(evaluation_);
  if (!sources.empty())
    score_translations(translate_held_out(sources, [&](int64_t translated) { progress(done + translated, batches); }),
                       options_.evaluation.bleu, evaluation_);
  return evaluation_.metrics(options_.evaluation.translate);
}

std::optional<std::string> TranslationTask::why_inference_not_replayed() {
  if (auto reason = why_not_replayed()) return reason;
  const auto* decoder = dynamic_cast<const models::FixedDecoder*>(model_.get());
  return decoder != nullptr ? decoder->why_no_fixed_session() : "the model's decoder has a state that grows";
}

void TranslationTask::measure_pairs(int64_t first, const UseLosses& use) {
  int64_t place = 0, batch = 0;
  if (held_out_loader_ && first > 0) {
    const data::EpochOrder order = held_out_loader_->order().epoch(0);
    for (; batch < order.batches(); ++batch) {
      const auto pairs = static_cast<int64_t>(order.place(batch).samples.size());
      if (place + pairs > first) break;
      place += pairs;
    }
  }
  const NextPairs next =
      held_out_loader_ ? next_of(held_out_loader_->iterate(/*epoch=*/0, batch)) : next_of(synthetic_, 0, 1);
  while (auto read = next()) {
    const std::vector<int64_t> indices = read->indices;
    models::SentencePairs pairs = pairs_of(*model_, std::move(*read));
    const std::vector<at::Tensor> losses = inference().run("losses", tensors_of(pairs), [&] {
      const models::TranslationLosses of_pairs = model_->losses(pairs, options_.smoothing);
      return std::vector{of_pairs.loss, of_pairs.negative_log_likelihood};
    });
    ops::require_finite_scores(losses[0]);
    const auto sums = losses_of_pairs(indices, losses[0], losses[1], pairs.targets);
    use(place, sums);
    place += static_cast<int64_t>(sums.size());
  }
}

TranslatedSentence TranslationTask::sentence_of(const SentenceToTranslate& source,
                                                const models::Hypothesis* written) const {
  TranslatedSentence sentence{source.number, "", "", "", 0};
  const auto line = static_cast<size_t>(source.number);
  if (!held_out_->texts(Side::target).empty()) {
    sentence.source = held_out_->texts(Side::source).at(line);
    sentence.reference = held_out_->texts(Side::target).at(line);
  } else {  // of the training text none are saved
    sentence.source = encoders_->source.texts->decode(held_out_->tokens(Side::source, sentence.index));
    sentence.reference = encoders_->target.texts->decode(held_out_->tokens(Side::target, sentence.index));
  }
  // A line without a word has a translation without one, as `cachet translate` gives it.
  if (written != nullptr && source.tokens.size() > 1) sentence.hypothesis = text_of(*written, encoders_->target);
  return sentence;
}

// Also shows where the first translations look.
std::vector<TranslatedSentence> TranslationTask::translate_held_out(const std::vector<SentenceToTranslate>& sources,
                                                                    const std::function<void(int64_t done)>& progress) {
  const auto found = translate_sentences(*model_, sources, options_.evaluation.how, progress, &inference());
  std::vector<TranslatedSentence> sentences;
  for (size_t i = 0; i < sources.size(); ++i) {
    sentences.push_back(sentence_of(sources[i], found[i].empty() ? nullptr : &found[i].front()));
    if (evaluation_.attention.size() < kAttentionMaps && !found[i].empty() && sources[i].tokens.size() > 2 &&
        std::max(sources[i].tokens.size(), found[i].front().tokens.size()) <= kMaxShownTokens)
      evaluation_.attention.push_back(attention_of(sentences.back().index, found[i].front()));
  }
  return sentences;
}

// A batch of one sequence, on the model's device.
at::Tensor TranslationTask::one(const std::vector<int64_t>& tokens) const {
  return at::tensor(tokens, at::kLong).unsqueeze(0).to(model_->device());
}

AttentionMap TranslationTask::attention_of(int64_t pair, const models::Hypothesis& hypothesis) {
  std::vector<int64_t> source, before{encoders_->target.marks.begin};
  for (const data::Token token : held_out_->tokens(Side::source, pair)) source.push_back(token);
  source.push_back(encoders_->source.marks.end);
  before.insert(before.end(), hypothesis.tokens.begin(), hypothesis.tokens.end() - 1);
  const at::Tensor seen = model_->cross_attention({{one(source), {}}, {one(before), {}}, one(hypothesis.tokens)})[0]
                              .to(at::kDouble)
                              .cpu()
                              .contiguous();
  AttentionMap map;
  map.values.assign(seen.const_data_ptr<double>(), seen.const_data_ptr<double>() + seen.numel());
  map.source = pieces(source, encoders_->source);
  map.target = pieces(hypothesis.tokens, encoders_->target);
  return map;
}

std::vector<report::Block> TranslationTask::training_samples() const {
  constexpr size_t kMaxPairs = 8;
  if (!training_loader_) return {};
  const std::vector<int64_t> indices = training_loader_->place(/*epoch=*/0, /*number=*/0).indices();
  report::Table table{
      "Pairs of the first step",
      {{"tokens", report::Alignment::right}, {"source"}, {"tokens", report::Alignment::right}, {"translation"}},
      {},
      "The first of the " + std::to_string(indices.size()) +
          " pairs in the first batch, which have similar lengths. End tokens are not counted."};
  for (size_t i = 0; i < std::min(indices.size(), kMaxPairs); ++i) {
    auto& row = table.rows.emplace_back();
    for (const Side side : {Side::source, Side::target}) {
      const std::vector<data::Token> tokens = training_->tokens(side, indices[i]);
      row.push_back(std::to_string(tokens.size()));
      row.push_back(shown_text(tokens, *encoders_->of(side).texts));
    }
  }
  return {std::move(table)};
}

ShownSample TranslationTask::run_over(int64_t index) {
  const at::NoGradGuard no_grad;
  const auto tokens = held_out_->tokens(Side::source, index);
  std::vector<int64_t> source(tokens.begin(), tokens.end());
  source.push_back(encoders_->source.marks.end);
  model_->encode({one(source), {}});
  return {.tokens = pieces(source, encoders_->source)};
}

void TranslationTask::restore_evaluation(const std::string& details) {
  if (auto evaluation = translation_evaluation_from_json(details)) evaluation_ = std::move(*evaluation);
}

std::vector<std::pair<std::string, std::string>> TranslationTask::score_signatures() const {
  if (evaluation_.translated == 0) return {};
  return {{"bleu", evaluation_.signature}, {"chrf", metrics::chrf_signature({}, 1)}};
}

void TranslationTask::translate(const std::function<std::optional<std::string>()>& next_line,
                                const TranslationOptions& options,
                                const std::function<void(const TranslatedLine& line)>& seen) {
  translate_lines(*model_, *encoders_, options_.parallel.rules.max_length, next_line, options, line_counts_, seen,
                  &inference());
}

std::vector<std::string> TranslationTask::notes_on_translated() const {
  std::vector<std::string> notes;
  const LineCounts& counts = line_counts_;
  if (counts.in_parts > 0)
    notes.push_back(std::to_string(counts.in_parts) + (counts.in_parts == 1 ? " line has" : " lines have") +
                    " more than " + std::to_string(options_.parallel.rules.max_length) +
                    " tokens, the maximum length of a sentence in training (" +
                    (counts.in_parts == 1 ? "" : "first: ") + "line " + std::to_string(counts.first_in_parts) +
                    "). Such lines are translated in parts, cut between words");
  if (counts.replaced > 0) notes.push_back(data::replaced_bytes_text(counts.replaced));
  return notes;
}

}  // namespace cachet::tasks
