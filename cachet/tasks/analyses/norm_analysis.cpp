#include <ATen/ops/stack.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cachet/analysis/statistics/channel_trace.h"
#include "cachet/analysis/statistics/normality.h"
#include "cachet/analysis/statistics/step_statistics.h"
#include "cachet/report/charts/equal_series.h"
#include "cachet/report/format.h"
#include "cachet/tasks/analyses/analysis.h"
#include "cachet/tasks/analyses/result_values.h"
#include "cachet/tasks/normality_charts.h"

namespace cachet::tasks {
namespace {

ordered_json normality_json(const std::vector<at::Tensor>& statistics, int64_t last) {
  if (static_cast<int64_t>(statistics.size()) < last) return nullptr;
  return analysis::normal_channels(at::stack(statistics), last).fraction();
}

ordered_json fluctuation_json(const std::vector<at::Tensor>& statistics) {
  if (statistics.empty()) return nullptr;
  const analysis::Fluctuation fluctuation = analysis::fluctuation_of(statistics);
  return {{"overall", fluctuation.overall}, {"steps", fluctuation.steps}};
}

// Steps over which the means of a norm without a window are taken: unified normalization's own.
constexpr int64_t kUsualWindow = 4;

// Two channels of a layer, that of the median fluctuation and that of the largest one: their statistics and means.
ordered_json channels_json(const analysis::StepStatistics::Layer& layer) {
  const std::vector<int64_t> order = analysis::channels_by_fluctuation(layer.forward);
  const int64_t window = layer.window > 0 ? layer.window : kUsualWindow;
  const int64_t gradient_window = layer.gradient_window > 0 ? layer.gradient_window : kUsualWindow;
  ordered_json channels = ordered_json::array();
  const auto add = [&](const char* choice, int64_t channel) {
    const analysis::ChannelTrace forward = analysis::channel_trace(layer.forward, channel, window);
    const analysis::ChannelTrace gradient = analysis::channel_trace(layer.gradient, channel, gradient_window);
    channels.push_back({{"fluctuation", choice},
                        {"channel", channel},
                        {"window", window},
                        {"statistic", forward.statistic},
                        {"geometric", forward.geometric},
                        {"arithmetic", forward.arithmetic},
                        {"gradient_window", gradient_window},
                        {"gradient", gradient.statistic},
                        {"gradient_arithmetic", gradient.arithmetic}});
  };
  add("median", order[order.size() / 2]);
  add("largest", order.back());
  return channels;
}

// Fig. 4 of Unified Normalization: of the first, the middle and the last norm.
report::SmallMultiples channel_charts(const std::string& run, const ordered_json& layers, bool of_gradient) {
  report::SmallMultiples charts{
      (of_gradient ? "One channel's statistic of the gradient: " : "One channel's statistic: ") + run,
      {},
      false,
      std::string("Two channels of the first, the middle and the last norm: the channel with the median fluctuation of "
                  "its statistic, and the channel with the largest fluctuation. ") +
          (of_gradient ? "The mean is over the window of the norm. This statistic can be negative, so there is no "
                         "geometric mean."
                       : "The means are over the window of the norm. Outliers change the arithmetic mean more than "
                         "the geometric mean.")};
  std::vector<size_t> shown{0, layers.size() / 2, layers.size() - 1};
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  for (const size_t number : shown)
    for (const ordered_json& channel : layers.at(number).at("channels")) {
      const auto curve = [&](const char* name, const char* key) {
        return report::Series{name, counted_steps(channel.at(key).size()), numbers_in(channel.at(key))};
      };
      if (channel.at(of_gradient ? "gradient" : "statistic").empty()) continue;
      const std::string title = layers.at(number).at("layer").get<std::string>() + ", channel " +
                                std::to_string(channel.at("channel").get<int64_t>()) + " (" +
                                channel.at("fluctuation").get<std::string>() + ")";
      report::LineChart chart{title, "replayed step", ""};
      if (of_gradient)
        chart.series = {curve("statistic", "gradient"), curve("arithmetic mean", "gradient_arithmetic")};
      else
        chart.series = {curve("statistic", "statistic"), curve("geometric mean", "geometric"),
                        curve("arithmetic mean", "arithmetic")};
      charts.charts.push_back(std::move(chart));
    }
  return charts;
}

// Fig. 7 of Unified Normalization, over replayed steps: at the earliest checkpoint that the run keeps, and at the one
// that is analysed.
std::vector<report::LineChart> density_charts(const std::string& run, const ordered_json& values) {
  const auto at = [](const ordered_json& list) { return numbers_in(list); };
  std::vector<double> now, gradient_now;
  for (const ordered_json& layer : values.at("layers")) {
    now.push_back(number_in(layer.at("normal")));
    gradient_now.push_back(number_in(layer.at("gradient_normal")));
  }
  std::vector<report::LineChart> charts;
  const auto step = values.find("step");
  const auto is_analysed = [&](const ordered_json& checkpoint) {
    return step != values.end() && *step == checkpoint.at("step");
  };
  if (const ordered_json& checkpoints = values.at("checkpoints");
      !checkpoints.empty() && !is_analysed(checkpoints.front())) {
    const ordered_json& first = checkpoints.front();
    charts.push_back(normality_density("Normal channels over layers, in steps replayed from the checkpoint of step " +
                                           std::to_string(first.at("step").get<int64_t>()) + ": " + run,
                                       at(first.at("normal")), at(first.at("gradient_normal"))));
  }
  charts.push_back(normality_density(
      "Normal channels over layers, in steps replayed from the analysed checkpoint: " + run, now, gradient_now));
  return charts;
}

report::Table norm_table(const std::string& run, const ordered_json& values) {
  using report::Alignment;
  report::Table table{
      "Norms: " + run,
      {{"layer"},
       {"normal channels", Alignment::right},
       {"normal channels of the gradient", Alignment::right},
       {"fluctuation", Alignment::right},
       {"fluctuation of the gradient", Alignment::right},
       {"σ̂² from σ²", Alignment::right}},
      {},
      "Normal channels (PNAC) are those whose last " + std::to_string(values.at("steps").get<int64_t>()) +
          " statistics pass D'Agostino and Pearson's test of normality at level 0.05. Constant channels do not pass. "
          "\"σ̂² from σ²\" is the relative difference between the statistic of the last step and the running average."};
  if (values.at("steps").get<int64_t>() < analysis::kEnoughForNormality)
    table.note += " With fewer than " + std::to_string(analysis::kEnoughForNormality) +
                  " values, the kurtosis part of the test is inaccurate.";
  for (const ordered_json& layer : values.at("layers")) {
    const auto percent = [](const ordered_json& value) {
      return value.is_number() ? report::Cell(report::format_percent(value.get<double>()), value.get<double>())
                               : report::Cell("-");
    };
    const auto overall = [](const ordered_json& value) {
      return value.is_null() ? report::Cell("-")
                             : report::Cell(report::format_fixed(number_in(value.at("overall")), 3),
                                            number_in(value.at("overall")));
    };
    table.rows.push_back({layer.at("layer").get<std::string>(), percent(layer.at("normal")),
                          percent(layer.at("gradient_normal")), overall(layer.at("fluctuation")),
                          overall(layer.at("gradient_fluctuation")),
                          percent(layer.at("apart").at(layer.at("apart").size() - 1))});
  }
  return table;
}

report::SmallMultiples running_charts(const std::string& run, const ordered_json& layers) {
  report::SmallMultiples charts{"σ̂² and running σ²: " + run, {}, false, "Means over channels."};
  for (const ordered_json& layer : layers) {
    const std::vector<double> steps = counted_steps(layer.at("used").size());
    charts.charts.push_back(
        {layer.at("layer"),
         "replayed step",
         "",
         {{"used", steps, numbers_in(layer.at("used"))}, {"running", steps, numbers_in(layer.at("running"))}}});
  }
  return charts;
}

report::LineChart fluctuation_chart(const std::string& title, const ordered_json& layers, const char* which) {
  report::LineChart chart{title, "replayed step", "‖s_t − s̄‖ ÷ rms ‖s‖"};
  chart.y_from_zero = true;
  for (const ordered_json& layer : layers)
    if (!layer.at(which).is_null())
      chart.series.push_back({layer.at("layer"), counted_steps(layer.at(which).at("steps").size()),
                              numbers_in(layer.at(which).at("steps"))});
  return chart;
}

report::LineChart filtered_chart(const std::string& run, const ordered_json& layers) {
  report::LineChart chart{"Filtered steps, cumulative: " + run, "replayed step", "steps"};
  chart.y_from_zero = true;
  for (const ordered_json& layer : layers)
    if (!layer.at("filtered").empty())
      chart.series.push_back(
          {layer.at("layer"), counted_steps(layer.at("filtered").size()), numbers_in(layer.at("filtered"))});
  chart.series = report::equal_series_joined(chart.series, "layers");
  return chart;
}

// How normal the statistics of each layer are at the checkpoints that a run keeps: PNAC over steps.
report::LineChart normality_chart(const std::string& title, const ordered_json& values, const char* which) {
  report::LineChart chart{title, "step", "normal channels"};
  chart.markers = true;
  chart.note =
      "Each point is a saved checkpoint of the run. All checkpoints are measured over the same replayed steps. " +
      marked_step(values, chart);
  chart.y_from_zero = true;
  for (size_t layer = 0; layer < values.at("layers").size(); ++layer) {
    report::Series series{values.at("layers").at(layer).at("layer"), {}, {}};
    for (const ordered_json& checkpoint : values.at("checkpoints")) {
      const ordered_json& fraction = checkpoint.at(which).at(layer);
      if (!fraction.is_number()) continue;
      series.x.push_back(number_in(checkpoint.at("step")));
      series.y.push_back(fraction.get<double>());
    }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

analysis::StepStatistics replayed(AnalysedRun& run, const train::EvaluationProgress& progress) {
  std::optional<analysis::StepStatistics> statistics;
  run.replay(
      [&](torch::nn::Module& model) {
        statistics.emplace(model);
        return AnalysedRun::Replay{statistics->listener()};
      },
      progress);
  return std::move(*statistics);
}

class NormAnalysis final : public Analysis {
 public:
  std::string_view word() const override { return "norms"; }
  std::string_view title() const override { return "Norms"; }
  AnalysisEffort effort() const override { return AnalysisEffort::steps; }
  std::optional<std::string> lacks(const torch::nn::Module& model) const override {
    if (analysis::has_batch_statistics(model)) return std::nullopt;
    return "has no norm with batch statistics";
  }

  double passes(const AnalysedRun& run) const override {
    return Analysis::passes(run) * static_cast<double>(1 + run.saved_checkpoints().size());
  }

  AnalysisResult measure(AnalysedRun& run, AnalysedRun*, const train::EvaluationProgress& progress) const override {
    const int64_t last = run.options().steps;
    int64_t replays = 0;
    const int64_t all = last * (1 + static_cast<int64_t>(run.saved_checkpoints().size()));
    const train::EvaluationProgress of_all = [&](int64_t done, int64_t) { progress(replays * last + done, all); };
    ordered_json layers = ordered_json::array();
    const analysis::StepStatistics statistics = replayed(run, of_all);
    for (const auto& [path, layer] : statistics.layers())
      layers.push_back({{"layer", path},
                        {"normal", normality_json(layer.forward, last)},
                        {"gradient_normal", normality_json(layer.gradient, last)},
                        {"channels", channels_json(layer)},
                        {"fluctuation", fluctuation_json(layer.forward)},
                        {"gradient_fluctuation", fluctuation_json(layer.gradient)},
                        {"used", layer.used},
                        {"running", layer.running},
                        {"apart", layer.apart},
                        {"filtered", layer.filtered}});
    ordered_json checkpoints = ordered_json::array();
    run.over_checkpoints(run.training().model(), [&](int64_t step) {
      ++replays;
      ordered_json normal = ordered_json::array(), gradient_normal = ordered_json::array();
      const analysis::StepStatistics then = replayed(run, of_all);
      for (const auto& [path, layer] : then.layers()) {
        normal.push_back(normality_json(layer.forward, last));
        gradient_normal.push_back(normality_json(layer.gradient, last));
      }
      checkpoints.push_back({{"step", step}, {"normal", normal}, {"gradient_normal", gradient_normal}});
    });
    return {
        ordered_json{{"step", step_json(run.step())}, {"steps", last}, {"layers", layers}, {"checkpoints", checkpoints}}
            .dump()};
  }

  report::Section section(const std::vector<NamedResult>& results) const override {
    report::Section section{
        std::string(title()),
        {},
        "Batch statistics of training steps that were replayed without updating the weights. Unified Normalization "
        "(arXiv 2208.01313) tests the training iterations themselves, in which the weights change. To show the result "
        "of this test on the run's page, set `train.normality_passes` in the recipe."};
    for (const NamedResult& result : results) {
      const ordered_json values = ordered_json::parse(result.values);
      const ordered_json& layers = values.at("layers");
      section.blocks.push_back(norm_table(result.run, values));
      const auto add = [&](report::LineChart chart) {
        if (!chart.series.empty()) section.blocks.push_back(std::move(chart));
      };
      add(normality_chart("Normal channels over checkpoints: " + result.run, values, "normal"));
      add(normality_chart("Normal channels of the gradient over checkpoints: " + result.run, values,
                          "gradient_normal"));
      for (report::LineChart& chart : density_charts(result.run, values)) add(std::move(chart));
      section.blocks.push_back(channel_charts(result.run, layers, /*of_gradient=*/false));
      if (report::SmallMultiples charts = channel_charts(result.run, layers, /*of_gradient=*/true);
          !charts.charts.empty())
        section.blocks.push_back(std::move(charts));
      add(fluctuation_chart("Fluctuation of the statistics: " + result.run, layers, "fluctuation"));
      add(fluctuation_chart("Fluctuation of the gradient's statistics: " + result.run, layers, "gradient_fluctuation"));
      section.blocks.push_back(running_charts(result.run, layers));
      add(filtered_chart(result.run, layers));
    }
    return section;
  }
};

}  // namespace

std::unique_ptr<Analysis> norm_analysis() { return std::make_unique<NormAnalysis>(); }

}  // namespace cachet::tasks
