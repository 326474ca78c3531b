#include "cachet/data/text/sequences/labelled_texts.h"

#include <algorithm>
#include <utility>

#include "cachet/config/near_names.h"
#include "cachet/data/text/tsv_file.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

constexpr TsvLayout kLabelledTextLayout{.header = {}, .columns = 2};

int64_t class_called(std::string_view name, const std::vector<std::string>& class_names) {
  const auto found = std::ranges::find(class_names, name);
  if (found == class_names.end())
    throw io::Error("the class " + io::in_quotes(name.substr(0, 40)) + " is not in data.class_names" +
                    config::suggestion(name, class_names));
  return found - class_names.begin();
}

}  // namespace

std::string labelled_texts_file_name(SequenceSplit split) { return std::string(to_string(split)) + ".tsv"; }

std::shared_ptr<const SequenceDataset> read_labelled_texts(const std::filesystem::path& folder, SequenceSplit split,
                                                           const std::vector<std::string>& class_names,
                                                           const TextEncoder& encoder, const SequenceRules& rules) {
  SequenceBuilder builder(encoder.vocabulary(), rules);
  int64_t line = 0;
  const TakeRow take = [&](std::span<const std::string_view> fields) {
    for (const std::string_view field : fields) builder.add_text(field);
    ++line;
    const int64_t label = class_called(fields[0], class_names);
    EncodedText encoded = encoder.encode(fields[1], rules.max_length);
    builder.count_replaced(encoded.replaced);
    const auto number = builder.add_sequence(std::move(encoded.tokens), text_key(fields[1], rules));
    number ? builder.add_sample({.tokens = *number, .label = label, .place = line}) : builder.skip_sample();
  };
  const std::string name = read_tsv_file(folder, {to_string(split), ".tsv"}, kLabelledTextLayout, take).string();
  return builder.finish(name, class_names, {.before_place = name + ":"});
}

}  // namespace cachet::data
