#include "tests/tasks/keys/model_family.h"

#include <algorithm>
#include <utility>

#include "cachet/models/registry.h"
#include "tests/tasks/keys/key_recipes.h"

namespace cachet::test {

std::optional<KeyFamily> family_for(const std::string& model, const std::vector<KeyFamily>& families) {
  using models::Capability;
  const auto family_of = [&](const std::string& name) {
    return *std::ranges::find_if(families, [&](const KeyFamily& family) { return family.name.starts_with(name); });
  };
  const auto like = [&](const char* family, std::string recipe) {
    KeyFamily made = family_of(family);
    made.recipe = std::move(recipe);
    return made;
  };
  const Capability ability = models::abilities_of(model).front();
  if (ability == Capability::object_detector) return like("mask_rcnn", detector_recipe(model));
  if (ability == Capability::image_classifier) {
    if (model.starts_with("vit_") || model.starts_with("deit_")) return like("vit", vit_recipe(model));
    if (model.starts_with("pvt_")) return like("pvt", pvt_recipe(model));
    if (model.starts_with("swin_")) return like("swin", swin_recipe(model));
    if (model.starts_with("t2t_")) return like("t2t_performer", t2t_recipe(model));
  }
  if (ability == Capability::language_model) return like("transformer_xl", corpus_recipe("name = \"" + model + "\"\n"));
  if (ability == Capability::translation_model) {
    KeyFamily made = family_of("translation");
    const std::string usual = "transformer_translation_small";
    made.recipe.replace(made.recipe.find(usual), usual.size(), model);
    return made;
  }
  if (ability == Capability::sequence_classifier && model == "lra_matching")
    return like("matching", sequence_recipe("kind = \"matching\"\nroot = \"FOLDER\"\n", model));
  if (ability == Capability::sequence_classifier && model.starts_with("lra_"))
    return like("listops", sequence_recipe("kind = \"listops\"\nroot = \"FOLDER\"\n", model));
  return std::nullopt;
}

}  // namespace cachet::test
