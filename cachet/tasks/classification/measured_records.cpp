#include "cachet/tasks/classification/measured_records.h"

#include <nlohmann/json.hpp>

namespace cachet::tasks {

Record measured_record(const MeasuredSample& measured, int64_t place, int64_t classes) {
  const ClassifiedSample& sample = measured.sample;
  if (!measured.problem.empty()) {
    const nlohmann::ordered_json skipped{
        {"index", place}, {"sample", sample.index}, {"label", sample.label}, {"error", measured.problem}};
    return skipped.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  nlohmann::ordered_json json{{"index", place},
                              {"sample", sample.index},
                              {"label", sample.label},
                              {"predicted", sample.predicted},
                              {"probability", sample.probability},
                              {"loss", measured.loss}};
  if (classes > kLikeliest) json["among_five"] = measured.among_five;
  return json.dump() + "\n";
}

MeasuredSample MeasuredRecords::read(const Record& record) {
  const ReadRecord values(record, seen_.records());
  MeasuredSample measured;
  measured.problem = values.text("error");
  if (!measured.problem.empty()) {
    measured.sample = {.index = values.integer("sample", samples_), .label = values.integer("label", classes_)};
    seen_.add(measured.sample.index);
    return measured;
  }
  measured.sample = {values.integer("sample", samples_), values.integer("label", classes_),
                     values.integer("predicted", classes_), values.number("probability")};
  measured.loss = values.number("loss");
  measured.among_five = values.is_true("among_five");
  seen_.add(measured.sample.index);
  return measured;
}

}  // namespace cachet::tasks
