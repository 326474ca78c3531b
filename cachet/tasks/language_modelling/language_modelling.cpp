#include "cachet/tasks/language_modelling/language_modelling.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/rand.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "cachet/config/counted.h"
#include "cachet/data/fingerprint.h"
#include "cachet/io/error.h"
#include "cachet/nn/base/regularizer.h"
#include "cachet/ops/support/finite.h"
#include "cachet/tasks/language_modelling/language_samples.h"
#include "cachet/tasks/language_modelling/language_sections.h"
#include "cachet/tasks/samples/shown_text.h"
#include "cachet/train/machine/device.h"

namespace cachet::tasks {
namespace {

// Tokens that nobody wrote, for dry runs. The n-th of the vocabulary has a frequency of about 1/n, as in texts: an
// adaptive softmax takes longer for rare tokens.
class SyntheticTokens final : public data::TokenSequence {
 public:
  SyntheticTokens(int64_t vocabulary, int64_t size) : ids_(drawn(vocabulary, size)) {}
  int64_t size() const override { return ids_.size(0); }
  void read(int64_t first, int64_t count, int64_t* out) const override {
    if (first < 0 || count < 0 || count > size() - first) throw std::out_of_range("synthetic tokens");
    std::copy_n(ids_.const_data_ptr<int64_t>() + first, count, out);
  }

 private:
  static at::Tensor drawn(int64_t vocabulary, int64_t size) {
    const at::Tensor quantile = at::rand({size}, at::kDouble);
    const at::Tensor rank = (quantile * std::log(static_cast<double>(vocabulary) + 1)).exp() - 1;
    return rank.to(at::kLong).clamp_max(vocabulary - 1);
  }

  at::Tensor ids_;
};

class LanguageTrainingBatches final : public train::TrainingBatches {
 public:
  /// `lanes`: of each part of this process.
  LanguageTrainingBatches(models::LanguageModel& model, data::BatchIterator<data::SegmentBatch> segments,
                          const LanguageModellingOptions& options, const std::vector<int64_t>& batch_rows)
      : model_(model), segments_(std::move(segments)), at_once_(options.segments_per_step) {
    for (const int64_t of_part : batch_rows)
      parts_.push_back({model.make_session(of_part, options.model.segments), {}});
  }

  bool fetch() override {
    ++now_;
    if (now_ == std::ssize(parts_)) now_ = 0;
    if (now_ == 0) read_segments();
    return !parts_[static_cast<size_t>(now_)].segments.empty();
  }

  void prepare() override {
    for (data::SegmentBatch& segment : parts_[static_cast<size_t>(now_)].segments)
      train::move_to(train::device_of(model_), {&segment.ids, &segment.targets});
  }

  std::optional<train::PreparedBatch> prepared() override {
    train::PreparedBatch prepared;
    Part& part = parts_[static_cast<size_t>(now_)];
    for (data::SegmentBatch& segment : part.segments) {
      prepared.tensors.push_back(&segment.ids);
      prepared.tensors.push_back(&segment.targets);
      prepared.tokens += segment.ids.numel();
      prepared.samples += segment.ids.size(0);
    }
    prepared.weight = static_cast<double>(prepared.tokens);
    for (at::Tensor* memory : part.session.state->tensors()) prepared.tensors.push_back(memory);
    return prepared;
  }

  train::ForwardResult forward() override {
    train::ForwardResult result;
    Part& part = parts_[static_cast<size_t>(now_)];
    models::LanguageSession& session = part.session;
    for (const data::SegmentBatch& segment : part.segments) {
      const at::Tensor loss = model_.negative_log_likelihood(segment.ids, segment.targets, session).sum();
      result.loss = result.loss.defined() ? result.loss + loss : loss;
      result.tokens += segment.ids.numel();
      result.samples += segment.ids.size(0);
    }
    result.weight = static_cast<double>(result.tokens);
    result.penalty = nn::total_penalty(model_);
    // Here truncated back-propagation stops: the next step's gradient does not reach into this one.
    session.state->detach();
    return result;
  }

