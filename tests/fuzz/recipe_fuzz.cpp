// A recipe's text: TOML and what the document makes of it.
#include "cachet/config/document.h"
#include "cachet/config/problem.h"
#include "cachet/config/view.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  try {
    config::Document document = config::Document::from_text(text, "recipe.toml");
    const config::View root = document.root();
    root.integer("epochs", 1);
    const config::View model = root.table("model");
    model.text("name", "vit_tiny");
    model.reals("scales", {});
    model.table("cache").real("ratio", 0.5);
    document.resolved_toml(/*with_origins=*/true);
    document.finish();
  } catch (const config::Error&) {
  }
}

std::vector<std::string> seeds() {
  return {"epochs = 3\n[model]\nname = \"vit_tiny\"\nscales = [0.5, 1e-3]\n[model.cache]\nratio = 0.25\n",
          "# comment\nmodel = {name = 'a', cache = {ratio = 1}}\nepochs = 0x10\n",
          "model.cache.ratio = 0.5\nmodel.scales = [1, 2.5, inf]\n[data]\nstart = 2024-02-29T12:00:00Z\n",
          "[[part]]\nkey = \"\"\"two\nlines \\u00e9\"\"\"\n[[part]]\n\"quoted key\" = true\n"};
}

}  // namespace cachet::fuzz
