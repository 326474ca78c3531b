#include "app/arguments/help_formatter.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cachet/report/text/text_form.h"

namespace cachet::app {
namespace {

constexpr int kNarrowest = 20;  // columns of the right one

}  // namespace

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

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  std::stringstream text;
  CLI::detail::format_help(text, sub->get_display_name(true), in_right_column(sub->get_description()),
                           get_column_width());
  return text.str();
}

}  // namespace cachet::app