  io::TensorMap state(int64_t part) const override {
    io::TensorMap tensors;
    for (const auto& [name, tensor] : session_of(part).state->named_tensors()) tensors.emplace(name, tensor);
    return tensors;
  }
  void fill_state(int64_t micro_batches) override {
    const int64_t segments = micro_batches / std::ssize(parts_) * at_once_;
    for (Part& part : parts_)
      part.session.state->fill(
          std::min(segments * model_.language_shape().target_length, part.session.segments.memory_length));
  }
  void restore(int64_t part, const io::TensorMap& state) override {
    std::map<std::string, at::Tensor> tensors;
    const at::Device device = train::device_of(model_);
    for (const auto& [name, tensor] : state) tensors.emplace(name, tensor.to(device));
    session_of(part).state->load(tensors);
  }

 private:
  /// A group of batch rows with its own past.
  struct Part {
    models::LanguageSession session;
    std::vector<data::SegmentBatch> segments;  // of the step
  };

  const models::LanguageSession& session_of(int64_t part) const { return parts_.at(static_cast<size_t>(part)).session; }

  /// The next segments of all parts, which come in turns.
  void read_segments() {
    for (Part& part : parts_) part.segments.clear();
    for (int64_t i = 0; i < at_once_; ++i)
      for (Part& part : parts_) {
        auto segment = segments_.next();
        if (!segment) return;
        part.segments.push_back(std::move(*segment));
      }
  }

