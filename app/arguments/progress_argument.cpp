#include "app/arguments/progress_argument.h"

#include "app/arguments/one_of.h"

namespace cachet::app {

void add_progress_option(CLI::App& app, std::string& word) {
  app.add_option("--progress", word, "auto, bar, plain or none (auto)")
      ->check(one_of({"auto", "bar", "plain", "none"}))
      ->type_name("HOW");
}

report::ProgressMode progress_mode(const std::string& word) {
  if (word == "bar") return report::ProgressMode::bar;
  if (word == "plain") return report::ProgressMode::plain;
  if (word == "none") return report::ProgressMode::none;
  return report::ProgressMode::automatic;
}

}  // namespace cachet::app
