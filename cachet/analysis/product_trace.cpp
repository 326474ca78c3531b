#include "cachet/analysis/product_trace.h"

#include <ATen/record_function.h>

#include <unordered_map>
#include <utility>

#include "cachet/analysis/operator_rules.h"
#include "cachet/nn/attention/attention_function.h"

namespace cachet::analysis {
namespace {

// One operator call, from its start to its end.
struct Call : at::ObserverContext {
  const OperatorRule* rule = nullptr;
  Operands operands;
};

Operands operands_of(c10::ArrayRef<const c10::IValue> values) {
  Operands operands;
  for (const c10::IValue& value : values) {
    if (value.isTensor() || value.isNone())
      operands.tensors.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) operands.tensors.push_back(tensor);
    if (value.isInt()) operands.numbers.push_back(value.toInt());
  }
  return operands;
}

}  // namespace

struct ProductTrace::Recorder {
  explicit Recorder(torch::nn::Module& root);
  ~Recorder();

  static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function);
  static void end(const at::RecordFunction& function, at::ObserverContext* context);
  static inline thread_local Recorder* current = nullptr;

  void note(const Call& call, const at::Tensor& output);
  const std::string* owner(const at::Tensor& tensor) const;

  // By storage, which views share.
  std::unordered_map<const c10::StorageImpl*, std::string> owners;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, nn::AttentionFunction*>> functions;
  std::string attention_path, last_path;
  int64_t rules_open = 0;  // how deep we are inside operators that have a rule
  std::vector<OperatorUse> uses;
  at::CallbackHandle handle{};
};

ProductTrace::Recorder::Recorder(torch::nn::Module& root) {
  TORCH_CHECK(current == nullptr, "product_trace: there is one on this thread already");
  for (const auto& item : root.named_modules("", /*include_self=*/true)) {
    const auto own = [&](const torch::Tensor& tensor) {
      if (tensor.defined()) owners.emplace(tensor.storage().unsafeGetStorageImpl(), item.key());
    };
    for (const auto& parameter : item.value()->parameters(/*recurse=*/false)) own(parameter);
    for (const auto& buffer : item.value()->buffers(/*recurse=*/false)) own(buffer);
    // Attention functions alone: other modules may compute what they tell, which is none of our business.
    if (auto* function = dynamic_cast<nn::AttentionFunction*>(item.value().get())) {
      function->listen(item.key(),
                       [this](const std::string& path, nn::Signal, const at::Tensor&) { attention_path = path; });
      functions.emplace_back(item.value(), function);
    }
  }
  current = this;
  handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(start, end).needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION}));
}

ProductTrace::Recorder::~Recorder() {
  at::removeCallback(handle);
  for (const auto& [module, function] : functions) function->stop_listening();
  current = nullptr;
}

const std::string* ProductTrace::Recorder::owner(const at::Tensor& tensor) const {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  const auto found = owners.find(tensor.storage().unsafeGetStorageImpl());
  return found == owners.end() ? nullptr : &found->second;
}

std::unique_ptr<at::ObserverContext> ProductTrace::Recorder::start(const at::RecordFunction& function) {
  Recorder& self = *current;
  if (self.rules_open > 0) return nullptr;
  auto call = std::make_unique<Call>();
  call->rule = find_operator_rule(function.name());
  call->operands = operands_of(function.inputs());
  if (call->rule) ++self.rules_open;
  return call;
}

void ProductTrace::Recorder::end(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) return;  // inside another one
  Recorder& self = *current;
  const Call& call = *static_cast<Call*>(context);
  if (call.rule) --self.rules_open;
  const auto& outputs = function.outputs();
  if (!outputs.empty() && outputs.front().isTensor()) self.note(call, outputs.front().toTensor());
}

void ProductTrace::Recorder::note(const Call& call, const at::Tensor& output) {
  for (const at::Tensor& tensor : call.operands.tensors)
    if (const std::string* path = owner(tensor)) uses.push_back({last_path = *path, output.sizes().vec(), {}});
  if (!call.rule) return;
  for (const Product& product : call.rule->products(call.operands, output)) {
    const std::string* path = nullptr;
    for (const at::Tensor& weight : product.weights)
      if (!path) path = owner(weight);
    const bool attention = product.of_activations && !path;
    Products macs;
    (attention ? macs.attention : macs.linear_convolution) = product.macs;
    const std::string& user = attention || product.of_function ? attention_path : path ? *path : last_path;
    uses.push_back({user, output.sizes().vec(), macs});
  }
}

ProductTrace::ProductTrace(torch::nn::Module& root) : recorder_(std::make_unique<Recorder>(root)) {}
ProductTrace::~ProductTrace() = default;
const std::vector<OperatorUse>& ProductTrace::uses() const { return recorder_->uses; }

}  // namespace cachet::analysis