  models::LanguageModel& model_;
  data::BatchIterator<data::SegmentBatch> segments_;
  int64_t at_once_;
  std::vector<Part> parts_;
  int64_t now_ = -1;  // the part whose micro-batch was fetched
};

/// Micro-batches that read `batches` segments of all batch rows, `at_once` in each, if `parts` of a process take turns.
int64_t micro_batches_of(int64_t batches, int64_t at_once, int64_t parts) {
  const int64_t segments = batches / parts;
  return (segments + at_once - 1) / at_once * parts;
}

}  // namespace

data::Corpus LanguageModelling::open(data::SequenceSplit split, const data::CorpusOptions& options) {
  data::Corpus corpus = data::open_corpus(options, *encoder_, split);
  note(corpus.notes(data::to_string(split)));
  return corpus;
}

data::BatchRowOptions LanguageModelling::evaluation_batch_rows() const {
  return {options_.evaluation.batch_rows, options_.evaluation.target_length};
}

LanguageModelling::LanguageModelling(const LanguageModellingPlan& plan, const train::TrainOptions& training,
                                     Splits splits)
    : Task(plan.profile()), options_(plan.options()), training_options_(training), splits_(splits) {
  if (options_.corpus.vocabulary > options_.model.text.vocabulary)
    throw std::invalid_argument("the vocabulary of the corpus has " + std::to_string(options_.corpus.vocabulary) +
                                " tokens, but the model has " + std::to_string(options_.model.text.vocabulary) +
                                "; leave model.vocabulary out");
  const data::BatchRowOptions batch_rows{training.shared_batch(), options_.model.text.target_length};
  if (splits == Splits::synthetic) {
    const auto synthetic = [&](int64_t tokens) {
      const data::TokenFileFacts facts{.tokens = tokens, .text = {tokens, tokens}};
      return data::Corpus{std::make_shared<SyntheticTokens>(options_.corpus.vocabulary, tokens), facts, {}};
    };
    // In the middle of an epoch the memory is full.
    const int64_t filling = 1 + options_.model.segments.memory_length / batch_rows.segment_length;
    const int64_t segments = 2 * std::max(options_.segments_per_step, filling);
    training_ = synthetic(batch_rows.batch_rows * (segments * batch_rows.segment_length + 1));
    held_out_ = synthetic(options_.evaluation.batch_rows * options_.evaluation.target_length + 1);
  } else {
    encoder_ = data::make_corpus_encoder(options_.corpus, std::filesystem::current_path());
  }
  if (splits != Splits::synthetic && splits != Splits::given) {
    data::CorpusOptions evaluated = options_.corpus;
    evaluated.limit = options_.evaluation_limit.value_or(evaluated.limit);
    held_out_ = open(splits == Splits::calibration ? data::SequenceSplit::train : options_.held_out, evaluated);
    if (splits == Splits::both) training_ = open(data::SequenceSplit::train, options_.corpus);
  }
  if (held_out_ && held_out_->tokens->size() <= options_.evaluation.batch_rows)
    throw std::invalid_argument("task.evaluation.lanes = " + std::to_string(options_.evaluation.batch_rows) +
                                " is too large for a text of " + config::counted(held_out_->tokens->size(), "token") +
                                "; choose fewer batch rows");
  if (held_out_) {
    held_out_text_ = {.text = held_out_->facts.text, .bits_of = options_.evaluation.bits_of};
    held_out_text_.coded.targets.size = held_out_->facts.text;  // of synthetic tokens
    if (encoder_) held_out_text_.coded = data::coded_text(*held_out_, *encoder_, options_.corpus.tokens);
    if (training_) require_bits(report::deciding(plan.profile().metrics)->name);
  }
  if (training_) {
    training_loader_.emplace(training_->tokens, batch_rows, options_.loader, training.shard);
    if (training_loader_->batches() == 0)
      throw std::invalid_argument(train::shared_batch_text(training) + " gives too many batch rows for a text of " +
                                  std::to_string(training_->tokens->size()) + " tokens");
  }
  model_ = options_.model.build();
}

// What decides has to be measured.
void LanguageModelling::require_bits(const std::string& decides) const {
  if (decides != kBitsPerByte) return;
  const std::string name = held_out_->path.string();
  if (held_out_text_.bits_of == BitsOf::whole_text && held_out_text_.text.bytes == 0)
    throw std::invalid_argument(name +
                                ": the number of bytes of the text is not known, but task.evaluation.bits_of = "
                                "\"whole_text\" needs this number; " +
                                (options_.corpus.limit > 0 ? "leave data.limit out, which cuts the text"
                                                           : "create the file again from its text"));
  if (held_out_text_.coded.targets.size.bytes == 0)
    throw std::invalid_argument(name + ": the vocabulary encodes no part of the text, so " + decides +
                                ", by which the best checkpoint is chosen, cannot be measured; use a vocabulary that "
                                "was made from similar texts");
}

std::map<std::string, data::DataDigest> LanguageModelling::data_digests() const {
  std::map<std::string, data::DataDigest> digests;
  if (training_) digests["training"] = training_->digest();
  if (held_out_) digests["evaluation"] = held_out_->digest();
  return digests;
}

std::map<std::string, std::string> LanguageModelling::data_fingerprints() const {
  std::map<std::string, std::string> fingerprints;
  if (training_) fingerprints["training"] = training_->fingerprint();
  if (held_out_) fingerprints["evaluation"] = held_out_->fingerprint();
  return fingerprints;
}

std::string LanguageModelling::digest_of_comparisons() const {
  if (!options_.baseline || !encoder_ || training_) return {};
  try {
    return data::digest_of_corpus_file(options_.corpus, data::SequenceSplit::train);
  } catch (const io::Error&) {
    return {};  // there is no baseline without the text
  }
}

int64_t LanguageModelling::batches_per_epoch() const {
  return micro_batches_of(training_loader_->batches(), options_.segments_per_step, training_options_.shard.parts);
}

std::unique_ptr<train::TrainingBatches> LanguageModelling::training_batches(int64_t epoch, int64_t first_batch) {
  std::vector<int64_t> batch_rows;
  for (int64_t i = 0; i < training_options_.shard.parts; ++i)
    batch_rows.push_back(training_options_.shard.alone(i).part_of(training_options_.shared_batch()));
  return std::make_unique<LanguageTrainingBatches>(
      *model_, training_loader_->iterate(epoch, first_batch * options_.segments_per_step), options_, batch_rows);
}

int64_t LanguageModelling::evaluation_size() const {
  return data::evaluation_segments(held_out_->tokens->size(), evaluation_batch_rows()) * options_.evaluation.batch_rows;
}

Task::EvaluatedSamples LanguageModelling::evaluated_samples() const {
  const int64_t tokens = std::max(held_out_->split_tokens, held_out_->tokens->size());
  return {evaluation_size(),
          data::evaluation_segments(tokens, evaluation_batch_rows()) * options_.evaluation.batch_rows};
}

NgramBaseline LanguageModelling::make_baseline() const {
  if (!options_.baseline || !encoder_) return {};
  std::optional<data::Corpus> opened;
  try {
    if (!training_) opened = data::open_corpus(options_.corpus, *encoder_, data::SequenceSplit::train);
  } catch (const io::Error& error) {  // the model itself is evaluated without the training text
    return no_ngram_baseline(error.what());
  }
  return ngram_baseline(*(training_ ? training_ : opened)->tokens, *held_out_->tokens, options_.corpus.vocabulary,
                        data::line_end(options_.corpus.tokens, encoder_->vocabulary()));
}

// The baseline is the same for every evaluation of a run: it is made once.
const NgramBaseline& LanguageModelling::baseline() {
  if (!baseline_) baseline_ = make_baseline();
  return *baseline_;
}

LanguageEvaluation LanguageModelling::finished(const LanguageTally& tally) {
  LanguageEvaluation evaluation = tally.finish();
  evaluation.text = held_out_text_;
  evaluation.baseline = baseline();
  return evaluation;
}

std::vector<std::string> LanguageModelling::data_notes() const {
  std::vector<std::string> notes = Task::data_notes();
  if (baseline_) notes.insert(notes.end(), baseline_->notes.begin(), baseline_->notes.end());
  return notes;
}

int64_t LanguageModelling::evaluation_records() const {
  return data::evaluation_segments(held_out_->tokens->size(), evaluation_batch_rows());
}

std::string LanguageModelling::record_digest(int64_t index) {
  const data::BatchRowOptions batch_rows = evaluation_batch_rows();
  const data::SegmentBatch segment =
      data::evaluation_segment(*held_out_->tokens, batch_rows, index * batch_rows.segment_length);
  data::Fingerprint sample;
  for (const at::Tensor& tokens : {segment.ids.contiguous(), segment.targets.contiguous()})
    sample.add(std::span(tokens.const_data_ptr<int64_t>(), static_cast<size_t>(tokens.numel())));
  return sample.text();
}

bool LanguageModelling::remembers_earlier_segments() const {
  const models::SegmentOptions& how = options_.evaluation.segments;
  return how.memory_length > 0 || how.whole_past || model_->remembers_segments();
}

at::Tensor LanguageModelling::losses_of(data::SegmentBatch& segment, models::LanguageSession& session) {
  std::vector<at::Tensor*> read{&segment.ids, &segment.targets};
  if (inference().replays()) {
    const std::vector<at::Tensor*> memory = session.state->tensors();
    read.insert(read.end(), memory.begin(), memory.end());
  }
  const std::vector<at::Tensor> losses = inference().run("losses", read, [&] {
    return std::vector{model_->negative_log_likelihood(segment.ids, segment.targets, session)};
  });
  ops::require_finite_scores(losses.front());
  return losses.front();
}

void LanguageModelling::foretell(int64_t first,
                                 const std::function<void(int64_t segment, const SegmentLosses& losses)>& use) {
  const at::NoGradGuard no_grad;
  const data::BatchRowOptions batch_rows = evaluation_batch_rows();
  const int64_t segments = evaluation_records();
  models::LanguageSession session = model_->make_session(batch_rows.batch_rows, options_.evaluation.segments);
  for (int64_t i = first < segments && remembers_earlier_segments() ? 0 : first; i < segments; ++i) {
    data::SegmentBatch segment =
        data::evaluation_segment(*held_out_->tokens, batch_rows, i * batch_rows.segment_length);
    train::move_to(train::device_of(*model_), {&segment.ids, &segment.targets});
    if (i < first)
      model_->read(segment.ids, session);
    else
      use(i, segment_losses(losses_of(segment, session), segment.targets));
  }
}

void LanguageModelling::record_evaluation(int64_t first, const SeenRecord& seen) {
  foretell(first, [&](int64_t segment, const SegmentLosses& losses) { seen(segment_record(losses, segment)); });
}

// Without what the model writes, for which it would have to be asked.
train::Metrics LanguageModelling::evaluate_records(const NextRecord& next) {
  LanguageTally tally;
  const int64_t segments = evaluation_records();
  for (int64_t i = 0; i < segments; ++i) {
    const auto record = next();
    if (!record)
      throw std::runtime_error("the evaluation is incomplete: there are records of " + std::to_string(i) + " of " +
                               std::to_string(segments) + " segments of each batch row");
    tally.add(segment_from_record(*record, i, evaluation_batch_rows().batch_rows));
  }
  evaluation_ = finished(tally);
  return evaluation_.metrics();
}

train::Metrics LanguageModelling::evaluate(const train::EvaluationProgress& progress) {
  const at::NoGradGuard no_grad;
  LanguageTally tally;
  foretell(0, [&](int64_t segment, const SegmentLosses& losses) {
    tally.add(losses);
    progress(segment + 1, evaluation_records());
  });
  evaluation_ = finished(tally);
  if (encoder_)
    evaluation_.samples = write_samples(*model_, options_.evaluation.segments, *held_out_->tokens, *encoder_,
                                        options_.evaluation.samples);
  return evaluation_.metrics();
}

void LanguageModelling::restore_evaluation(const std::string& details) {
  auto evaluation = language_evaluation_from_json(details);
  if (!evaluation) return;
  evaluation_ = *evaluation;
  if (evaluation_.baseline != NgramBaseline{}) baseline_ = evaluation_.baseline;
}

std::vector<report::Block> LanguageModelling::training_samples() const {
  constexpr int64_t kMaxBatchRows = 8;
  if (!training_loader_ || !encoder_) return {};
  const at::Tensor ids = training_loader_->make(training_loader_->place(/*epoch=*/0, /*number=*/0)).ids;
  const int64_t batch_rows = ids.size(0), length = ids.size(1);
  report::Table table{"Text of the first step",
                      {{"batch row", report::Alignment::right}, {"text"}},
                      {},
                      "Each of the " + std::to_string(batch_rows) + " batch rows reads " + std::to_string(length) +
                          " tokens in each step, and continues with the next tokens in the next step. The targets are "
                          "the same text, shifted by one token."};
  for (int64_t batch_row = 0; batch_row < std::min(batch_rows, kMaxBatchRows); ++batch_row) {
    const auto* tokens = ids.const_data_ptr<int64_t>() + batch_row * length;
    table.rows.push_back(
        {std::to_string(batch_row + 1), shown_text(std::vector<data::Token>(tokens, tokens + length), *encoder_)});
  }
  return {std::move(table)};
}

std::vector<report::Section> LanguageModelling::evaluation_sections() const {
  return language_evaluation_sections(evaluation_, options_);
}

std::vector<report::Section> LanguageModelling::training_sections(const std::vector<train::Event>& events) const {
  const int64_t segment = training_options_.batch_size * options_.model.text.target_length;
  return language_learning_sections(events, segment * options_.segments_per_step * training_options_.accumulate);
}

}  // namespace cachet::tasks
