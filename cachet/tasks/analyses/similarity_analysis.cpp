
#include "cachet/analysis/plug_ins/block_outputs.h"
#include "cachet/analysis/plug_ins/similarity.h"
#include "cachet/nn/transformer_block.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/result_values.h"
#include "cachet/tasks/analyses/saved_results.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kMinExamples = 4;  // of a batch, for the unbiased estimate

analysis::BlockOutputs outputs_of(AnalysedRun& run, const train::EvaluationProgress& progress) {
  analysis::BlockOutputs outputs(run.options().batch);
  run.evaluate(outputs.listener(), progress);
  if (outputs.blocks().batches() == 0)
    throw NotMeasurable("has no evaluation batch of " + std::to_string(run.options().batch) +
                        " samples, which similarity needs; raise --samples");
  return outputs;
}

at::Tensor alignment(const analysis::Representations& rows, const analysis::Representations& columns) {
  analysis::MinibatchCka cka(static_cast<int64_t>(rows.layers().size()), static_cast<int64_t>(columns.layers().size()));
  for (int64_t batch = 0; batch < rows.batches(); ++batch) cka.add(rows.batch(batch), columns.batch(batch));
  return cka.similarity();
}

void require_same_examples(AnalysedRun& a, AnalysedRun& b) {
  if (a.evaluation().data_digests()["evaluation"].identity() != b.evaluation().data_digests()["evaluation"].identity())
    throw NotMeasurable(
        "are evaluated on different data, so their layers cannot be compared on the same samples; analyse each run by "
        "itself, or leave similarity out of --what");
}

// How alike each layer is to itself at the checkpoints that a run keeps in addition to the one that is looked at.
ordered_json change_over_checkpoints(AnalysedRun& run, const analysis::BlockOutputs& now) {
  ordered_json changes = ordered_json::array();
  run.over_checkpoints(run.model(), [&](int64_t step) {
    const at::Tensor cka = alignment(outputs_of(run, [](int64_t, int64_t) {}).blocks(), now.blocks());
    changes.push_back({{"step", step}, {"cka", json_of(cka.diagonal())}});
  });
  return changes;
}

/// Batches are of one size: a shorter last one is left out.
std::string used_text(const ordered_json& values) {
  const auto batches = values.at("batches").get<int64_t>(), examples = values.at("examples").get<int64_t>();
  std::string text = "Unbiased estimate over " + std::to_string(batches) +
                     (batches == 1 ? " batch of " : " batches of ") + std::to_string(examples) + " samples.";
  const int64_t samples = values.value("samples", int64_t{0}), left_out = samples % examples;
  if (left_out > 0)
    text += " The last " + std::to_string(left_out) + " of the " + std::to_string(samples) +
            " samples do not fill a batch and are left out.";
  return text;
}

SimilarityOf axes_of(const NamedResult& result) {
  return result.beside.empty() ? SimilarityOf::one_set : SimilarityOf::two_sets;
}

// Fig. 6 of Unified Normalization: norms, attention and feed-forward layers; and of two runs the layers of one name,
// which are the diagonal if the runs have the same layers.
void add_parts(report::Section& section, const std::string& title, const NamedResult& result,
               const ordered_json& parts) {
  const auto rows = parts.at("rows").get<std::vector<std::string>>();
  const auto columns = parts.at("columns").get<std::vector<std::string>>();
  section.blocks.push_back(similarity_map({"Norms, attention and feed-forward layers: " + title,
                                           result.beside.empty() ? "layer" : result.beside,
                                           result.run,
                                           columns,
                                           rows,
                                           matrix_in(parts.at("cka")),
                                           {},
                                           {},
                                           ""},
                                          axes_of(result)));
  if (result.beside.empty() || rows != columns) return;
  report::LineChart same{"CKA of layers with the same name: " + title, "layer, in the order of the model", "CKA"};
  same.note = "The curve shows the diagonal of the map above.";
  report::Series diagonal{"CKA", counted_steps(rows.size()), {}};
  for (size_t i = 0; i < rows.size(); ++i) diagonal.y.push_back(number_in(parts.at("cka").at(i).at(i)));
  same.series.push_back(std::move(diagonal));
  section.blocks.push_back(std::move(same));
}

