#include "cachet/io/tensors/torch_files/torch_unpickler.h"

#include <algorithm>
#include <bit>
#include <map>

#include "cachet/io/error.h"
#include "cachet/io/tensors/torch_files/pickle_cursor.h"
#include "cachet/io/tensors/torch_files/pickle_opcodes.h"
#include "cachet/io/tensors/torch_files/pickle_stack.h"
#include "cachet/io/tensors/torch_files/torch_rebuild.h"

namespace cachet::io {
namespace {

using Kind = TorchGlobal::Kind;
using Op = PickleOpcode;
using Tree = PickleTree;
using Ref = PickleTree::Ref;

class Unpickler {
 public:
  Unpickler(std::vector<std::byte> bytes, const std::string& name, const StorageBytes& storage_bytes,
            const PickleLimits& limits)
      : cursor_(bytes, name),
        stack_(cursor_, limits.pushes, limits.values),
        storage_bytes_(storage_bytes),
        limits_(limits) {
    tree_.bytes = std::move(bytes);  // keeps its address in memory
  }

  PickleTree read() {
    if (cursor_.at_end() || next() != Op::kProtocol) fail("must be a pickle with protocol 2 or newer");
    const int protocol = cursor_.number<uint8_t>("its protocol");
    if (protocol < 2 || protocol > 5)
      fail("the protocol of the pickle must be 2 to 5, not " + std::to_string(protocol));
    while (step(next())) {
    }
    if (!stack_.is_settled()) fail("the stack must have a single value at the end of the pickle");
    if (!cursor_.at_end()) fail("has bytes after the end of the pickle");
    tree_.root = stack_.top();
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { cursor_.fail(message); }

  Op next() { return static_cast<Op>(cursor_.number<uint8_t>("the program, which has no STOP opcode")); }

  bool step(Op op) {
    if (op == Op::kStop) return false;
    if (!take_constant(op) && !take_text(op) && !take_memo(op) && !take_container(op) && !take_object(op))
      fail("has the opcode " + std::to_string(static_cast<int>(op)) + ", which plain data do not need");
    return true;
  }

  bool take_constant(Op op) {
    switch (op) {
      case Op::kFrame:
        cursor_.number<uint64_t>("a frame");
        return true;
      case Op::kNone:
        return make(Tree::None{});
      case Op::kNewTrue:
        return make(true);
      case Op::kNewFalse:
        return make(false);
      case Op::kBinInt:
        return make(int64_t{cursor_.number<int32_t>("a number")});
      case Op::kBinInt1:
        return make(int64_t{cursor_.number<uint8_t>("a number")});
      case Op::kBinInt2:
        return make(int64_t{cursor_.number<uint16_t>("a number")});
      case Op::kBinFloat:  // the one number that is big-endian
        return make(std::bit_cast<double>(__builtin_bswap64(cursor_.number<uint64_t>("a number"))));
      case Op::kLong1:
        return make_long(cursor_.number<uint8_t>("a number"));
      case Op::kLong4:
        return make_long(cursor_.number<uint32_t>("a number"));
      default:
        return false;
    }
  }

  bool take_text(Op op) {
    switch (op) {
      case Op::kShortBinString:
      case Op::kShortBinUnicode:
      case Op::kShortBinBytes:
        return make_text(cursor_.number<uint8_t>("a text"));
      case Op::kBinString:
      case Op::kBinUnicode:
      case Op::kBinBytes:
        return make_text(cursor_.number<uint32_t>("a text"));
      case Op::kBinUnicode8:
      case Op::kBinBytes8:
      case Op::kByteArray8:
        return make_text(cursor_.number<uint64_t>("a text"));
      default:
        return false;
    }
  }

  bool take_memo(Op op) {
    switch (op) {
      case Op::kBinPut:
        stack_.put(cursor_.number<uint8_t>("a memo"));
        return true;
      case Op::kLongBinPut:
        stack_.put(cursor_.number<uint32_t>("a memo"));
        return true;
      case Op::kMemoize:
        stack_.put_next();
        return true;
      case Op::kBinGet:
        stack_.get(cursor_.number<uint8_t>("a memo"));
        return true;
      case Op::kLongBinGet:
        stack_.get(cursor_.number<uint32_t>("a memo"));
        return true;
      default:
        return false;
    }
  }

  bool take_container(Op op) {
    switch (op) {
      case Op::kMark:
        stack_.mark();
        return true;
      case Op::kEmptyTuple:
        return make(Tree::Sequence{{}, true});
      case Op::kEmptyList:
      case Op::kEmptySet:
        return make(Tree::Sequence{});
      case Op::kEmptyDict:
        return make(Tree::Dict{});
      case Op::kTuple1:
        return make_tuple(stack_.pop_last(1));
      case Op::kTuple2:
        return make_tuple(stack_.pop_last(2));
      case Op::kTuple3:
        return make_tuple(stack_.pop_last(3));
      case Op::kTuple:
      case Op::kFrozenSet:
        return make_tuple(stack_.pop_to_mark());
      case Op::kAppend:
        return append(stack_.pop_last(1));
      case Op::kAppends:
      case Op::kAddItems:
        return append(stack_.pop_to_mark());
      case Op::kSetItem:
        return set_items(stack_.pop_last(2));
      case Op::kSetItems:
        return set_items(stack_.pop_to_mark());
      default:
        return false;
    }
  }

  bool take_object(Op op) {
    switch (op) {
      case Op::kGlobal: {
        const std::string_view module = cursor_.line("a global");
        return make_global(module, cursor_.line("a global"));
      }
      case Op::kStackGlobal: {
        const std::vector<Ref> names = stack_.pop_last(2);
        const auto* module = tree_.as<std::string_view>(names[0]);
        const auto* name = tree_.as<std::string_view>(names[1]);
        if (module == nullptr || name == nullptr) fail("a global's name must be a string");
        return make_global(*module, *name);
      }
      case Op::kBinPersistentId:
        return make_storage(stack_.pop());
      case Op::kReduce: {
        const std::vector<Ref> call = stack_.pop_last(2);
        return make_called(call[0], call[1]);
      }
      case Op::kNewObject:
        return make_instance(stack_.pop_last(2));
      case Op::kNewObjectEx:
        return make_instance(stack_.pop_last(3));
      case Op::kBuild: {
        stack_.pop();  // attributes of an object, which nobody asks for
        const Ref object = stack_.top();
        if (tree_.as<Tree::Object>(object) == nullptr && tree_.as<Tree::Dict>(object) == nullptr &&
            tree_.as<Tree::Tensor>(object) == nullptr)
          fail("sets the state of a value that is not an object");
        return true;
      }
      default:
        return false;
    }
  }

  // Values.
  bool make(Tree::Value value) {
    if (tree_.nodes.size() >= limits_.values) fail("has more than " + std::to_string(limits_.values) + " values");
    stack_.push(static_cast<Ref>(tree_.nodes.size()));
    tree_.nodes.push_back({std::move(value)});
    return true;
  }
  template <class Kind, class Item>
  bool make_in(std::vector<Item>& all, Item item) {
    all.push_back(std::move(item));
    return make(Kind{static_cast<uint32_t>(all.size() - 1)});
  }
  bool make_text(uint64_t size) { return make(cursor_.take(size, "a text")); }

  // Two's complement, little-endian. A number that does not fit stays as its bytes: nobody computes with it.
  bool make_long(uint64_t size) {
    const std::string_view bytes = cursor_.take(size, "a number");
    if (size > sizeof(int64_t)) return make(bytes);
    uint64_t value = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
    return make(static_cast<int64_t>(value));
  }

  bool make_tuple(std::vector<Ref> items) {
    const uint16_t depth = place(items);
    make(Tree::Sequence{std::move(items), true});
    tree_.nodes.back().depth = depth;
    return true;
  }

  // Returns the levels of a container that holds these.
  uint16_t place(const std::vector<Ref>& items) {
    uint16_t depth = 0;
    for (const Ref item : items) {
      tree_.nodes[item].placed = true;
      depth = std::max(depth, tree_.nodes[item].depth);
    }
    if (depth >= limits_.depth) fail("nests deeper than " + std::to_string(limits_.depth) + " levels");
    return static_cast<uint16_t>(depth + 1);
  }

  // The container on top, which must not yet be part of another: so no circle can come about, and depths stay true.
  template <class Container>
  Container* growing(const std::vector<Ref>& items, const char* complaint) {
    Tree::Node& node = tree_.nodes[stack_.top()];
    if (std::holds_alternative<Tree::Object>(node.value)) return nullptr;  // a class derived from a container
    auto* container = std::get_if<Container>(&node.value);
    if (container == nullptr) fail(complaint);
    if (node.placed)
      fail("changes a value that another value already contains; values that contain themselves are not supported");
    node.depth = std::max(node.depth, place(items));
    if (node.placed) fail("has a value that contains itself, which is not supported");
    return container;
  }

  bool append(const std::vector<Ref>& items) {
    constexpr const char* kComplaint = "appends to a value that is not a list";
    auto* list = growing<Tree::Sequence>(items, kComplaint);
    if (list == nullptr) return true;
    if (list->fixed) fail(kComplaint);
    list->items.insert(list->items.end(), items.begin(), items.end());
    return true;
  }

  bool set_items(const std::vector<Ref>& items) {
    if (items.size() % 2 != 0) fail("sets a key without a value");
    auto* dict = growing<Tree::Dict>(items, "sets items of a value that is not a dictionary");
    if (dict == nullptr) return true;
    for (size_t i = 0; i < items.size(); i += 2) dict->items.emplace_back(items[i], items[i + 1]);
    return true;
  }

  bool make_global(std::string_view module, std::string_view name) {
    constexpr size_t kMaxBytes = 256;
    if (module.size() > kMaxBytes || name.size() > kMaxBytes)
      fail("mentions a global whose name has more than 256 bytes");
    const auto [known, is_new] = global_indices_.emplace(std::pair(module, name), tree_.globals.size());
    if (is_new) {
      tree_.globals.push_back(torch_global(module, name));
      if (tree_.globals.back().kind == Kind::code) refuse_code(tree_.globals.back(), "mentions");
    }
    return make(Tree::Global{known->second});
  }

  [[noreturn]] void refuse_code(const TorchGlobal& global, const char* verb) const {
    fail(std::string("contains code: it ") + verb + " " + in_quotes(global.name) +
         ". Only tensors and plain values are read; save the model's state_dict() alone");
  }

  /// The function or class that is called. The result of an unknown call, such as getattr(A, 'b'), is unknown too.
  uint32_t callee_at(Ref ref) const {
    if (const auto* global = tree_.as<Tree::Global>(ref)) return global->index;
    if (const auto* object = tree_.as<Tree::Object>(ref)) return object->index;
    fail("calls a value that is not a function");
  }

  /// Instead of what a call would return: the call is not made.
  bool make_placeholder(uint32_t global, bool may_be_tensor) { return make(Tree::Object{global, may_be_tensor}); }

  bool make_storage(Ref id) {
    return rebuilt([&] {
      if (const auto unread = unread_storage(tree_, id)) return make_placeholder(*unread, true);
      return make_in<Tree::Storage>(tree_.storages, rebuild_storage(tree_, id, storage_bytes_));
    });
  }

  bool make_called(Ref callee, Ref arguments) {
    const uint32_t global = callee_at(callee);
    const TorchGlobal& function = tree_.globals[global];
    const auto* given = tree_.as<Tree::Sequence>(arguments);
    if (given == nullptr || !given->fixed)
      fail("calls " + in_quotes(function.name) + " with arguments that are not in a tuple");
    if (tree_.as<Tree::Object>(callee) != nullptr) return make_placeholder(global, true);
    if (const auto unread = unread_part(tree_, function, arguments)) return make_placeholder(*unread, true);
    switch (function.kind) {
      case Kind::dictionary:
        if (function.name == "collections.OrderedDict" && !given->items.empty())
          fail("makes an OrderedDict in a way that torch.save does not write");
        return make(Tree::Dict{});
      case Kind::shape:
        return reuse(
            *given, [&](Ref item) { return tree_.as<Tree::Sequence>(item) != nullptr; }, function);
      case Kind::rebuild_parameter:
        return reuse(
            *given, [&](Ref item) { return tree_.as<Tree::Tensor>(item) != nullptr; }, function);
      case Kind::rebuild_tensor:
        if (tree_.tensors.size() >= limits_.tensors)
          fail("has more than " + std::to_string(limits_.tensors) + " tensors");
        return rebuilt([&] {
          return make_in<Tree::Tensor>(tree_.tensors, rebuild_tensor(tree_, function, arguments, limits_.rank));
        });
      case Kind::rebuild_from_type:
        return make_from_type(given->items);
      case Kind::plain_value:
        return make_placeholder(global, false);
      default:
        return make_placeholder(global, true);
    }
  }

  // The call returns its first argument.
  template <class Test>
  bool reuse(const Tree::Sequence& arguments, const Test& fits, const TorchGlobal& function) {
    if (arguments.items.empty() || !fits(arguments.items[0]))
      fail("calls " + in_quotes(function.name) + " with arguments that torch.save does not write");
    stack_.push(arguments.items[0]);
    return true;
  }

  // (function, type, arguments, state): the function's result with attributes, which nobody asks for.
  bool make_from_type(const std::vector<Ref>& items) {
    if (items.size() != 4) fail("rebuilds a tensor in a way that torch.save does not write");
    return make_called(items[0], items[2]);
  }

  bool make_instance(const std::vector<Ref>& items) {
    const uint32_t global = callee_at(items[0]);
    if (tree_.globals[global].kind == Kind::dictionary) return make(Tree::Dict{});
    return make_placeholder(global, false);
  }

  // Adds the position to the errors of the rebuilding functions.
  template <class Make>
  bool rebuilt(const Make& make_it) {
    try {
      return make_it();
    } catch (const Error& error) {
      fail(error.what());
    }
  }

  PickleTree tree_;
  PickleCursor cursor_;
  PickleStack stack_;
  const StorageBytes& storage_bytes_;
  const PickleLimits& limits_;
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> global_indices_;  // by module and name
};

}  // namespace

PickleTree unpickle(std::vector<std::byte> bytes, const std::string& name, const StorageBytes& storage_bytes,
                    const PickleLimits& limits) {
  return Unpickler(std::move(bytes), name, storage_bytes, limits).read();
}

}  // namespace cachet::io
