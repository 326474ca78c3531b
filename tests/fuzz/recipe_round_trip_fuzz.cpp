// A recipe and a `--set` option: what resolves must read back as the same values. The first line of the input is the
// option, the rest the recipe.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cachet/config/view.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

/// One key of every type, at several depths.
void read_all(config::Document& document) {
  const config::View root = document.root();
  root.boolean("b", false);
  root.integer("i", 1);
  root.real("r", 0.5);
  const config::View table = root.table("t");
  table.text("s", "text");
  table.integers("il", {1});
  table.table("u").reals("rl", {});
  table.table("u").texts("sl", {"a"});
}

/// A table of other types where problems are sought, not values: every reader meets every kind of node.
void read_crosswise(config::Document& document) {
  const config::View root = document.root();
  root.text("b", "");
  root.boolean("i", false);
  root.integers("r", {});
  root.required_text("t");
  root.table("t").table("s").real("u", 0);
}

}  // namespace

void read(std::span<const uint8_t> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view recipe = text.substr(std::min(end + 1, text.size()));
  try {
    config::Document crossed = config::Document::from_text(recipe, "recipe.toml");
    read_crosswise(crossed);
    crossed.finish();
  } catch (const config::Error&) {
  }
  std::string with_origins, plain;
  try {
    config::Document document = config::Document::from_text(recipe, "recipe.toml");
    if (end > 0) document.set(text.substr(0, end));
    read_all(document);
    document.finish();
    with_origins = document.resolved_toml(/*with_origins=*/true);
    plain = document.resolved_toml(/*with_origins=*/false);
  } catch (const config::Error&) {
  }
  // Outside of `try`: a resolved recipe that is refused is a find.
  config::Document again;
  if (!with_origins.empty()) again = config::Document::from_text(with_origins, "resolved.toml");
  read_all(again);
  again.finish();
  if (!plain.empty() && again.resolved_toml(/*with_origins=*/false) != plain) {
    throw std::logic_error("a resolved recipe reads back as another one");
  }
}

std::vector<std::string> seeds() {
  return {"i=2\nb = true\nr = 1e-3\n[t]\ns = \"x\\u00e9\\n\"\nil = [1, -2]\n[t.u]\nrl = [0.1, 2]\nsl = [\"\", '#']\n",
          "t.s=bare word\nt = {il = [], u = {rl = [1e300]}}\n",
          "t.u.sl=[\"a\", 'b']\nr = 7\ni = 9_223_372_036_854_775_807\n", "t.u={rl=[1]}\nt.kind = \"\"\"\nx\"\"\"\"\"\n",
          "\n[t]\ns = 2024-02-29T12:00:00Z\n[[t.u]]\n"};
}

}  // namespace cachet::fuzz
