#include "cachet/nn/attention/attention_state.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace cachet::nn {
namespace {

constexpr const char* kBatchRows = "lanes";
constexpr int64_t kMinRoom = 16;

/// Which former row stands in each row from now on.
std::vector<int64_t> numbers_of(const at::Tensor& rows) {
  const at::Tensor numbers = rows.to(at::kCPU, at::kLong).contiguous();
  return {numbers.const_data_ptr<int64_t>(), numbers.const_data_ptr<int64_t>() + numbers.numel()};
}

/// The same of what each group of batch rows has one: as few groups as are of one size and have batch rows of one
/// former group each. Beams of a sentence share what its encoder left.
std::vector<int64_t> rows_of_groups(const std::vector<int64_t>& batch_rows, int64_t batch_rows_in_group) {
  const auto count = static_cast<int64_t>(batch_rows.size());
  const auto group = [&](int64_t batch_row) {
    return batch_rows[static_cast<size_t>(batch_row)] / batch_rows_in_group;
  };
  int64_t size = 0;
  for (int64_t i = 1, first = 0; i <= count; ++i) {
    if (i < count && group(i) == group(first)) continue;
    size = std::gcd(size, i - first);
    first = i;
  }
  std::vector<int64_t> groups;
  for (int64_t i = 0; i < count; i += size) groups.push_back(group(i));
  return groups;
}

/// Whether nobody but these two, of one memory, or the first alone can see a change of it.
bool alone(const at::Tensor& tensor, const at::Tensor& buffer) {
  const size_t own = buffer.defined() ? 2 : 1;
  return !at::GradMode::is_enabled() && !tensor.requires_grad() && tensor.use_count() == 1 &&
         tensor.storage().use_count() == own && (!tensor.is_inference() || c10::InferenceMode::is_enabled());
}

/// The first rows, without a hold on the tensor that has all of them.
at::Tensor first_rows(const at::Tensor& all, int64_t count) { return all.narrow(0, 0, count).detach(); }

}  // namespace

AttentionState::AttentionState(int64_t batch_rows) : batch_rows_(batch_rows) {
  TORCH_CHECK(batch_rows >= 1, "attention_state: a session must have at least one batch row, got ", batch_rows);
}

void AttentionState::Slot::check(const std::string& name, const at::Tensor& value, int64_t batch_rows) const {
  const int64_t first = value.dim() > 0 ? value.size(0) : 0;
  const bool fits = owner == StateOwner::batch_rows ? first == batch_rows
                    : owner == StateOwner::shared   ? first == 1
                                                    : first >= 1 && batch_rows % first == 0;
  const std::string whose =
      owner == StateOwner::batch_rows ? "has an entry for each batch row, so its first dimension must be "
      : owner == StateOwner::shared   ? "has one entry for all batch rows, so its first dimension must be 1"
                                    : "has an entry for each group of batch rows, so its first dimension must divide ";
  TORCH_CHECK(fits, "attention_state: '", name, "' ", whose,
              owner == StateOwner::shared ? "" : std::to_string(batch_rows), ", got sizes ", value.sizes());
}

// A buffer with room for this length from where the tensor begins, with what stood in the last one.
void AttentionState::Slot::make_room(int64_t length) {
  if (buffer.defined() && buffer.size(*growing) - begin >= length) return;
  std::vector<int64_t> sizes = tensor.sizes().vec();
  sizes[static_cast<size_t>(*growing)] = length;
  const at::NoGradGuard no_grad;
  {
    // Outside inference mode, so that a later call that is not in it may write too.
    const c10::InferenceMode normal(false);
    buffer = at::empty(sizes, tensor.options().requires_grad(false));
  }
  begin = 0;
  at::Tensor moved = buffer.narrow(*growing, 0, tensor.size(*growing));
  moved.copy_(tensor);
  tensor = moved;
}

// The last positions of the whole, which stay.
void AttentionState::Slot::hold(const at::Tensor& whole) {
  const int64_t length = whole.size(*growing), dropped = kept ? std::max<int64_t>(0, length - *kept) : 0;
  tensor = whole.narrow(*growing, dropped, length - dropped);
  if (buffer.defined()) begin += dropped;
}

void AttentionState::Slot::leave_buffer() {
  buffer.reset();
  begin = 0;
}

