#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/step/device_step.h"
#include "cachet/train/step/training_step.h"
#include "tests/support/meta_run.h"

namespace cachet::test {

/// Runs the work of steps on the meta device, and notes what a CUDA graph could not capture: uploads, and values that
/// the host reads. The first run of each key may make tables that later runs find. All numbers that a step reads are 0.
class MetaExecutor : public train::StepExecutor {
 public:
  explicit MetaExecutor(std::set<std::string>& faults) : faults_(faults) {}

  void run(const std::string& key, const std::function<void()>& work) override {
    const UploadsCounted uploads;
    const int64_t reads = MetaDeviceCompleted::copies();
    work();
    if (keys_.insert(key).second) return;
    ++recorded_;
    if (UploadsCounted::count() > 0) faults_.insert("the work uploads a tensor");
    if (MetaDeviceCompleted::copies() > reads) faults_.insert("the work reads a tensor of the device");
  }
  void run_directly(const std::function<void()>& work) override {
    faults_.insert("a step has no layout");
    work();
  }
  void forget() override {}
  void write(const std::vector<double>& /*numbers*/, const at::Tensor& /*vector*/) override {}
  std::unique_ptr<train::HostRead> read(const at::Tensor& vector) override {
    return std::make_unique<Zeros>(static_cast<size_t>(vector.numel()));
  }

  int64_t recorded() const { return recorded_; }

 private:
  struct Zeros : train::HostRead {
    explicit Zeros(size_t count) : count(count) {}
    std::vector<double> wait() override { return std::vector<double>(count, 0); }
    size_t count;
  };

  std::set<std::string>& faults_;
  std::set<std::string> keys_;
  int64_t recorded_ = 0;
};

/// Takes device steps of a task whose model is put on the meta device. Returns what a CUDA graph could not capture:
/// uploads, reads on the host, operators with results whose shapes depend on values, and operators that meet two
/// devices. past: as in faults_of_step().
inline std::set<std::string> faults_of_device_steps(train::TrainingTask& task, const train::Options& options,
                                                    int64_t past = 0) {
  const MetaDeviceCompleted completed;
  put_on_meta(task.model());
  const DeviceMixes mixes;
  std::set<std::string> faults;
  try {
    train::TrainingStep parts(task, options);
    train::WeightAverage average(task.model(), {.decay = 0.9});
    auto made = std::make_unique<MetaExecutor>(faults);
    const MetaExecutor& executor = *made;
    train::DeviceStep step(task, options.train, parts.parameters(), parts.optimizer(), &average, std::move(made));
    task.model().train();
    constexpr int kSteps = 4;  // two on each of two batches, whose shapes may differ
    for (int i = 0; i < kSteps / 2; ++i) {
      const std::unique_ptr<train::TrainingBatches> batches = task.training_batches(0, 0);
      batches->fill_state(past);
      for (int batch = 0; batch < 2; ++batch) step.run(*batches, 1, {.learning_rate = 0.1}, 0.1);
    }
    step.settle();
    if (executor.recorded() == 0) faults.insert("no step met the same shapes again");
  } catch (const c10::Error& error) {
    faults.insert(error.what_without_backtrace());
  }
  faults.merge(std::set(DeviceMixes::names()));
  return faults;
}

}  // namespace cachet::test
