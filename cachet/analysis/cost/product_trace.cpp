#include "cachet/analysis/cost/product_trace.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cachet/analysis/cost/operator_calls.h"
#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_function.h"

namespace cachet::analysis {
namespace {

// Whether a module is the one at `outer`, or inside it.
bool lies_in(const std::string& path, const std::string& outer) {
  return outer.empty() || path == outer || path.starts_with(outer + '.');
}

}  // namespace

struct ProductTrace::Recorder {
  explicit Recorder(torch::nn::Module& root);
  ~Recorder();

  struct Owner {
    std::string path;
    std::string attention;   // path of the innermost attention that has it; empty outside of attention
    bool attends;            // what is multiplied with it is a part of attention
    bool is_weight;          // a parameter, no buffer
    bool is_shared = false;  // with another module: a call may be on behalf of either
  };

  void note(const OperatorCall& call);
  const Owner* owner(const at::Tensor& tensor) const;
  /// Whether an operator reads nothing but weights, and buffers of their module: it gives another form of the weights
  /// (the rows of a table that an index names, two weights joined), which is not an output of the module.
  bool reads_weights_alone(const std::vector<at::Tensor>& operands) const;

  // By storage, which views share.
  std::unordered_map<const c10::StorageImpl*, Owner> owners;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, nn::Observable::Subscription>> subscriptions_before;
  std::string attention_path, last_path;
  std::unordered_set<std::string> had_their_turn;  // paths that were the last one once
  std::vector<OperatorUse> uses;
  std::optional<OperatorCalls> calls;
};

ProductTrace::Recorder::Recorder(torch::nn::Module& root) {
  std::vector<std::string> functions, attentions;  // paths, outer ones first
  for (const auto& item : root.named_modules("", /*include_self=*/true)) {
    const bool is_attention = dynamic_cast<nn::Attention*>(item.value().get()) != nullptr;
    if (is_attention) attentions.push_back(item.key());
    const auto around = std::find_if(attentions.rbegin(), attentions.rend(),
                                     [&](const std::string& path) { return lies_in(item.key(), path); });
    const std::string attention = around == attentions.rend() ? "" : *around;
    const auto own = [&](const torch::Tensor& tensor, bool attends, bool is_weight) {
      if (!tensor.defined()) return;
      const auto [known, is_new] =
          owners.emplace(tensor.storage().unsafeGetStorageImpl(), Owner{item.key(), attention, attends, is_weight});
      known->second.is_shared |= !is_new;
      // A tensor that several attentions share does not identify the attention that runs.
      if (!is_new && known->second.attention != attention) known->second.attention.clear();
    };
    auto* function = dynamic_cast<nn::AttentionFunction*>(item.value().get());
    if (function) functions.push_back(item.key());
    const bool in_function =
        std::ranges::any_of(functions, [&](const auto& path) { return lies_in(item.key(), path); });
    const bool has_features = in_function || is_attention;
    for (const auto& parameter : item.value()->parameters(/*recurse=*/false))
      own(parameter, in_function, /*is_weight=*/true);
    for (const auto& buffer : item.value()->buffers(/*recurse=*/false)) own(buffer, has_features, /*is_weight=*/false);
    // Attention functions alone: signals of other modules may cost products, which do not count here.
    if (function) {
      const auto hear = [this](const std::string& path, nn::Signal, const at::Tensor&) { attention_path = path; };
      subscriptions_before.emplace_back(item.value(), function->listen({item.key(), hear}));
    }
  }
  calls.emplace(NestedCalls::outside_of_products, [this](const OperatorCall& call) { note(call); });
}

ProductTrace::Recorder::~Recorder() {
  calls.reset();
  // From the last to the first: of a module that is there twice, the first has what was heard before.
  for (auto& [module, heard] : std::views::reverse(subscriptions_before))
    dynamic_cast<nn::Observable&>(*module).listen(std::move(heard));
}

const ProductTrace::Recorder::Owner* ProductTrace::Recorder::owner(const at::Tensor& tensor) const {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  const auto found = owners.find(tensor.storage().unsafeGetStorageImpl());
  return found == owners.end() ? nullptr : &found->second;
}

bool ProductTrace::Recorder::reads_weights_alone(const std::vector<at::Tensor>& operands) const {
  std::unordered_set<std::string_view> paths;
  bool has_weight = false, has_buffer = false;
  for (const at::Tensor& tensor : operands) {
    if (!tensor.defined()) continue;
    const Owner* found = owner(tensor);
    if (!found) return false;
    paths.insert(found->path);
    (found->is_weight ? has_weight : has_buffer) = true;
  }
  return has_weight && (!has_buffer || paths.size() == 1);
}

void ProductTrace::Recorder::note(const OperatorCall& call) {
  if (call.outputs.empty()) return;
  const at::Tensor& output = call.outputs.front();
  std::vector<int64_t> shape = output.sizes().vec();
  if (!call.rule && reads_weights_alone(call.operands.tensors)) shape.clear();
  // What is computed with a shared tensor after its owner's turn may be what the other module gives.
  const auto shape_for = [&](const Owner* found) {
    return found && found->is_shared && had_their_turn.contains(found->path) ? std::vector<int64_t>() : shape;
  };
  for (const at::Tensor& tensor : call.operands.tensors)
    if (const Owner* found = owner(tensor)) {
      if (found->path != last_path) had_their_turn.insert(std::exchange(last_path, found->path));
      uses.push_back({last_path, shape_for(found), {}});
      // Until a function of this attention is heard, products of activations are its own.
      if (!found->attention.empty()) attention_path = found->attention;
    }
  if (!call.rule) return;
  for (const Product& product : call.rule->products(call.operands, output)) {
    const Owner* found = nullptr;
    for (const at::Tensor& weight : product.weights)
      if (!found) found = owner(weight);
    const bool attention = product.of_function || (found ? found->attends : product.of_activations);
    Products macs;
    (attention ? macs.attention : macs.linear_convolution) = product.macs;
    const std::string& user = found && !product.of_function ? found->path : attention ? attention_path : last_path;
    uses.push_back({user, shape_for(found), macs});
  }
}

ProductTrace::ProductTrace(torch::nn::Module& root) : recorder_(std::make_unique<Recorder>(root)) {}
ProductTrace::~ProductTrace() = default;
const std::vector<OperatorUse>& ProductTrace::uses() const { return recorder_->uses; }

}  // namespace cachet::analysis
