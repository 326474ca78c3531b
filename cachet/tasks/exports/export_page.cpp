#include "cachet/tasks/exports/export_page.h"

#include <map>

#include "cachet/report/format.h"
#include "cachet/tasks/exports/export_comparison.h"

namespace cachet::tasks {
namespace {

using deploy::RewrittenPart;

report::Table parts_table(const deploy::RewriteReport& rewrite) {
  report::Table table;
  table.title = "Rewritten parts";
  table.columns = {{"part"},
                   {"before"},
                   {"after"},
                   {"operations saved", report::Alignment::right},
                   {"bytes saved", report::Alignment::right},
                   {"why"}};
  for (const RewrittenPart& place : rewrite.parts)
    table.rows.push_back({place.path, to_string(place.kind), place.gone ? "nothing" : place.left,
                          report::format_count(static_cast<double>(place.removed.operations)),
                          report::format_bytes(place.removed.bytes), place.reason});
  return table;
}

report::Table sizes(const ExportReport& report) {
  report::Table table;
  table.title = "Size";
  table.columns = {{"form"},
                   {"parameters", report::Alignment::right},
                   {"weights", report::Alignment::right},
                   {"operations of a sample", report::Alignment::right},
                   {"bytes moved", report::Alignment::right}};
  const auto add = [&](const char* form, const deploy::Footprint& footprint) {
    table.rows.push_back({form, report::format_count(static_cast<double>(footprint.parameters)),
                          report::format_bytes(footprint.bytes),
                          report::format_count(static_cast<double>(footprint.work.operations)),
                          report::format_bytes(footprint.work.bytes)});
  };
  add("as trained", report.rewrite.before);
  add("rewritten", report.rewrite.after);
  return table;
}

report::Table speed_and_files(const ExportReport& report) {
  const ExportSpeed& speed = report.speed;
  report::Table table;
  table.title = "Speed and files";
  table.columns = {{"form"},
                   {"ms for a batch of " + std::to_string(speed.batch), report::Alignment::right},
                   {"samples/s", report::Alignment::right},
                   {"bytes", report::Alignment::right}};
  const auto add = [&](const char* form, double milliseconds, int64_t bytes) {
    const double rate = 1e3 * static_cast<double>(speed.batch) / milliseconds;
    table.rows.push_back(
        {form, report::format_number(milliseconds, 3), report::format_number(rate, 3), report::format_bytes(bytes)});
  };
  add("the model in float32", speed.model_milliseconds, report.model_bytes);
  add("the export", speed.export_milliseconds, report.bytes);
  table.note = to_text(speed) +
               ". The times were measured with random samples on the CPU of the machine that wrote this page. The "
               "model and the export ran in turns, " +
               std::to_string(speed.pairs) + (speed.pairs == 1 ? " time." : " times.");
  return table;
}

/// Every layer that has or multiplies something, before and after.
report::Table layers(const ExportReport& report) {
  struct Row {
    analysis::LayerSummary before, after;
  };
  std::vector<std::string> order;
  std::map<std::string, Row> rows;
  const auto add = [&](const std::vector<analysis::LayerSummary>& layers, analysis::LayerSummary Row::*form) {
    for (const analysis::LayerSummary& layer : layers) {
      if (layer.parameters == 0 && layer.macs == analysis::Products{}) continue;
      const auto [place, is_new] = rows.try_emplace(layer.path);
      if (is_new) order.push_back(layer.path);
      place->second.*form = layer;
    }
  };
  add(report.layers_before, &Row::before);
  add(report.layers_after, &Row::after);
  report::Table table;
  table.title = "Layers, and their multiply-accumulates for a sample";
  const auto right = report::Alignment::right;
  table.columns = {{"layer"},     {"kind"}, {"parameters", right}, {"now", right}, {"MACs (evaluation)", right},
                   {"now", right}};
  const auto count = [](int64_t number) { return report::format_count(static_cast<double>(number)); };
  const auto macs = [](const analysis::LayerSummary& layer) {
    return layer.macs.linear_convolution + layer.macs.attention;
  };
  for (const std::string& path : order) {
    const auto& [before, after] = rows.at(path);
    table.rows.push_back({path.empty() ? "the model itself" : path, before.kind.empty() ? after.kind : before.kind,
                          count(before.parameters), count(after.parameters), count(macs(before)), count(macs(after))});
  }
  return table;
}

}  // namespace

report::Page export_page(const ExportReport& report) {
  const runtime::ExportManifest& manifest = report.manifest;
  report::Page page;
  page.title = manifest.model + " for " + std::string(to_string(manifest.engine));
  page.subtitle = "Made from " + manifest.source;
  const deploy::Equality& equality = report.check.equality;
  page.facts = {
      {"Precision", std::string(to_string(manifest.precision)), ""},
      {"Largest difference", report::format_number(equality.difference, 2), "of a log-probability"},
      {"Best class as before", std::to_string(equality.samples - equality.other),
       "of " + std::to_string(equality.samples)},
      {"Times as fast", report.speed.is_comparable() ? report::format_fixed(report.speed.times_as_fast.median, 2) : "–",
       report.speed.is_comparable() ? "as the model" : "the machine was too busy"},
      {"Files", report::format_bytes(report.bytes),
       "the model's weights have " + report::format_bytes(report.model_bytes)}};
  report::Section rewritten{"What was rewritten", {sizes(report), parts_table(report.rewrite), layers(report)}, ""};
  for (const std::string& line : deploy::report_lines(report.rewrite))
    rewritten.note += (rewritten.note.empty() ? "" : "; ") + line;
  report::Section compared{"Compared with the model", {speed_and_files(report)}, to_text(report.check)};
  for (const std::string& note : report.notes) compared.note += "; " + note;
  page.sections = {compared, rewritten};
  page.footer = manifest.made_by;
  return page;
}

}  // namespace cachet::tasks
