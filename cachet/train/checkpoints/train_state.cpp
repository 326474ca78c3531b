#include "cachet/train/checkpoints/train_state.h"

#include <nlohmann/json.hpp>

#include "cachet/io/json/json_fields.h"
#include "cachet/train/options.h"

namespace cachet::train {
namespace {

using Json = nlohmann::ordered_json;

Json running_to_json(const std::vector<MetricSum>& running) {
  Json list = Json::array();
  for (const MetricSum& sum : running) list.push_back({{"name", sum.name}, {"total", sum.total}, {"count", sum.count}});
  return list;
}

TrainState parse_train_state(const io::JsonFields& json) {
  json.schema(1);
  TrainState state;
  state.step = json.count("step");
  state.epoch = json.count("epoch");
  state.batch = json.count("batch");
  // A checkpoint lies between steps.
  if (json.count("micro_batch") != 0) json.fail("'micro_batch' is not 0");
  state.samples = json.count("samples");
  state.evaluated = json.flag("evaluated");
  state.seconds = json.number("seconds");
  if (state.seconds < 0) json.fail("'seconds' is below 0");
  if (!json.is_null("best")) state.best = json.number("best");
  state.best_step = json.count("best_step");
  state.evaluations_since_best = json.count("evaluations_since_best");
  state.for_evaluation = json.flag("for_evaluation", false);
  for (const io::JsonFields& sum : json.objects("running"))
    state.running.push_back({sum.text("name"), sum.number("total"), sum.number("count")});
  state.running_steps = json.count("running_steps");
  state.running_norm = json.number("running_norm");
  if (json.has("running_seconds")) state.running_seconds = json.number("running_seconds");
  if (state.running_seconds < 0) json.fail("'running_seconds' is below 0");
  state.penalty_in_loss = json.flag("penalty_in_loss", true);  // as it was where there is no such field
  state.seed = json.unsigned_integer("seed");
  state.config_hash = json.text("config_hash");
  state.world_size = json.integer("world_size", 1, io::JsonFields::kMaxCount);
  if (json.has("parts")) state.parts = json.count("parts");
  if (state.parts % state.world_size != 0) json.fail("'parts' is not a multiple of 'world_size'");
  state.threads = json.integer("threads", 0, kMaxThreads);
  state.cachet_version = json.text("cachet_version");
  state.torch_version = json.text("torch_version");
  if (json.has("tensors")) {
    const io::JsonFields tensors = json.object("tensors");
    if (tensors.keys().empty()) json.fail("'tensors' names no file");
    for (const std::string& file : tensors.keys()) state.tensors[file] = tensors.count(file);
  }
  return state;
}

}  // namespace

std::string to_json(const TrainState& state) {
  Json json{{"schema", 1},
            {"step", state.step},
            {"epoch", state.epoch},
            {"batch", state.batch},
            {"micro_batch", 0},
            {"samples", state.samples},
            {"evaluated", state.evaluated},
            {"seconds", state.seconds},
            {"best", state.best ? Json(*state.best) : Json(nullptr)},
            {"best_step", state.best_step},
            {"evaluations_since_best", state.evaluations_since_best},
            {"for_evaluation", state.for_evaluation},
            {"running", running_to_json(state.running)},
            {"running_steps", state.running_steps},
            {"running_norm", state.running_norm},
            {"running_seconds", state.running_seconds},
            {"penalty_in_loss", state.penalty_in_loss},
            {"seed", state.seed},
            {"config_hash", state.config_hash},
            {"world_size", state.world_size},
            {"parts", state.parts},
            {"threads", state.threads},
            {"cachet_version", state.cachet_version},
            {"torch_version", state.torch_version}};
  if (!state.tensors.empty()) json["tensors"] = state.tensors;
  return json.dump(2) + "\n";
}

TrainState train_state_from_json(const std::string& text, const std::string& name) {
  return parse_train_state(io::JsonFields(text, name));
}

}  // namespace cachet::train
