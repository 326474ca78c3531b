#include "cachet/report/page/html.h"

#include <array>

#include "cachet/report/charts/confusion_matrix.h"
#include "cachet/report/charts/heat_map.h"
#include "cachet/report/charts/image_grid.h"
#include "cachet/report/charts/line_chart.h"
#include "cachet/report/charts/small_multiples.h"
#include "cachet/report/page/code_block.h"
#include "cachet/report/page/script.h"
#include "cachet/report/page/style.h"
#include "cachet/report/table.h"

namespace cachet::report {
namespace {

const char* word_for(Status status) {
  static constexpr std::array words = {"running", "finished", "interrupted", "failed"};
  return words[static_cast<size_t>(status)];
}

// A page that is not finished is read again by itself. A browser without a script does it by the head of the page.
constexpr int kRefreshSeconds = 20;

std::string anchor(size_t section) { return "section-" + std::to_string(section + 1); }

void draw_head(Markup& html, const Page& page) {
  html.open("header");
  html.open("p", {{"class", "eyebrow"}}).text("Cachet");
  if (page.status) {
    const std::string word = word_for(*page.status);
    html.element("span", {{"class", "status " + word}}, word);
    if (!page.written.empty()) html.element("span", {}, page.written);
  }
  html.close().element("h1", {}, page.title);
  if (!page.subtitle.empty()) html.element("p", {{"class", "subtitle"}}, page.subtitle);
  if (!page.status_detail.empty()) {
    html.paragraph(std::string("reason ") + (page.status ? word_for(*page.status) : ""), page.status_detail);
  }
  if (!page.facts.empty()) {
    html.open("dl", {{"class", "facts"}});
    for (const Fact& fact : page.facts) {
      html.open("div").element("dt", {}, fact.label).element("dd", {{"class", "value"}}, fact.value);
      if (!fact.detail.empty()) html.element("dd", {{"class", "detail"}}, fact.detail);
      html.close();
    }
    html.close();
  }
  html.close();
}

void draw_contents(Markup& html, const Page& page) {
  if (page.sections.size() < 2) return;
  html.open("nav", {{"aria-label", "Sections"}}).open("ul");
  for (size_t i = 0; i < page.sections.size(); ++i) {
    html.open("li").element("a", {{"href", "#" + anchor(i)}}, page.sections[i].title).close();
  }
  html.close().close();
}

void draw_section(Markup& html, const Section& section, const std::string& id) {
  html.open("section", {{"id", id}}).element("h2", {}, section.title);
  if (!section.note.empty()) html.paragraph("lead", section.note);
  html.open("div", {{"class", "blocks"}});
  for (const Block& block : section.blocks) std::visit([&](const auto& content) { draw(html, content); }, block);
  html.close().close();
}

}  // namespace

std::string source_mark(const std::string& source) {
  return Markup().empty("meta", {{"name", "source"}, {"content", source}}).str();
}

std::string render_html(const Page& page) {
  Markup html;
  html.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).open("head");
  html.empty("meta", {{"charset", "utf-8"}});
  html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  if (!page.source.empty()) html.raw(source_mark(page.source));
  html.element("title", {}, page.title + (page.status ? std::string(" · ") + word_for(*page.status) : ""));
  if (page.status == Status::running) {
    const std::string seconds = std::to_string(kRefreshSeconds);
    html.empty("meta", {{"name", "refresh-seconds"}, {"content", seconds}});
    html.open("noscript").empty("meta", {{"http-equiv", "refresh"}, {"content", seconds}}).close();
  }
  html.open("style").raw(style_sheet()).close().close().open("body");
  draw_head(html, page);
  draw_contents(html, page);
  html.open("main");
  for (size_t i = 0; i < page.sections.size(); ++i) draw_section(html, page.sections[i], anchor(i));
  html.close();
  if (!page.footer.empty()) html.element("footer", {}, page.footer);
  html.open("script").raw(script()).close();
  html.close().close();
  return html.str() + "\n";
}

}  // namespace cachet::report