// Row i becomes the former row rows[i]. Where nobody else sees this memory and the rows do not become more, those that
// stay where they are are not copied.
void AttentionState::Slot::take_rows(const std::vector<int64_t>& rows) {
  const auto count = static_cast<int64_t>(rows.size());
  std::vector<int64_t> to, from;
  for (int64_t i = 0; i < count; ++i) {
    if (rows[static_cast<size_t>(i)] == i) continue;
    to.push_back(i);
    from.push_back(rows[static_cast<size_t>(i)]);
  }
  if (to.empty() && count == tensor.size(0)) return;
  const auto index = [&](const std::vector<int64_t>& all) { return at::tensor(all, at::kLong).to(tensor.device()); };
  if (count <= tensor.size(0) && alone(tensor, buffer)) {
    const at::Tensor moved = tensor.index_select(0, index(from));
    tensor = first_rows(tensor, count);
    tensor.index_copy_(0, index(to), moved);
    if (buffer.defined()) buffer = first_rows(buffer, count);
    return;
  }
  const int64_t room = buffer.defined() ? buffer.size(*growing) : 0;
  tensor = tensor.index_select(0, index(rows));
  leave_buffer();
  if (growing && room > tensor.size(*growing)) make_room(room);
}

AttentionState::Slot& AttentionState::slot(const std::string& name) {
  const auto found = slots_.find(name);
  TORCH_CHECK(found != slots_.end(), "attention_state: this state has no slot '", name,
              "': the state was made by another layer or for another use; make it with make_state of this layer");
  return found->second;
}

void AttentionState::declare(const std::string& name, StateOwner owner) {
  Slot fresh;
  fresh.owner = owner;
  slots_[name] = fresh;
}

void AttentionState::declare(const std::string& name, const at::Tensor& start) {
  Slot fresh;
  fresh.check(name, start, batch_rows_);
  fresh.starts_full = true;
  fresh.tensor = start;
  slots_[name] = fresh;
}

void AttentionState::declare_growing(const std::string& name, const at::Tensor& start, int64_t dim) {
  declare(name, start);
  slots_[name].growing = dim;
}

at::Tensor AttentionState::get(const std::string& name) const {
  const auto found = slots_.find(name);
  return found == slots_.end() ? at::Tensor() : found->second.tensor;
}

void AttentionState::set(const std::string& name, const at::Tensor& tensor) {
  Slot& place = slot(name);
  place.check(name, tensor, batch_rows_);
  place.tensor = tensor;
  place.leave_buffer();
}

void AttentionState::detach(const std::string& name) {
  Slot& place = slot(name);
  if (place.tensor.defined()) place.tensor = place.tensor.detach();
}

at::Tensor AttentionState::append(const std::string& name, const at::Tensor& more) {
  Slot& place = slot(name);
  place.check(name, more, batch_rows_);
  const int64_t dim = place.growing.value(), before = place.tensor.size(dim), added = more.size(dim);
  if (at::GradMode::is_enabled()) {
    // The graph of earlier calls reads what they returned, and a buffer that is written again would not let it.
    const at::Tensor whole = at::cat({place.tensor, more}, dim);
    place.leave_buffer();
    place.hold(whole);
    return whole;
  }
  const int64_t room = place.buffer.defined() ? place.buffer.size(dim) - place.begin : 0;
  if (before + added > room) place.make_room(std::max(2 * before + added, kMinRoom));
  place.buffer.narrow(dim, place.begin + before, added).copy_(more);
  const at::Tensor whole = place.buffer.narrow(dim, place.begin, before + added);
  place.hold(whole);
  return whole;
}

int64_t AttentionState::past() const {
  for (const auto& [name, place] : slots_)
    if (place.growing) return place.tensor.size(*place.growing);
  int64_t longest = 0;
  for (const auto& [name, child] : parts_) longest = std::max(longest, child->past());
  return longest;
}

void AttentionState::keep_last(int64_t length) {
  TORCH_CHECK(length >= 0, "attention_state: the number of positions to keep must be at least 0, got ", length);
  for (auto& [name, place] : slots_) {
    if (!place.growing) continue;
    place.kept = length;
    place.hold(place.tensor);
  }
  for (auto& [name, child] : parts_) child->keep_last(length);
}

AttentionState& AttentionState::part(const std::string& name) {
  auto& child = parts_[name];
  if (!child) child = std::make_shared<AttentionState>(batch_rows_);
  return *child;
}

void AttentionState::set_part(const std::string& name, std::shared_ptr<AttentionState> part) {
  TORCH_CHECK(part && part->batch_rows() == batch_rows_,
              "attention_state: a part of the state must have as many batch rows as the whole state, which has ",
              batch_rows_);
  parts_[name] = std::move(part);
}

void AttentionState::reserve(int64_t length) {
  for (auto& [name, place] : slots_)
    if (place.growing) place.make_room(std::max(length, place.tensor.size(*place.growing)));
  for (auto& [name, child] : parts_) child->reserve(length);
}

void AttentionState::fill(int64_t length) {
  for (auto& [name, place] : slots_) {
    if (!place.growing) continue;
    std::vector<int64_t> sizes = place.tensor.sizes().vec();
    int64_t& along = sizes[static_cast<size_t>(*place.growing)];
    along = (place.kept ? std::min(length, *place.kept) : length) - along;
    if (along > 0) append(name, at::zeros(sizes, place.tensor.options().requires_grad(false)));
  }
  for (auto& [name, child] : parts_) child->fill(length);
}

