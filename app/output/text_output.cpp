#include "app/output/text_output.h"

#include <unistd.h>

#include <limits>

namespace cachet::app {

void add_wide_option(CLI::App& app, bool& wide) {
  app.add_flag("--wide", wide, "Print all columns in full, even if the terminal is too narrow for them");
}

report::TextForm printed_form(bool wide, const std::string& whole_by) {
  report::TextForm form = report::TextForm::of(STDOUT_FILENO);
  form.whole_by = whole_by;
  if (wide) {
    form.whole = true;
    form.columns = std::numeric_limits<int>::max();
  }
  return form;
}

}  // namespace cachet::app
