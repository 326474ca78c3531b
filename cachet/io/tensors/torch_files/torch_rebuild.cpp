#include "cachet/io/tensors/torch_files/torch_rebuild.h"

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

using Kind = TorchGlobal::Kind;
using Items = std::vector<PickleTree::Ref>;

const Items& arguments_of(const PickleTree& tree, PickleTree::Ref ref, size_t least, size_t most, const char* what) {
  const auto* tuple = tree.as<PickleTree::Sequence>(ref);
  if (tuple == nullptr || tuple->items.size() < least || tuple->items.size() > most)
    throw Error(std::string("a ") + what + " does not have the form that torch.save writes");
  return tuple->items;
}

uint64_t natural(const PickleTree& tree, PickleTree::Ref ref, const char* what) {
  const auto* number = tree.as<int64_t>(ref);
  if (number == nullptr) throw Error(std::string(what) + " must be a 64-bit integer");
  if (*number < 0) throw Error(std::string(what) + " is negative");
  return static_cast<uint64_t>(*number);
}

std::vector<int64_t> naturals(const PickleTree& tree, PickleTree::Ref ref, const char* what, size_t most) {
  const auto* list = tree.as<PickleTree::Sequence>(ref);
  if (list == nullptr) throw Error(std::string(what) + " must be a tuple");
  if (list->items.size() > most)
    throw Error("a tensor has " + std::to_string(list->items.size()) + " dimensions; the maximum is " +
                std::to_string(most));
  std::vector<int64_t> numbers;
  for (const PickleTree::Ref item : list->items) numbers.push_back(static_cast<int64_t>(natural(tree, item, what)));
  return numbers;
}

/// The product of the shape, and one element past the last that the strides reach from the offset; false on overflow.
bool extent_of(const PickledTensor& tensor, uint64_t& elements, uint64_t& end) {
  elements = 1;
  for (const int64_t size : tensor.shape)
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(size), &elements)) return elements = 0, false;
  end = tensor.offset;
  if (elements == 0) return true;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(tensor.shape[i]) - 1, static_cast<uint64_t>(tensor.strides[i]),
                               &reach) ||
        __builtin_add_overflow(end, reach, &end))
      return false;
  }
  return !__builtin_add_overflow(end, uint64_t{1}, &end);
}

void check_extent(const PickledTensor& tensor, const PickledStorage& storage) {
  if (tensor.shape.size() != tensor.strides.size()) throw Error("a tensor must have one stride for each dimension");
  const uint64_t count = storage.bytes / type_bytes(tensor.type);
  uint64_t elements = 0, end = 0;
  if (!extent_of(tensor, elements, end) || end > count)
    throw Error("a tensor reaches beyond its storage " + in_quotes(storage.key) + " of " + std::to_string(count) +
                " elements");
  if (elements > count)
    throw Error("a tensor of " + std::to_string(elements) +
                " elements repeats the elements of a storage that has only " + std::to_string(count) +
                "; in Python, save a .contiguous() copy");
}

}  // namespace

std::optional<uint32_t> unread_storage(const PickleTree& tree, PickleTree::Ref arguments) {
  const auto* tuple = tree.as<PickleTree::Sequence>(arguments);
  const auto* type =
      tuple != nullptr && tuple->items.size() > 1 ? tree.as<PickleTree::Global>(tuple->items[1]) : nullptr;
  if (type == nullptr || tree.globals[type->index].kind != Kind::unsupported_storage) return std::nullopt;
  return type->index;
}

std::optional<uint32_t> unread_part(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments) {
  if (function.kind != Kind::rebuild_tensor && function.kind != Kind::rebuild_parameter) return std::nullopt;
  const auto* tuple = tree.as<PickleTree::Sequence>(arguments);
  if (tuple == nullptr || tuple->items.empty()) return std::nullopt;
  if (const auto* object = tree.as<PickleTree::Object>(tuple->items[0])) return object->index;
  const bool typed = function.kind == Kind::rebuild_tensor && function.name.ends_with("_v3");
  const auto* type = typed && tuple->items.size() > 6 ? tree.as<PickleTree::Global>(tuple->items[6]) : nullptr;
  if (type == nullptr || tree.globals[type->index].kind != Kind::other) return std::nullopt;
  return type->index;
}

PickledStorage rebuild_storage(const PickleTree& tree, PickleTree::Ref arguments, const StorageBytes& storage_bytes) {
  const Items& items = arguments_of(tree, arguments, 5, 5, "storage");
  const auto* word = tree.as<std::string_view>(items[0]);
  const auto* type = tree.as<PickleTree::Global>(items[1]);
  const auto* key = tree.as<std::string_view>(items[2]);
  if (word == nullptr || *word != "storage" || type == nullptr || key == nullptr)
    throw Error("a storage does not have the form that torch.save writes");
  const TorchGlobal& global = tree.globals[type->index];
  if (global.kind != Kind::storage) throw Error(in_quotes(global.name) + " is not a type of storage");
  PickledStorage storage{std::string(*key), global.element, 0};
  const uint64_t count = natural(tree, items[4], "the size of a storage");
  const uint64_t record = storage_bytes(storage.key);
  if (__builtin_mul_overflow(count, type_bytes(global.element), &storage.bytes) || storage.bytes != record)
    throw Error("storage " + in_quotes(storage.key) + " should have " + std::to_string(count) + " elements of " +
                std::to_string(type_bytes(global.element)) + " bytes, but its record has " + std::to_string(record) +
                " bytes");
  return storage;
}

PickledTensor rebuild_tensor(const PickleTree& tree, const TorchGlobal& function, PickleTree::Ref arguments,
                             size_t most_rank) {
  const bool typed = function.name.ends_with("_v3");
  const Items& items = arguments_of(tree, arguments, typed ? 7 : 6, typed ? 8 : 7, "tensor");
  const auto* storage = tree.as<PickleTree::Storage>(items[0]);
  if (storage == nullptr) throw Error("a tensor has no storage");
  PickledTensor tensor;
  tensor.storage = storage->index;
  tensor.type = tree.storages[tensor.storage].type;
  if (typed) {
    const auto* type = tree.as<PickleTree::Global>(items[6]);
    if (type == nullptr || tree.globals[type->index].kind != Kind::element_type)
      throw Error("a tensor has an element type that Cachet does not support");
    tensor.type = tree.globals[type->index].element;
  }
  if (items.size() == (typed ? 8U : 7U)) {  // "conj", "neg": the numbers are not what they seem
    const auto* metadata = tree.as<PickleTree::Dict>(items.back());
    if (metadata == nullptr || !metadata->items.empty())
      throw Error("a tensor is marked as conjugate or negated, which is not supported");
  }
  tensor.offset = natural(tree, items[1], "the offset of a tensor");
  tensor.shape = naturals(tree, items[2], "the sizes of a tensor", most_rank);
  tensor.strides = naturals(tree, items[3], "the strides of a tensor", most_rank);
  check_extent(tensor, tree.storages[tensor.storage]);
  return tensor;
}

}  // namespace cachet::io
