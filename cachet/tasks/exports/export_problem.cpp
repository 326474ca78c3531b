#include "cachet/tasks/exports/export_problem.h"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cachet/config/document.h"
#include "cachet/deploy/cannot_convert.h"
#include "cachet/deploy/session_model.h"
#include "cachet/runtime/engine_error.h"

namespace cachet::tasks {
namespace {

using runtime::EngineKind, runtime::Precision;

const char* name_of(EngineKind engine) {
  switch (engine) {
    case EngineKind::openvino:
      return "OpenVINO";
    case EngineKind::onnx:
      return "ONNX";
    case EngineKind::torch:
      break;
  }
  return "LibTorch";
}

// "lra_small (attention.kind = "bigbird", norm.kind = "layer")": what decides whether an engine takes a model.
std::string words_of(const SavedRun& saved) {
  constexpr std::array<std::string_view, 3> kKeys{"model.attention.kind", "model.cache.kind", "model.norm.kind"};
  constexpr size_t kTable = std::string_view("model.").size();
  config::Document recipe = config::Document::from_text(saved.recipe, "the recipe of " + saved.run.string());
  read_recipe(recipe, data::DataRoot::optional);
  std::string words;
  for (const config::Document::Value& value : recipe.resolved())
    for (const std::string_view key : kKeys)
      if (value.key == key) words += (words.empty() ? "" : ", ") + value.key.substr(kTable) + " = " + value.toml;
  return saved.plan.model().name + (words.empty() ? "" : " (" + words + ")");
}

// What else can be tried.
std::string remedy(EngineKind engine, Precision precision) {
  const std::string wider = precision == Precision::float32 ? "" : "--precision f32";
  if (engine == EngineKind::torch) return wider.empty() ? "choose another engine with --engine" : "use " + wider;
  return "use " + (wider.empty() ? "" : wider + " or ") + "--engine torch, which supports every model";
}

}  // namespace

void throw_export_problem(const SavedRun& saved, EngineKind engine, Precision precision) {
  const std::string way_out = "; " + remedy(engine, precision) + "\n";
  try {
    throw;
  } catch (const deploy::CannotConvert& error) {
    throw std::runtime_error(words_of(saved) + " cannot be exported for " + name_of(engine) + way_out + error.what());
  } catch (const runtime::EngineError& error) {
    throw std::runtime_error("the export of " + words_of(saved) + " cannot be run, so it was not saved" + way_out +
                             error.problem());
  } catch (const deploy::ExportNotFinite&) {
    throw std::runtime_error(
        "the export was not saved, because its outputs are NaN or infinite, but the outputs of its model are finite" +
        way_out + "the numbers of the model are too large for " + std::string(to_string(precision)) + " on " +
        name_of(engine));
  }
}

}  // namespace cachet::tasks
