#include "cachet/train/step/step_executor.h"

#include <ATen/ops/tensor.h>

#include <utility>

namespace cachet::train {
namespace {

class NumbersRead final : public HostRead {
 public:
  explicit NumbersRead(std::vector<double> numbers) : numbers_(std::move(numbers)) {}
  std::vector<double> wait() override { return numbers_; }

 private:
  std::vector<double> numbers_;
};

class DirectExecutor final : public StepExecutor {
 public:
  void run(const std::string& /*key*/, const std::function<void()>& work) override { work(); }
  void forget() override {}

  void write(const std::vector<double>& numbers, const at::Tensor& vector) override {
    vector.copy_(at::tensor(numbers, at::kDouble));
  }

  std::unique_ptr<HostRead> read(const at::Tensor& vector) override {
    const at::Tensor here = vector.cpu();
    const double* values = here.const_data_ptr<double>();
    return std::make_unique<NumbersRead>(std::vector<double>(values, values + here.numel()));
  }
};

}  // namespace

std::unique_ptr<StepExecutor> make_direct_executor() { return std::make_unique<DirectExecutor>(); }

}  // namespace cachet::train
