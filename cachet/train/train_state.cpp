#include "cachet/train/train_state.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/parse_json.h"

namespace cachet::train {
namespace {

using Json = nlohmann::ordered_json;

Json running_to_json(const std::vector<MetricSum>& running) {
  Json list = Json::array();
  for (const MetricSum& sum : running) list.push_back({{"name", sum.name}, {"total", sum.total}, {"count", sum.count}});
  return list;
}

std::vector<MetricSum> running_from_json(const Json& list) {
  std::vector<MetricSum> running;
  for (const Json& sum : list) running.push_back({sum.at("name"), sum.at("total"), sum.at("count")});
  return running;
}

TrainState parse_train_state(const Json& json) {
  TrainState state;
  if (json.at("schema") != 1) throw std::runtime_error("its schema is not 1: it was written by a newer cachet");
  json.at("step").get_to(state.step);
  json.at("epoch").get_to(state.epoch);
  json.at("batch").get_to(state.batch);
  json.at("micro_batch").get_to(state.micro_batch);
  json.at("samples").get_to(state.samples);
  json.at("evaluated").get_to(state.evaluated);
  json.at("seconds").get_to(state.seconds);
  if (!json.at("best").is_null()) state.best = json.at("best").get<double>();
  json.at("best_step").get_to(state.best_step);
  json.at("evaluations_since_best").get_to(state.evaluations_since_best);
  state.running = running_from_json(json.at("running"));
  json.at("running_steps").get_to(state.running_steps);
  json.at("running_norm").get_to(state.running_norm);
  state.penalty_in_loss = json.value("penalty_in_loss", true);  // as it was where there is no such field
  json.at("seed").get_to(state.seed);
  json.at("config_hash").get_to(state.config_hash);
  json.at("world_size").get_to(state.world_size);
  json.at("threads").get_to(state.threads);
  json.at("cachet_version").get_to(state.cachet_version);
  json.at("torch_version").get_to(state.torch_version);
  return state;
}

}  // namespace

std::string to_json(const TrainState& state) {
  const Json json{{"schema", 1},
                  {"step", state.step},
                  {"epoch", state.epoch},
                  {"batch", state.batch},
                  {"micro_batch", state.micro_batch},
                  {"samples", state.samples},
                  {"evaluated", state.evaluated},
                  {"seconds", state.seconds},
                  {"best", state.best ? Json(*state.best) : Json(nullptr)},
                  {"best_step", state.best_step},
                  {"evaluations_since_best", state.evaluations_since_best},
                  {"running", running_to_json(state.running)},
                  {"running_steps", state.running_steps},
                  {"running_norm", state.running_norm},
                  {"penalty_in_loss", state.penalty_in_loss},
                  {"seed", state.seed},
                  {"config_hash", state.config_hash},
                  {"world_size", state.world_size},
                  {"threads", state.threads},
                  {"cachet_version", state.cachet_version},
                  {"torch_version", state.torch_version}};
  return json.dump(2) + "\n";
}

TrainState train_state_from_json(const std::string& text) {
  try {
    return parse_train_state(io::parse_json<Json>(text));
  } catch (const Json::exception&) {
    throw std::runtime_error("it is not the JSON that a training state has");
  }
}

}  // namespace cachet::train
