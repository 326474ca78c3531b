#include "cachet/data/text/encoders/subword_tables.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace cachet::data {
namespace {

/// The fields of a protobuf message. Groups, which no version of the format writes, are not taken: SentencePiece's
/// parser and this one agree on all that is.
class MessageCursor {
 public:
  struct Field {
    uint32_t number = 0;
    std::optional<std::string_view> bytes{};  // of a field that has a length
  };

  explicit MessageCursor(std::string_view message) : rest_(message) {}
  bool at_end() const { return rest_.empty(); }

  /// The next field; nothing where the message is damaged.
  std::optional<Field> next() {
    const auto tag = varint();
    if (!tag || *tag > UINT32_MAX || *tag >> 3 == 0) return std::nullopt;
    Field field{static_cast<uint32_t>(*tag >> 3)};
    switch (*tag & 7) {
      case 0:
        if (!varint()) return std::nullopt;
        return field;
      case 1:
        return take(8) ? std::optional(field) : std::nullopt;
      case 2: {
        const auto length = varint();
        if (length) field.bytes = take(*length);
        return field.bytes ? std::optional(field) : std::nullopt;
      }
      case 5:
        return take(4) ? std::optional(field) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> take(uint64_t count) {
    if (count > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

constexpr uint32_t kNormalizerSpec = 3, kCharsmap = 2;  // numbers of fields

constexpr size_t kLabels = 256, kMaxEntries = 32;

/// A node is 32 bits: the byte that leads to it (bit 31 set: an entry's value, where none does), whether an entry ends
/// there (bit 8), and where its children are (bits 9 to 31), relative to itself.
class DoubleArray {
 public:
  explicit DoubleArray(std::string_view bytes) : units_(bytes.size() / sizeof(uint32_t)), nodes_(units_.size()) {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(units_.data(), bytes.data(), units_.size() * sizeof(uint32_t));
  }

  /// Walks all ways depth first, each node once: ways may meet.
  std::optional<std::string> problem() {
    std::vector<Step> way;
    if (!enter(0, way)) return kLeadsOut;
    while (!way.empty()) {
      Step& step = way.back();
      if (step.label == kLabels) {
        Node& done = nodes_[step.node];
        done.state = State::left;
        done.entries += has_entry(step.node) ? 1 : 0;
        if (done.entries > kMaxEntries) return "a path through its normalization table has more than 32 entries";
        const size_t entries = done.entries;
        way.pop_back();
        if (!way.empty()) raise(nodes_[way.back().node], entries);
        continue;
      }
      const size_t label = step.label++, child = step.children ^ label;
      if ((units_[child] & kLabelMask) != label) continue;
      if (nodes_[child].state == State::entered) return "its table has a cycle";
      if (nodes_[child].state == State::left)
        raise(nodes_[step.node], nodes_[child].entries);
      else if (!enter(child, way))
        return kLeadsOut;
    }
    return std::nullopt;
  }

 private:
  static constexpr const char* kLeadsOut = "an entry of its table points outside the table";
  static constexpr uint32_t kLabelMask = uint32_t{1} << 31 | 0xFF;

  enum class State : uint8_t { fresh, entered, left };
  struct Node {
    State state = State::fresh;
    uint8_t entries = 0;  // on the way below it that has most
  };
  struct Step {
    size_t node, children, label = 0;
  };

  static void raise(Node& node, size_t entries) {
    node.entries = static_cast<uint8_t>(std::max<size_t>(node.entries, entries));
  }
  bool has_entry(size_t node) const { return (units_[node] >> 8 & 1) != 0; }

  bool enter(size_t node, std::vector<Step>& way) {
    const uint32_t unit = units_[node];
    const size_t children = node ^ (size_t{unit >> 10} << ((unit & uint32_t{1} << 9) >> 6));
    if ((children | (kLabels - 1)) >= units_.size()) return false;
    nodes_[node].state = State::entered;
    way.push_back({node, children});
    return true;
  }

  std::vector<uint32_t> units_;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<std::vector<std::string_view>> normalization_tables(std::string_view model) {
  std::vector<std::string_view> tables;
  for (MessageCursor fields(model); !fields.at_end();) {
    const auto field = fields.next();
    if (!field) return std::nullopt;
    if (field->number != kNormalizerSpec || !field->bytes) continue;
    for (MessageCursor spec(*field->bytes); !spec.at_end();) {
      const auto entry = spec.next();
      if (!entry) return std::nullopt;
      if (entry->number == kCharsmap && entry->bytes) tables.push_back(*entry->bytes);
    }
  }
  return tables;
}

std::optional<std::string> table_problem(std::string_view table) {
  uint32_t bytes = 0;
  if (table.size() <= sizeof(bytes)) return std::nullopt;
  std::memcpy(&bytes, table.data(), sizeof(bytes));
  if (bytes < kLabels * sizeof(uint32_t) || bytes % (kLabels * sizeof(uint32_t)) != 0) return std::nullopt;
  // SentencePiece forgets the four bytes before it.
  if (bytes >= table.size() - sizeof(bytes)) return "its table is truncated";
  return DoubleArray(table.substr(sizeof(bytes), bytes)).problem();
}

}  // namespace cachet::data
