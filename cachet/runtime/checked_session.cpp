#include "cachet/runtime/checked_session.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace cachet::runtime {
namespace {

[[noreturn]] void refuse(const ExportedInput& taken, const std::string& what) {
  throw std::runtime_error("input '" + taken.name + "' of the exported model " + what);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : " x ") + (size < 0 ? "any" : std::to_string(size));
  return "(" + text + ")";
}

void check_ids(const ExportedInput& taken, const Input& given) {
  const size_t count = std::accumulate(given.shape.begin(), given.shape.end(), size_t{1},
                                       [](size_t all, int64_t size) { return all * static_cast<size_t>(size); });
  for (const int64_t id : std::span(static_cast<const int64_t*>(given.data), count))
    if (id < 0 || id >= taken.vocabulary)
      refuse(taken, "has the token id " + std::to_string(id) + "; ids must be from 0 to " +
                        std::to_string(taken.vocabulary - 1));
}

void check_input(const ExportedInput& taken, const Input& given) {
  if (given.element != taken.element) refuse(taken, "has elements of the wrong type");
  const bool fits = std::ranges::equal(given.shape, taken.shape, [](int64_t size, int64_t expected) {
    return size >= 1 && (expected < 0 || size == expected);
  });
  if (!fits) refuse(taken, "has the shape " + shape_text(given.shape) + "; the model takes " + shape_text(taken.shape));
  if (taken.longest > 0 && given.shape[1] > taken.longest)
    refuse(taken, "has " + std::to_string(given.shape[1]) + " tokens; the model takes at most " +
                      std::to_string(taken.longest));
  if (taken.vocabulary > 0) check_ids(taken, given);
}

class CheckedSession : public Session {
 public:
  CheckedSession(std::unique_ptr<Session> session, const ExportManifest& manifest)
      : session_(std::move(session)), inputs_(manifest.inputs), classes_(manifest.classes.size()) {}

  Scores run(std::span<const Input> inputs) override {
    if (inputs.size() != inputs_.size())
      throw std::runtime_error("the exported model takes " + std::to_string(inputs_.size()) +
                               (inputs_.size() == 1 ? " input, not " : " inputs, not ") +
                               std::to_string(inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      check_input(inputs_[i], inputs[i]);
      if (inputs[i].shape[0] != inputs[0].shape[0])
        refuse(inputs_[i], "must have the same batch size as the first input");
      // The padding of the ids before it.
      if (i > 0 && inputs[i].element == Element::boolean && inputs[i].shape != inputs[i - 1].shape)
        refuse(inputs_[i], "must have the same shape as '" + inputs_[i - 1].name + "'");
    }
    Scores scores = session_->run(inputs);
    if (scores.samples != inputs[0].shape[0] || scores.classes != static_cast<int64_t>(classes_) ||
        scores.values.size() != static_cast<size_t>(scores.samples) * classes_)
      throw std::runtime_error("the exported model gives " + shape_text({scores.samples, scores.classes}) +
                               " scores instead of " +
                               shape_text({inputs[0].shape[0], static_cast<int64_t>(classes_)}) + "; export it again");
    return scores;
  }

 private:
  std::unique_ptr<Session> session_;
  std::vector<ExportedInput> inputs_;
  size_t classes_;
};

}  // namespace

std::unique_ptr<Session> checked(std::unique_ptr<Session> session, const ExportManifest& manifest) {
  return std::make_unique<CheckedSession>(std::move(session), manifest);
}

}  // namespace cachet::runtime
