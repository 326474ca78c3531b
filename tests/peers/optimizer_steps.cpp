// A parameter after steps of an optimizer: {"start": a tensor's name, "gradients": of a tensor whose first dimension is
// the step, "rates": [a step], the keys of OptimizerOptions}.
#include "cachet/train/optimizer/optimizer.h"
#include "tests/peers/tensor_cases.h"

namespace cachet::train {
namespace {

at::Tensor updated(const nlohmann::json& one, const io::TensorMap& tensors) {
  OptimizerOptions options;
  options.kind = one.at("kind") == "sgd" ? OptimizerOptions::Kind::sgd : OptimizerOptions::Kind::adamw;
  options.weight_decay = one.value("weight_decay", 0.0);
  options.beta1 = one.value("beta1", options.beta1);
  options.beta2 = one.value("beta2", options.beta2);
  options.epsilon = one.value("epsilon", options.epsilon);
  options.momentum = one.value("momentum", options.momentum);
  options.nesterov = one.value("nesterov", options.nesterov);
  at::Tensor parameter = tensors.at(one.at("start").get<std::string>()).clone().requires_grad_();
  const at::Tensor gradients = tensors.at(one.at("gradients").get<std::string>());
  ParameterGroups groups;
  groups.decayed.push_back({"weight", parameter});
  const auto optimizer = make_optimizer(options, groups);
  const auto rates = one.at("rates").get<std::vector<double>>();
  for (size_t i = 0; i < rates.size(); ++i) {
    parameter.mutable_grad() = gradients[static_cast<int64_t>(i)].clone();
    optimizer->step({.learning_rate = rates[i]});
  }
  return parameter.detach();
}

}  // namespace
}  // namespace cachet::train

int main(int argc, char** argv) { return cachet::peers::run_cases(argc, argv, cachet::train::updated); }
