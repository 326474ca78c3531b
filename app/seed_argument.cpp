#include "app/seed_argument.h"

#include "cachet/train/seed_folder.h"

namespace cachet::app {

CLI::Validator is_seed() {
  const auto check = [](const std::string& text) -> std::string {
    if (train::seed_from_text(text)) return "";
    return "must be a whole number from 0 to " + std::to_string(train::kGreatestSeed) + ", not '" + text + "'";
  };
  return {check, ""};
}

CLI::Validator names_seeds() {
  const auto check = [](const std::string& text) -> std::string {
    return text.empty() ? "is empty: write how many (5), or which, each once (0,1,7)" : "";
  };
  return {check, ""};
}

}  // namespace cachet::app
