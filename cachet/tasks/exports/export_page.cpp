#include "cachet/tasks/exports/export_page.h"

#include "cachet/report/format.h"
#include "cachet/tasks/exports/export_comparison.h"

namespace cachet::tasks {
namespace {

using deploy::RewrittenPlace;

report::Table places(const deploy::RewriteReport& rewrite) {
  report::Table table;
  table.title = "Layers";
  table.columns = {{"place"},
                   {"what it was"},
                   {"what is left of it"},
                   {"operations less", report::Alignment::right},
                   {"bytes less", report::Alignment::right},
                   {"why"}};
  for (const RewrittenPlace& place : rewrite.places)
    table.rows.push_back({place.path, word(place.kind), place.gone ? "nothing" : place.left,
                          report::format_count(static_cast<double>(place.removed.operations)),
                          report::format_bytes(place.removed.bytes), place.reason});
  return table;
}

report::Table sizes(const ExportReport& report) {
  report::Table table;
  table.title = "Size";
  table.columns = {{"form"},
                   {"parameters", report::Alignment::right},
                   {"memory", report::Alignment::right},
                   {"operations of a sample", report::Alignment::right},
                   {"bytes that it moves", report::Alignment::right}};
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

}  // namespace

report::Page export_page(const ExportReport& report) {
  const runtime::ExportManifest& manifest = report.manifest;
  report::Page page;
  page.title = manifest.model + " for " + std::string(word(manifest.engine));
  page.subtitle = "Made of " + manifest.source;
  const deploy::Equality& equality = report.check.equality;
  page.facts = {{"Precision", std::string(word(manifest.precision)), ""},
                {"Largest difference", report::format_number(equality.difference, 2), "of the largest score"},
                {"Best class as before", std::to_string(equality.samples - equality.other),
                 "of " + std::to_string(equality.samples)},
                {"Files", report::format_bytes(report.bytes), ""}};
  report::Section rewritten{"What was rewritten", {sizes(report), places(report.rewrite)}, ""};
  for (const std::string& line : deploy::report_lines(report.rewrite))
    rewritten.note += (rewritten.note.empty() ? "" : "; ") + line;
  report::Section compared{"Compared with the model", {}, to_text(report.check)};
  for (const std::string& note : report.notes) compared.note += "; " + note;
  page.sections = {compared, rewritten};
  page.footer = manifest.made_by;
  return page;
}

}  // namespace cachet::tasks
