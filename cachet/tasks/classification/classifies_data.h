#pragma once

#include <cstdint>
#include <optional>

namespace cachet::tasks {

/// A plan whose model classifies the samples of its data.
class ClassifiesData {
 public:
  virtual ~ClassifiesData() = default;
  virtual int64_t classes_of_model() const = 0;
  /// Returns the number of classes of the data; empty if only the opened data determine it.
  virtual std::optional<int64_t> classes_of_data() const = 0;
};

}  // namespace cachet::tasks
