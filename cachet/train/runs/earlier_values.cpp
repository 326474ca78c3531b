#include "cachet/train/runs/earlier_values.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cachet::train {
namespace {

struct EarlierValue {
  std::string_view key, value, meaning;
};

constexpr std::array<EarlierValue, 8> kEarlierValues{
    {{"data.orientation", "\"ignore\"", "pictures are not turned upright by their EXIF orientation"},
     {"data.split_by", "\"samples\"",
      "validation samples are drawn one by one, even if a sample with the same text stays in training"},
     {"model.attention.pattern_length", "\"batch\"",
      "the blocks, chunks or positions of the attention depend on the padded length of a batch, so the result of a "
      "sample may depend on the other samples of its batch"},
     {"schedule.first_update", "1",
      "the learning rate is one update ahead of the learning rate in the original code of the schedule"},
     {"schedule.rule", "\"0.1.0\"",
      "one_cycle has the curve of version 0.1.0, which differs from the curve in PyTorch"},
     {"task.evaluation.bits_of", "\"whole_text\"",
      "bits per byte are the loss in bits divided by all bytes of the text. A second metric, bits per coded byte, "
      "counts only the bytes that tokens encode"},
     {"task.loss_divisor", "\"part\"",
      "in each micro-batch of each process, the losses of the anchors are divided by the number of anchors of this "
      "micro-batch. If a step has only one micro-batch, loss_divisor = \"step\" gives the same result"},
     {"train.ema_renew_states", "0",
      "evaluations use the averaged weights with the running statistics and caches of the weights that are not "
      "averaged. To evaluate the averaged weights with their own statistics and caches, run `cachet average RUN --ema "
      "--renew-states 100`, then `cachet eval` on the new checkpoint"}}};

}  // namespace

std::optional<std::string> earlier_value(const std::string& key) {
  const auto* found = std::ranges::find(kEarlierValues, key, &EarlierValue::key);
  return found == kEarlierValues.end() ? std::nullopt : std::optional(std::string(found->value));
}

void set_earlier_options(config::Document& recipe, const RecipeValues& before) {
  for (const EarlierValue& earlier : kEarlierValues) {
    const std::string key(earlier.key);
    if (const auto known = before.find(key); known != before.end() && known->second != earlier.value) continue;
    recipe.set_default(key + "=" + std::string(earlier.value));
  }
}

void set_earlier_options(config::Document& recipe) { set_earlier_options(recipe, {}); }

std::vector<EarlierRule> earlier_rules(const config::Document& recipe) {
  std::vector<EarlierRule> rules;
  for (const config::Document::Value& value : recipe.resolved()) {
    if (value.origin.source != config::kEarlierSource) continue;
    const auto* found = std::ranges::find(kEarlierValues, value.key, &EarlierValue::key);
    rules.push_back({value.key, "the run began before the option " + value.key +
                                    " existed, so it keeps the earlier rule, " + value.key + " = " + value.toml + ": " +
                                    std::string(found->meaning)});
  }
  return rules;
}

bool is_newer_than_0_1_0(std::string_view key) {
  return std::ranges::find(kEarlierValues, key, &EarlierValue::key) != kEarlierValues.end();
}

}  // namespace cachet::train
