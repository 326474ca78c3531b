#include "cachet/tasks/own_subwords.h"

#include <span>
#include <utility>

#include "cachet/config/toml_text.h"
#include "cachet/data/text/subword_encoder.h"
#include "cachet/io/sha256.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnModel = "subwords.model";

bool has_subwords(const RecipePlan& plan) {
  const auto* sequences = std::get_if<SequenceClassificationOptions>(&plan.task);
  return sequences != nullptr && sequences->dataset.text.tokens == data::TokenKind::subwords;
}

}  // namespace

fs::path own_subword_model(const fs::path& run) {
  std::error_code error;
  const fs::path path = fs::absolute(run / kOwnModel, error);
  return fs::is_regular_file(path, error) ? path : fs::path();
}

void use_own_subwords(RecipePlan& plan, const fs::path& run) {
  const fs::path own = own_subword_model(run);
  if (has_subwords(plan) && !own.empty())
    std::get<SequenceClassificationOptions>(plan.task).dataset.text.subword_model = own;
}

SubwordsToKeep subwords_to_keep(const RecipePlan& plan) {
  if (!has_subwords(plan)) return {};
  const data::TextOptions& text = std::get<SequenceClassificationOptions>(plan.task).dataset.text;
  data::SubwordModelFile model = data::read_subword_model(text, fs::current_path());
  SubwordsToKeep keep;
  if (text.vocabulary_hash.empty()) {
    const std::string hash = io::sha256_hex(std::as_bytes(std::span(model.bytes)));
    keep.settings.push_back("data.vocabulary_hash=" + config::toml_text(hash));
  }
  keep.files.emplace(kOwnModel, std::move(model.bytes));
  return keep;
}

}  // namespace cachet::tasks
