#include "cachet/report/text/text_form.h"

#include "cachet/report/text/ascii.h"
#include "cachet/report/text/terminal.h"
#include "cachet/report/text/wrapping.h"

namespace cachet::report {

TextForm TextForm::of(int descriptor) {
  TextForm form;
  form.unicode = takes_unicode(descriptor);
  form.whole = !is_terminal(descriptor);
  if (!form.whole) form.columns = text_columns(descriptor);
  return form;
}

std::string text_paragraph(std::string_view text, const TextForm& form) {
  const std::string shown = form.unicode ? std::string(text) : ascii_text(text);
  if (form.whole) return shown + "\n";
  std::string paragraph;
  for (const std::string& line : wrapped_lines(shown, form.columns)) paragraph += line + "\n";
  return paragraph;
}

}  // namespace cachet::report
