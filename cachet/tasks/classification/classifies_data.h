#pragma once

#include <cstdint>
#include <optional>

namespace cachet::tasks {

/// A plan whose model classifies the samples of its data.
class ClassifiesData {
 public:
  virtual ~ClassifiesData() = default;
  virtual int64_t classes_of_model() const = 0;
  /// Empty if the number is not known before the data are opened.
  virtual std::optional<int64_t> classes_of_data() const = 0;
};

}  // namespace cachet::tasks
