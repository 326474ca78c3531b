#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_nearest2d.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "cachet/analysis/plug_ins/memory_attention.h"
#include "cachet/analysis/plug_ins/observations.h"
#include "cachet/analysis/plug_ins/token_activations.h"
#include "cachet/data/random.h"
#include "cachet/io/tensors/png.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/result_values.h"
#include "cachet/tasks/analyses/shows_samples.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kShownSamples = 4, kTriedSamples = 64, kShownLayers = 3, kShownTextTokens = 64, kPictureSide = 112;

// "o_self", what is shown of it.
struct ShownBranch {
  const char* name;
  at::Tensor analysis::TokenActivations::Layer::*activations;
};
constexpr ShownBranch kBranches[] = {{"o_self", &analysis::TokenActivations::Layer::self},
                                     {"o_mem", &analysis::TokenActivations::Layer::memory},
                                     {"mixture", &analysis::TokenActivations::Layer::mixture}};

// (h, w, C) of any size as (3, side, side·) float in [0, 1], its longer side kPictureSide.
at::Tensor enlarged(const at::Tensor& picture) {
  const at::Tensor channels = picture.permute({2, 0, 1}).to(at::kFloat).unsqueeze(0) / 255;
  const double factor =
      static_cast<double>(kPictureSide) / static_cast<double>(std::max(channels.size(2), channels.size(3)));
  const auto side = [&](int64_t pixels) {
    return std::max<int64_t>(1, std::llround(static_cast<double>(pixels) * factor));
  };
  return at::upsample_bilinear2d(channels, {side(channels.size(2)), side(channels.size(3))}, false)
      .expand({1, 3, -1, -1})[0];
}

// The branches as the paper draws them (Cached Transformers, Fig. 4): means over heads and channels, not absolute ones.
constexpr ShownBranch kMeanBranches[] = {{"ō_self", &analysis::TokenActivations::Layer::self_mean},
                                         {"ō_mem", &analysis::TokenActivations::Layer::memory_mean}};

// From black over red and yellow to white.
at::Tensor heat(const at::Tensor& values) {
  const auto ramp = [&](double from) { return (values * 3 - from).clamp(0, 1); };
  return at::stack({ramp(0), ramp(1), ramp(2)});
}

// Values scaled to [0, 1] from their least to their most.
at::Tensor scaled(const at::Tensor& values) {
  const at::Tensor map = values.to(at::kFloat);
  const double least = map.min().item<double>(), most = map.max().item<double>();
  return (map - least) / std::max(most - least, 1e-12);
}

// Values of a grid's tokens in shades of grey, dark ones small, a square for each token.
at::Tensor grey_map(const at::Tensor& picture, const at::Tensor& values, const nn::Grid& grid) {
  const at::Tensor map = scaled(values).view({1, 1, grid.height, grid.width});
  return at::upsample_nearest2d(map, {picture.size(1), picture.size(2)})[0].expand({3, -1, -1});
}

// Activations of a grid's tokens over the picture, least to most.
at::Tensor overlaid(const at::Tensor& picture, const at::Tensor& activations, const nn::Grid& grid) {
  const at::Tensor map = scaled(activations).view({1, 1, grid.height, grid.width});
  const at::Tensor large = at::upsample_bilinear2d(map, {picture.size(1), picture.size(2)}, false)[0][0];
  return picture * 0.4 + heat(large) * 0.6;
}

std::string png_of(const at::Tensor& picture) {
  const at::Tensor bytes = (picture * 255).round().clamp(0, 255).to(at::kByte).permute({1, 2, 0}).contiguous();
  const auto png = io::encode_png(bytes);
  return {reinterpret_cast<const char*>(png.data()), png.size()};
}

// First, middle and last, of those that there are.
std::vector<size_t> shown_layers(size_t layers) {
  std::vector<size_t> shown;
  const auto most = std::min<size_t>(layers, kShownLayers);
  for (size_t i = 0; i < most; ++i) shown.push_back(most == 1 ? 0 : i * (layers - 1) / (most - 1));
  return shown;
}

// The middle one, or both if their number is even.
std::vector<size_t> middle_layers(size_t layers) {
  if (layers == 0) return {};
  if (layers % 2 == 1) return {layers / 2};
  return {layers / 2 - 1, layers / 2};
}

