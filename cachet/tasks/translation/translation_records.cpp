#include "cachet/tasks/translation/translation_records.h"

#include <ATen/TensorOperators.h>

#include <nlohmann/json.hpp>

#include "cachet/tasks/samples/read_record.h"

namespace cachet::tasks {

std::vector<PairLosses> losses_of_pairs(const std::vector<int64_t>& pairs, const at::Tensor& loss,
                                        const at::Tensor& nll, const at::Tensor& targets) {
  const auto on_cpu = [](const at::Tensor& values, at::ScalarType type) {
    return values.to(at::kCPU, type).contiguous();
  };
  const at::Tensor losses = on_cpu(loss, at::kDouble), nlls = on_cpu(nll, at::kDouble),
                   ids = on_cpu(targets, at::kLong);
  const int64_t length = ids.size(1);
  std::vector<PairLosses> all;
  for (int64_t row = 0; row < ids.size(0); ++row) {
    PairLosses sums{row < static_cast<int64_t>(pairs.size()) ? pairs[static_cast<size_t>(row)] : row};
    for (int64_t i = row * length; i < (row + 1) * length; ++i) {
      sums.tokens += ids.const_data_ptr<int64_t>()[i] == -1 ? 0 : 1;
      sums.loss += losses.const_data_ptr<double>()[i];
      sums.nll += nlls.const_data_ptr<double>()[i];
    }
    all.push_back(sums);
  }
  return all;
}

Record losses_record(const PairLosses& losses, int64_t index) {
  return nlohmann::ordered_json{{"index", index},
                                {"sample", losses.pair},
                                {"tokens", losses.tokens},
                                {"loss", losses.loss},
                                {"nll", losses.nll}}
             .dump() +
         "\n";
}

Record translation_record(const WrittenTranslation& written, int64_t index, const std::string& text) {
  return nlohmann::ordered_json{
             {"index", index}, {"sample", written.pair}, {"translation", written.tokens}, {"text", text}}
             .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

PairLosses losses_from_record(const Record& record, int64_t index, int64_t pairs) {
  constexpr int64_t kMaxTokens = int64_t{1} << 40;  // whose sums are numbers yet
  const ReadRecord values(record, index);
  return {values.integer("sample", pairs), values.integer("tokens", kMaxTokens), values.number("loss"),
          values.number("nll")};
}

WrittenTranslation translation_from_record(const Record& record, int64_t index, int64_t pairs, int64_t vocabulary) {
  const ReadRecord values(record, index);
  return {values.integer("sample", pairs), values.integers("translation", vocabulary)};
}

}  // namespace cachet::tasks