void AttentionState::reorder(const at::Tensor& rows) {
  TORCH_CHECK(rows.dim() == 1 && rows.numel() >= 1,
              "attention_state: rows must be a vector with at least one batch row, got ", rows.sizes());
  const std::vector<int64_t> numbers = numbers_of(rows);
  for (auto& [name, place] : slots_) {
    if (!place.tensor.defined() || place.owner == StateOwner::shared) continue;
    place.take_rows(place.owner == StateOwner::either ? rows_of_groups(numbers, batch_rows_ / place.tensor.size(0))
                                                      : numbers);
  }
  for (auto& [name, child] : parts_) child->reorder(rows);
  batch_rows_ = rows.numel();
}

void AttentionState::replicate(int64_t copies) {
  TORCH_CHECK(copies >= 1, "attention_state: the number of copies of a batch row must be at least 1, got ", copies);
  reorder(at::arange(batch_rows_ * copies, at::kLong).floor_divide(copies));
}

void AttentionState::detach() {
  for (auto& [name, place] : slots_)
    if (place.tensor.defined()) place.tensor = place.tensor.detach();
  for (auto& [name, child] : parts_) child->detach();
}

std::vector<at::Tensor*> AttentionState::tensors() {
  std::vector<at::Tensor*> all;
  for (auto& [name, slot] : slots_) {
    slot.leave_buffer();
    all.push_back(&slot.tensor);
  }
  for (auto& [name, child] : parts_)
    for (at::Tensor* tensor : child->tensors()) all.push_back(tensor);
  return all;
}

std::shared_ptr<AttentionState> AttentionState::clone() const {
  auto copy = std::make_shared<AttentionState>(batch_rows_);
  copy->slots_ = slots_;
  // The tensors are never written where they are; a buffer is, after its tensor.
  for (auto& [name, place] : copy->slots_) place.leave_buffer();
  for (const auto& [name, child] : parts_) copy->parts_[name] = child->clone();
  return copy;
}

void AttentionState::collect(const std::string& prefix, std::map<std::string, at::Tensor>& all) const {
  for (const auto& [name, place] : slots_)
    if (place.tensor.defined()) all.emplace(prefix + name, place.tensor);
  for (const auto& [name, child] : parts_) child->collect(prefix + name + "/", all);
}

std::map<std::string, at::Tensor> AttentionState::named_tensors() const {
  std::map<std::string, at::Tensor> all{{kBatchRows, at::scalar_tensor(batch_rows_, at::TensorOptions(at::kLong))}};
  collect("", all);
  return all;
}

void AttentionState::check_load(const std::map<std::string, at::Tensor>& tensors, const std::string& prefix,
                                int64_t batch_rows, size_t& found) const {
  for (const auto& [name, place] : slots_) {
    const auto saved = tensors.find(prefix + name);
    if (saved == tensors.end()) {
      TORCH_CHECK(!place.starts_full, "attention_state: the saved state has no '", prefix, name,
                  "'; the saved state belongs to another layer, or to a session for another use");
      continue;
    }
    place.check(prefix + name, saved->second, batch_rows);
    ++found;
  }
  for (const auto& [name, child] : parts_) child->check_load(tensors, prefix + name + "/", batch_rows, found);
}

void AttentionState::take(const std::map<std::string, at::Tensor>& tensors, const std::string& prefix,
                          int64_t batch_rows) {
  batch_rows_ = batch_rows;
  for (auto& [name, place] : slots_) {
    const auto saved = tensors.find(prefix + name);
    place.leave_buffer();
    place.tensor = saved == tensors.end() ? at::Tensor() : saved->second;
  }
  for (auto& [name, child] : parts_) child->take(tensors, prefix + name + "/", batch_rows);
}

void AttentionState::load(const std::map<std::string, at::Tensor>& tensors) {
  const auto saved = tensors.find(kBatchRows);
  TORCH_CHECK(saved != tensors.end() && saved->second.numel() == 1,
              "attention_state: the saved state must have the number of its batch rows, but has none");
  const auto batch_rows = saved->second.item<int64_t>();
  TORCH_CHECK(batch_rows >= 1,
              "attention_state: a session must have at least one batch row, but the number in the saved state is ",
              batch_rows);
  size_t found = 1;
  check_load(tensors, "", batch_rows, found);
  TORCH_CHECK(found == tensors.size(), "attention_state: ", tensors.size() - found,
              " of the saved tensors have no slot in this state; these tensors belong to another layer, or to a "
              "session for another use");
  take(tensors, "", batch_rows);
}

}  // namespace cachet::nn
