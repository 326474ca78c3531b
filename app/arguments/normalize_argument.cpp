#include "app/arguments/normalize_argument.h"

#include <string>

#include "app/arguments/one_of.h"
#include "cachet/data/text/encoders/normalizing_encoder.h"

namespace cachet::app {

void add_normalize(CLI::App& app, data::TextNormalization& form) {
  app.add_option_function<std::string>(
         "--normalize", [&form](const std::string& name) { form = data::normalization_named(name); },
         "The form that texts are brought into, none, nfc or nfkc: what the recipe says in data.normalize (none)")
      ->check(one_of({"none", "nfc", "nfkc"}))
      ->type_name("FORM");
}

}  // namespace cachet::app
