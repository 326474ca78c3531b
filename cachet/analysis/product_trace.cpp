#include "cachet/analysis/product_trace.h"

#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "cachet/analysis/operator_calls.h"
#include "cachet/nn/attention/attention_function.h"

namespace cachet::analysis {

struct ProductTrace::Recorder {
  explicit Recorder(torch::nn::Module& root);
  ~Recorder();

  void note(const OperatorCall& call);
  const std::string* owner(const at::Tensor& tensor) const;

  // By storage, which views share.
  std::unordered_map<const c10::StorageImpl*, std::string> owners;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, nn::Observable::Heard>> heard_before;
  std::string attention_path, last_path;
  std::vector<OperatorUse> uses;
  std::optional<OperatorCalls> calls;
};

ProductTrace::Recorder::Recorder(torch::nn::Module& root) {
  for (const auto& item : root.named_modules("", /*include_self=*/true)) {
    const auto own = [&](const torch::Tensor& tensor) {
      if (tensor.defined()) owners.emplace(tensor.storage().unsafeGetStorageImpl(), item.key());
    };
    for (const auto& parameter : item.value()->parameters(/*recurse=*/false)) own(parameter);
    for (const auto& buffer : item.value()->buffers(/*recurse=*/false)) own(buffer);
    // Attention functions alone: other modules may compute what they tell, which is none of our business.
    if (auto* function = dynamic_cast<nn::AttentionFunction*>(item.value().get())) {
      const auto hear = [this](const std::string& path, nn::Signal, const at::Tensor&) { attention_path = path; };
      heard_before.emplace_back(item.value(), function->listen({item.key(), hear}));
    }
  }
  calls.emplace(NestedCalls::outside_of_products, [this](const OperatorCall& call) { note(call); });
}

ProductTrace::Recorder::~Recorder() {
  calls.reset();
  // From the last to the first: of a module that is there twice, the first has what was heard before.
  for (auto& [module, heard] : std::views::reverse(heard_before))
    dynamic_cast<nn::Observable&>(*module).listen(std::move(heard));
}

const std::string* ProductTrace::Recorder::owner(const at::Tensor& tensor) const {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  const auto found = owners.find(tensor.storage().unsafeGetStorageImpl());
  return found == owners.end() ? nullptr : &found->second;
}

void ProductTrace::Recorder::note(const OperatorCall& call) {
  if (call.outputs.empty()) return;
  const at::Tensor& output = call.outputs.front();
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