/// All of so many in the order of the seed, but first one of each class, so that the first few differ in theirs.
std::vector<int64_t> drawn_samples(const ShowsSamples& samples, int64_t size, uint64_t seed) {
  std::vector<int64_t> drawn = data::permutation(std::max<int64_t>(1, size), {seed, data::RandomStream::subset, 0, 0});
  std::set<int64_t> seen;
  std::ranges::stable_partition(drawn, [&](int64_t index) {
    const std::optional<int64_t> of = samples.class_of(index);
    return of && seen.insert(*of).second;
  });
  return drawn;
}

bool is_right(const ShownSample& sample) { return sample.answer == sample.name; }

/// kShownSamples of these, or all of them. Of a classifier one at least that it takes for what it is and one that it
/// does not, if there is one among the first kTriedSamples.
std::vector<int64_t> chosen_samples(ShowsSamples& samples, const std::vector<int64_t>& drawn) {
  const size_t count = std::min(drawn.size(), static_cast<size_t>(kShownSamples));
  std::vector<int64_t> chosen(drawn.begin(), drawn.begin() + static_cast<int64_t>(count));
  if (count < 2 || !samples.class_of(drawn.front())) return chosen;
  const bool first = is_right(samples.run_over(drawn.front()));
  for (size_t i = 1; i < std::min<size_t>(drawn.size(), kTriedSamples); ++i) {
    if (is_right(samples.run_over(drawn[i])) == first) continue;
    if (i >= count) chosen.back() = drawn[i];
    return chosen;
  }
  return chosen;
}

class MapAnalysis final : public Analysis {
 public:
  std::string_view word() const override { return "maps"; }
  std::string_view title() const override { return "Maps of the branches"; }
  AnalysisEffort effort() const override { return AnalysisEffort::samples; }
  double passes(const AnalysedRun&) const override { return 2 * kShownSamples; }
  std::optional<std::string> lacks(const torch::nn::Module& model) const override {
    if (!analysis::cache_shares(model).empty()) return std::nullopt;
    return analysis::has_concatenated_cache(model)
               ? "has no separate memory attention: its cache is part of the softmax over its own tokens"
               : "has no cache";
  }

