#include "cachet/ops/support/retained_values.h"

#include <utility>

namespace cachet::ops {
namespace {

thread_local RetainedValues* current = nullptr;

}  // namespace

RetainedValues::RetainedValues() { current = this; }

RetainedValues::~RetainedValues() { current = nullptr; }

std::vector<std::shared_ptr<const void>> RetainedValues::take() { return std::exchange(values_, {}); }

void RetainedValues::add(const std::shared_ptr<const void>& value) {
  if (current != nullptr) current->values_.push_back(value);
}

}  // namespace cachet::ops
