#include "cachet/ops/support/retained_values.h"

#include <utility>

namespace cachet::ops {
namespace {

thread_local RetainedValues* current = nullptr;

}  // namespace

RetainedValues::RetainedValues(std::vector<Value> earlier) : earlier_(std::move(earlier)) { current = this; }

RetainedValues::~RetainedValues() { current = nullptr; }

std::vector<RetainedValues::Value> RetainedValues::take() { return std::exchange(values_, {}); }

void RetainedValues::add(const void* owner, const std::shared_ptr<const void>& value) {
  if (current != nullptr) current->values_.push_back({owner, value});
}

std::shared_ptr<const void> RetainedValues::find(const void* owner, const std::function<bool(const void*)>& serves) {
  if (current == nullptr) return nullptr;
  for (const Value& one : current->earlier_)
    if (one.owner == owner && serves(one.value.get())) return one.value;
  return nullptr;
}

}  // namespace cachet::ops