  AnalysisResult measure(AnalysedRun& run, AnalysedRun*, const train::EvaluationProgress& progress) const override {
    const at::NoGradGuard no_grad;
    Task& task = run.evaluation();
    auto* shows = dynamic_cast<ShowsSamples*>(&task);
    if (shows == nullptr)
      return {ordered_json{{"nothing", "a task of kind " + task.profile().kind + " cannot show its samples"}}.dump()};
    AnalysisResult result;
    ordered_json samples = ordered_json::array();
    int64_t done = 0;
    const std::vector<int64_t> shown =
        chosen_samples(*shows, drawn_samples(*shows, task.evaluation_size(), run.seed()));
    for (const int64_t index : shown) {
      analysis::TokenActivations activations;
      ShownSample sample;
      {
        const nn::Observation observation(task.model(), activations.listener());
        sample = shows->run_over(index);
      }
      samples.push_back(sample_json(index, sample, activations.layers(), result.files));
      progress(++done, static_cast<int64_t>(shown.size()));
    }
    result.values = ordered_json{{"seed", run.seed()}, {"samples", samples}}.dump(
        -1, ' ', false, ordered_json::error_handler_t::replace);
    return result;
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{
        std::string(title()),
        {},
        "The maps show the mean absolute activation of each token in the outputs of self-attention and of memory "
        "attention, and in their mixture. Each map has its own scale from the smallest value (dark) to the largest "
        "(bright). The grey maps of the middle layers are means over heads and channels without absolute values, "
        "scaled from the smallest value of the map (black, 0) to the largest (white, 1), like ō_self and ō_mem in Fig. "
        "4 of Cached Transformers (arXiv 2312.12742)."};
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      if (values.contains("nothing")) {
        section.note += " " + result.run + " is left out: " + values.at("nothing").get<std::string>() + ".";
        continue;
      }
      section.note += " " + result.run + ": the samples are chosen at random with seed " +
                      std::to_string(values.at("seed").get<uint64_t>()) +
                      ", from different classes if there are classes. If possible, the prediction is right for one "
                      "sample and wrong for another.";
      for (const ordered_json& sample : values.at("samples")) {
        const std::string name = sample.at("name").get<std::string>();
        const std::string answer = sample.value("answer", std::string());
        std::string title = result.run + ", sample " + std::to_string(sample.at("index").get<int64_t>()) +
                            (name.empty() ? "" : ": " + name);
        if (!answer.empty()) title += answer == name ? ", predicted right" : ", predicted wrong as " + answer;
        if (sample.contains("picture")) {
          report::ImageGrid grid{title, {}, "", report::PictureSize::maps};
          grid.pictures.push_back({result.file(sample.at("picture")), "sample", "sample"});
          for (const char* const kind : {"maps", "mean_maps"})
            for (const ordered_json& map : sample.at(kind)) {
              if (!map.contains("picture")) continue;
              const std::string caption =
                  map.at("layer").get<std::string>() + " " + map.at("branch").get<std::string>();
              grid.pictures.push_back({result.file(map.at("picture")), caption, caption});
            }
          section.blocks.push_back(std::move(grid));
        } else {
          section.blocks.push_back(strip(title, sample));
        }
      }
    }
    return section;
  }

 private:
  static ordered_json sample_json(int64_t index, const ShownSample& sample,
                                  const analysis::ByLayer<analysis::TokenActivations::Layer>& layers,
                                  std::vector<NamedFile>& files) {
    ordered_json json{{"index", index}, {"name", sample.name}};
    if (!sample.answer.empty()) json["answer"] = sample.answer;
    const std::string prefix = "sample-" + std::to_string(index);
    at::Tensor picture;
    if (sample.picture.defined()) {
      picture = enlarged(sample.picture);
      files.push_back({prefix + ".png", png_of(picture)});
      json["picture"] = files.back().name;
    }
    const auto tokens = std::min(sample.tokens.size(), static_cast<size_t>(kShownTextTokens));
    if (!picture.defined())
      json["tokens"] =
          std::vector<std::string>(sample.tokens.begin(), sample.tokens.begin() + static_cast<int64_t>(tokens));
    json["maps"] = ordered_json::array();
    for (const size_t number : shown_layers(layers.size())) {
      const auto& [path, layer] = *(layers.begin() + static_cast<int64_t>(number));
      for (const ShownBranch& branch : kBranches) {
        at::Tensor values = (layer.*branch.activations)[0];
        values = values.slice(0, std::min(layer.class_tokens, values.size(0)));
        if (!picture.defined()) values = values.slice(0, 0, static_cast<int64_t>(tokens));
        ordered_json map{{"layer", path}, {"branch", branch.name}, {"activations", json_of(values)}};
        if (picture.defined() && layer.grid && layer.grid->tokens() == values.size(0)) {
          map["grid"] = {layer.grid->height, layer.grid->width};
          files.push_back(
              {prefix + "-" + path + "-" + branch.name + ".png", png_of(overlaid(picture, values, *layer.grid))});
          map["picture"] = files.back().name;
        }
        json["maps"].push_back(std::move(map));
      }
    }
    json["mean_maps"] = ordered_json::array();
    if (!picture.defined()) return json;
    for (const size_t number : middle_layers(layers.size())) {
      const auto& [path, layer] = *(layers.begin() + static_cast<int64_t>(number));
      for (const ShownBranch& branch : kMeanBranches) {
        at::Tensor values = (layer.*branch.activations)[0];
        values = values.slice(0, std::min(layer.class_tokens, values.size(0)));
        if (!layer.grid || layer.grid->tokens() != values.size(0)) continue;
        const bool of_self = &branch == &kMeanBranches[0];
        files.push_back({prefix + "-" + path + (of_self ? "-mean-o_self.png" : "-mean-o_mem.png"),
                         png_of(grey_map(picture, values, *layer.grid))});
        json["mean_maps"].push_back({{"layer", path},
                                     {"branch", branch.name},
                                     {"values", json_of(scaled(values))},
                                     {"grid", {layer.grid->height, layer.grid->width}},
                                     {"picture", files.back().name}});
      }
    }
    return json;
  }

  static report::HeatMap strip(const std::string& title, const ordered_json& sample) {
    report::HeatMap map{title, "token", "layer", {}, {}, {}, 0.0, std::nullopt, ""};
    map.columns = sample.at("tokens").get<std::vector<std::string>>();
    for (const ordered_json& row : sample.at("maps")) {
      map.rows.push_back(row.at("layer").get<std::string>() + " " + row.at("branch").get<std::string>());
      std::vector<double> values = numbers_in(row.at("activations"));
      values.resize(map.columns.size(), std::nan(""));
      const double most = *std::ranges::max_element(values);
      for (const double value : values) map.values.push_back(value / std::max(most, 1e-12));
    }
    map.note = "Each row is divided by its largest value. Only the first tokens of a longer text are shown.";
    return map;
  }
};

}  // namespace

std::unique_ptr<Analysis> map_analysis() { return std::make_unique<MapAnalysis>(); }

}  // namespace cachet::tasks
