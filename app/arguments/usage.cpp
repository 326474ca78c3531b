#include "app/arguments/usage.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "cachet/config/near_names.h"
#include "cachet/report/text/text_form.h"

namespace cachet::app {
namespace {

constexpr int kNarrowest = 20;  // columns of the right column of a help text

bool is_flag(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// The innermost subcommand that was named: `cachet recipes cp`.
const CLI::App* named_app(const CLI::App* app) {
  for (auto subs = app->get_subcommands(); !subs.empty(); subs = app->get_subcommands()) app = subs.front();
  return app;
}

std::string full_name(const CLI::App* app) {
  std::string name = app->get_name();
  for (app = app->get_parent(); app != nullptr; app = app->get_parent()) name = app->get_name() + " " + name;
  return name;
}

std::vector<std::string> flags_of(const CLI::App* app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app->get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

// What nobody took.
std::vector<std::string> untaken(const CLI::App* app) {
  std::vector<std::string> words;
  for (const CLI::App* outer = app; outer != nullptr; outer = outer->get_parent())
    for (const std::string& word : outer->remaining()) words.push_back(word);
  return words;
}

// After an unknown flag its value is left over too, so that flags alone are worth a line.
std::vector<std::string> left_over(const CLI::App* app) {
  std::vector<std::string> words = untaken(app);
  if (std::ranges::any_of(words, is_flag)) std::erase_if(words, [](const std::string& word) { return !is_flag(word); });
  return words;
}

std::string unknown_word(const std::string& word, const CLI::App* app) {
  if (!is_flag(word)) return "unexpected argument '" + word + "'";
  const std::string flag = word.substr(0, word.find('='));
  return "there is no option " + flag + config::suggestion(flag, flags_of(app));
}

}  // namespace

std::optional<std::string> unknown_verb(const CLI::App& app, std::string_view word) {
  if (is_flag(word)) return std::nullopt;
  std::vector<std::string> verbs;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(sub->get_name());
  if (std::ranges::find(verbs, word) != verbs.end()) return std::nullopt;
  const std::string name = full_name(&app);
  return name + ": there is no command '" + std::string(word) + "'" + config::suggestion(word, verbs) + "; see `" +
         name + " --help`\n";
}

std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* named = named_app(&app);
  // Of an app that only holds subcommands, the first word should have been one; all after it belongs to that.
  if (const auto words = untaken(named); named->get_require_subcommand_min() > 0 && !words.empty())
    if (auto complaint = unknown_verb(*named, words.front())) return *std::move(complaint);
  const std::string name = full_name(named);
  std::string text;
  for (const std::string& word : left_over(named)) text += name + ": " + unknown_word(word, named) + "\n";
  // A required argument may be missing only because a flag was mistyped; both are reported.
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) text += name + ": " + error.what() + "\n";
  return text + "See `" + name + " --help`.\n";
}

std::string HelpFormatter::in_right_column(const std::string& text) const {
  report::TextForm form = report::TextForm::of(STDOUT_FILENO);
  form.columns = std::max(form.columns - static_cast<int>(get_column_width()), kNarrowest);
  std::string column = report::text_paragraph(text, form);
  column.pop_back();  // the last line break is CLI11's
  return column;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return in_right_column(option->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  const std::string& description = app->get_description();
  return description.empty() ? "" : report::text_paragraph(description, report::TextForm::of(STDOUT_FILENO));
}

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  std::stringstream text;
  CLI::detail::format_help(text, sub->get_display_name(true), in_right_column(sub->get_description()),
                           get_column_width());
  return text.str();
}

}  // namespace cachet::app
