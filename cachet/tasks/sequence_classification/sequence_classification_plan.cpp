#include "cachet/tasks/sequence_classification/sequence_classification_plan.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "cachet/config/toml_text.h"
#include "cachet/data/text/encoders/subword_encoder.h"
#include "cachet/data/text/sequences/open_sequences.h"
#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/data/text/text_overlap.h"
#include "cachet/deploy/session_model.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/classification/saved_class_names.h"
#include "cachet/tasks/sequence_classification/sequence_classification.h"

namespace cachet::tasks {
namespace {

constexpr const char* kOwnSubwords = "subwords.model";  // in a run's folder

constexpr std::array<config::Choice<data::SequenceSplit>, 2> kHeldOut{
    {{"validation", data::SequenceSplit::validation}, {"test", data::SequenceSplit::test}}};

/// Whether the test samples validate, too: the kind holds none out unless it is asked to.
bool tests_validate(const data::SequenceDatasetOptions& dataset) {
  return dataset.kind->validation_fraction && dataset.validation_fraction == 0;
}

}  // namespace

SequenceClassificationOptions read_sequence_classification_options(const config::View& root) {
  const config::View data = root.table("data"), task = root.table("task");
  SequenceClassificationOptions options;
  options.dataset = data::read_sequence_dataset_options(data);
  options.loader = data::read_sequence_loader_options(data, options.dataset.max_length);
  options.held_out = task.choice("held_out", options.held_out, kHeldOut);
  options.label_smoothing = task.real("label_smoothing", options.label_smoothing, {0.0, 0.99});
  const data::SequenceTraits traits = data::sequence_traits(options.dataset);
  const models::SequenceShape shape{traits.vocabulary, traits.max_length, traits.pairs};
  options.model = models::read_sequence_classifier(root.table("model"), {shape, traits.classes});
  options.loader.padding.most_length = options.model.sequence.max_length;
  return options;
}

TaskProfile SequenceClassificationPlan::profile() const {
  return {"sequence_classification",
          {"sequence", "sequences", "seq/s", data::to_string(options_.held_out)},
          classification_metrics(),
          options_.model,
          /*reports_choice=*/options_.held_out == data::SequenceSplit::test || tests_validate(options_.dataset)};
}

std::vector<DataPlace> SequenceClassificationPlan::data() const {
  const data::SequenceDatasetOptions& dataset = options_.dataset;
  return {{std::string(dataset.kind->name), dataset.root, data::expected_files(dataset)}};
}

std::optional<std::string> SequenceClassificationPlan::absent_data() const try {
  data::find_sequence_root(options_.dataset, std::filesystem::current_path());
  return std::nullopt;
} catch (const io::Error& error) {
  return error.what();
}

DataLook SequenceClassificationPlan::look_at_data(const data::LookProgress& /*progress*/) const {
  data::SequenceDatasetOptions dataset = options_.dataset;
  // Texts are compared, not tokens. Bytes as tokens need no subword model and are made at once.
  dataset.text.tokens = data::TokenKind::bytes;
  dataset.text.empty_texts = data::EmptyText::skip;
  dataset.too_long = data::TooLong::truncate;
  const auto open = [&](data::SequenceSplit split) {
    return data::open_sequence_dataset(dataset, split, std::filesystem::current_path(), data::KeepOrigins::yes);
  };
  using enum data::SequenceSplit;
  const auto training = open(train);
  DataLook look;
  const auto add = [&](const data::SequenceDataset& split) {
    if (split.counts().passed_over) look.passed_over.push_back(*split.counts().passed_over);
  };
  add(*training);
  for (const data::SequenceSplit split : {validation, test}) {
    if (split == validation && tests_validate(dataset)) continue;
    try {
      const auto samples = open(split);
      if (split == test || !dataset.kind->validation_fraction) add(*samples);
      look.overlaps.push_back(data::sequence_overlap(*training, *samples, data::to_string(split)));
    } catch (const io::Error&) {
      if (split == options_.held_out) throw;  // training does not need the other one
    }
  }
  return look;
}

SavedFiles SequenceClassificationPlan::files_to_keep() const {
  SavedFiles keep;
  if (options_.dataset.class_names.empty()) keep = keep_class_names(options_.dataset.kind->class_names());
  if (!has_subwords()) return keep;
  const data::TextOptions& text = options_.dataset.text;
  data::SubwordModelFile model = data::read_subword_model(text, std::filesystem::current_path());
  if (text.vocabulary_hash.empty()) {
    const std::string hash = io::sha256_hex(model.bytes);
    keep.settings.push_back("data.vocabulary_hash=" + config::toml_text(hash));
  }
  keep.files.emplace(kOwnSubwords, std::move(model.bytes));
  return keep;
}

std::optional<int64_t> SequenceClassificationPlan::classes_of_data() const {
  const data::SequenceDatasetOptions& dataset = options_.dataset;
  if (dataset.class_names.empty() && dataset.kind->class_names().empty()) return std::nullopt;
  return data::sequence_traits(dataset).classes;
}

std::vector<std::string> SequenceClassificationPlan::class_name_settings() const {
  return keep_class_names(options_.dataset.class_names).settings;
}

std::vector<std::string> SequenceClassificationPlan::saved_file_settings(const std::filesystem::path& run) const {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::absolute(run / kOwnSubwords, error);
  if (!has_subwords() || !std::filesystem::is_regular_file(own, error)) return {};
  return {"data.subword_model=" + config::toml_text(own.string())};
}

std::unique_ptr<Task> SequenceClassificationPlan::build(const train::TrainOptions& training, Splits splits) const {
  SequenceClassificationPlan plan = *this;
  if (splits == Splits::test) plan.options_.held_out = data::SequenceSplit::test;
  return std::make_unique<SequenceClassification>(plan, training, splits);
}

void SequenceClassificationPlan::replace_model(const runtime::ExportManifest& manifest, MakeSession make) {
  const models::SequenceClassifierPlan& model = options_.model;
  take_class_names(manifest, model.classes, options_.dataset.class_names);
  const int64_t length = std::max<int64_t>(manifest.inputs.front().shape.at(1), 0);
  options_.model.build = [make = std::move(make), sequence = model.sequence, classes = model.classes, length] {
    return deploy::session_model(make(), sequence, classes, length);
  };
}

runtime::ExportManifest SequenceClassificationPlan::with_limits(const runtime::ExportManifest& manifest) const {
  runtime::ExportManifest limited = manifest;
  for (runtime::ExportedInput& input : limited.inputs) {
    if (input.element != runtime::Element::int64) continue;
    if (input.longest == 0) input.longest = options_.model.sequence.max_length;
    if (input.vocabulary == 0) input.vocabulary = options_.model.sequence.vocabulary;
  }
  return limited;
}

TaskKind sequence_classification() {
  return {"sequence_classification", [](const config::View& root, data::DataRoot) {
            return std::make_unique<SequenceClassificationPlan>(read_sequence_classification_options(root));
          }};
}

}  // namespace cachet::tasks