class SimilarityAnalysis final : public Analysis {
 public:
  std::string_view word() const override { return "similarity"; }
  std::string_view title() const override { return "Similarity of layers"; }
  AnalysisEffort effort() const override { return AnalysisEffort::samples; }
  std::optional<std::string> lacks(const torch::nn::Module& model) const override {
    for (const auto& module : model.modules(/*include_self=*/false))
      if (dynamic_cast<const nn::TransformerBlock*>(module.get()) != nullptr) return std::nullopt;
    return "has no transformer block";
  }

  // Each with itself, and the first with each other one.
  std::vector<AnalysisJob> jobs(size_t runs) const override {
    std::vector<AnalysisJob> all;
    for (size_t run = 0; run < runs; ++run) all.push_back({run, std::nullopt});
    for (size_t other = 1; other < runs; ++other) all.push_back({0, other});
    return all;
  }

  double passes(const AnalysedRun& run) const override {
    return Analysis::passes(run) * static_cast<double>(1 + run.saved_checkpoints().size());
  }

  AnalysisResult measure(AnalysedRun& run, AnalysedRun* beside,
                         const train::EvaluationProgress& progress) const override {
    if (run.options().batch < kMinExamples)
      throw NotMeasurable("uses fewer than the " + std::to_string(kMinExamples) +
                          " samples that similarity needs; raise --samples");
    if (beside) require_same_examples(run, *beside);
    const analysis::BlockOutputs rows = outputs_of(run, progress);
    std::optional<analysis::BlockOutputs> others;
    if (beside) others.emplace(outputs_of(*beside, progress));
    const analysis::BlockOutputs& columns = others ? *others : rows;
    if (rows.blocks().batches() != columns.blocks().batches())
      throw NotMeasurable(
          "call their blocks different numbers of times, so the outputs cannot be paired; leave similarity out of "
          "--what");
    ordered_json values{{"rows", rows.blocks().layers()},
                        {"columns", columns.blocks().layers()},
                        {"batches", rows.blocks().batches()},
                        {"examples", run.options().batch},
                        {"samples", run.samples().value_or(0)},
                        {"cka", json_of(alignment(rows.blocks(), columns.blocks()))},
                        {"parts",
                         {{"rows", rows.parts().layers()},
                          {"columns", columns.parts().layers()},
                          {"cka", json_of(alignment(rows.parts(), columns.parts()))}}}};
    values["step"] = step_json(run.step());
    if (!beside) values["checkpoints"] = change_over_checkpoints(run, rows);
    return {values.dump()};
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{std::string(title()),
                            {},
                            "Centred kernel alignment (CKA) compares the outputs of two layers for the same samples. "
                            "The layers are transformer blocks, norm layers, attention layers and feed-forward layers. "
                            "CKA is 1 if the two outputs differ only by a rotation and a scale."};
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      const std::string title = result.beside.empty() ? result.run : result.run + " and " + result.beside;
      section.blocks.push_back(similarity_map({title,
                                               result.beside.empty() ? "layer" : result.beside,
                                               result.run,
                                               values.at("columns").get<std::vector<std::string>>(),
                                               values.at("rows").get<std::vector<std::string>>(),
                                               matrix_in(values.at("cka")),
                                               {},
                                               {},
                                               used_text(values)},
                                              axes_of(result)));
      add_parts(section, title, result, values.at("parts"));
      if (!values.contains("checkpoints") || values.at("checkpoints").empty()) continue;
      report::LineChart change{"CKA with itself over checkpoints: " + result.run, "step", "CKA"};
      change.markers = true;
      change.note =
          "Each point is the CKA of a layer at a saved checkpoint with the same layer at the analysed "
          "checkpoint. " +
          marked_step(values, change);
      for (size_t layer = 0; layer < values.at("rows").size(); ++layer) {
        report::Series series{values.at("rows").at(layer), {}, {}};
        for (const ordered_json& checkpoint : values.at("checkpoints")) {
          series.x.push_back(number_in(checkpoint.at("step")));
          series.y.push_back(number_in(checkpoint.at("cka").at(layer)));
        }
        change.series.push_back(std::move(series));
      }
      section.blocks.push_back(std::move(change));
    }
    return section;
  }
};

}  // namespace

std::unique_ptr<Analysis> similarity_analysis() { return std::make_unique<SimilarityAnalysis>(); }

}  // namespace cachet::tasks
