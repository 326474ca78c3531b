#include "app/arguments/device_argument.h"

#include <array>
#include <string>

#include "app/commands/command.h"
#include "cachet/config/near_names.h"
#include "cachet/train/machine/device.h"

namespace cachet::app {

void add_device_option(CLI::App& app, std::string& word) {
  app.add_option("--device", word, "Where to run: auto, cpu, cuda or cuda:1 (auto: a GPU where there is one)")
      ->type_name("DEVICE");
}

c10::Device device_named(const std::string& word) {
  const auto choice = train::parse_device(word);
  const std::array<std::string, 3> words{"auto", "cpu", "cuda"};
  if (!choice)
    throw UsageError("--device " + word + ": write auto, cpu, cuda or cuda:1" + config::suggestion(word, words));
  return train::find_device(*choice);
}

}  // namespace cachet::app
