#include "cachet/models/language/transformer_xl_options.h"

#include <string>

#include "cachet/models/language/language_keys.h"

namespace cachet::models {
namespace {

constexpr config::Range<int64_t> kLengths{0, 1 << 24};

}  // namespace

TransformerXLOptions read_transformer_xl_options(const config::View& table, TransformerXLOptions o) {
  o = read_language_keys(table, o);
  const bool cached = nn::cached_layer_options(o.plug_ins.cache).has_value();
  SegmentOptions& segments = o.segments;
  segments.memory_length = table.integer("memory_length", cached ? 0 : segments.memory_length, kLengths);
  segments.clamp_length = table.integer("clamp_length", segments.clamp_length, kLengths);
  segments.same_length = table.boolean("same_length", segments.same_length);
  MemoryTokenOptions& memory = o.memory_tokens;
  memory.count = table.integer("memory_tokens", memory.count, {0, 1 << 16});
  memory.recurrent = table.boolean("memory_tokens_recurrent", memory.recurrent);
  memory.reads_past = table.boolean("memory_tokens_read_past", memory.reads_past);
  if (memory.count == 0 && (memory.recurrent || memory.reads_past))
    table.problem("memory_tokens", std::string("must be above 0 if ") +
                                       (memory.recurrent ? "memory_tokens_recurrent" : "memory_tokens_read_past") +
                                       " is true; set both keys or neither");
  if (memory.count > 0 && cached)
    table.problem("memory_tokens", "cannot be used together with a cache; choose one of the two");
  if (cached && segments.memory_length > 0) table.problem("memory_length", "must be 0: the cache replaces the memory");
  if (segments.same_length && segments.memory_length == 0)
    table.problem("same_length", "lets each token see memory_length tokens, so memory_length must be above 0");
  if (!std::holds_alternative<nn::SoftmaxOptions>(o.plug_ins.attention.function))
    table.table("attention").problem("kind", "must be softmax: the model attends to relative positions");
  if (o.vocabulary.dim % 2 != 0)
    table.problem("embed_dim", "must be even, got " + std::to_string(o.vocabulary.dim) +
                                   ": distances are encoded by as many sines as cosines");
  return o;
}

}  // namespace cachet::models
