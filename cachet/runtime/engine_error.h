#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace cachet::runtime {

/// The error of an engine that cannot open or run a model. what() begins with the model's file.
class EngineError : public std::runtime_error {
 public:
  /// `problem`: a line that names the engine, such as "OpenVINO cannot open it: …".
  EngineError(const std::string& file, std::string problem)
      : std::runtime_error(file + ": " + problem), problem_(std::move(problem)) {}

  /// Returns the message of the error without the name of the model's file.
  const std::string& problem() const { return problem_; }

 private:
  std::string problem_;
};

}  // namespace cachet::runtime
