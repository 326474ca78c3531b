#include "app/normalize_argument.h"

namespace cachet::app {

void add_normalize(CLI::App& app, std::string& form) {
  app.add_option(
         "--normalize", form,
         "The form that texts are brought into, none, nfc or nfkc: what the recipe says in data.normalize (none)")
      ->check(CLI::IsMember({"none", "nfc", "nfkc"}))
      ->type_name("FORM");
}

}  // namespace cachet::app
