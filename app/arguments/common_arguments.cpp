#include "app/arguments/common_arguments.h"

#include <array>

#include "app/arguments/one_of.h"
#include "app/commands/command.h"
#include "cachet/config/near_names.h"
#include "cachet/data/text/encoders/normalizing_encoder.h"
#include "cachet/train/machine/device.h"

namespace cachet::app {

void add_device_option(CLI::App& app, std::string& word) {
  app.add_option("--device", word,
                 "Device to run on: cpu, cuda, cuda:1 or auto, which uses a GPU if there is one (default: auto)")
      ->type_name("DEVICE");
}

c10::Device device_named(const std::string& word) {
  const auto choice = train::parse_device(word);
  const std::array<std::string, 3> words{"auto", "cpu", "cuda"};
  if (!choice)
    throw UsageError("--device " + word + ": the device must be auto, cpu, cuda or cuda:1" +
                     config::suggestion(word, words));
  return train::find_device(*choice);
}

void add_normalize(CLI::App& app, data::TextNormalization& form) {
  app.add_option_function<std::string>(
         "--normalize", [&form](const std::string& name) { form = data::normalization_named(name); },
         "Unicode normalisation of the texts: none, nfc or nfkc. Give the same value as data.normalize of the recipe "
         "(default: none)")
      ->check(one_of({"none", "nfc", "nfkc"}))
      ->type_name("FORM");
}

void add_progress_option(CLI::App& app, std::string& word) {
  app.add_option("--progress", word,
                 "How progress is shown: a bar, plain lines, or nothing; auto shows a bar on a terminal and lines "
                 "elsewhere (default: auto)")
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
