#include "cachet/train/step/cuda/cuda_executor.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

#include "cachet/train/step/recordings.h"

namespace cachet::train {
namespace {

constexpr size_t kMaxGraphs = 64;

class CudaRead final : public HostRead {
 public:
  explicit CudaRead(const at::Tensor& vector)
      : numbers_(at::empty(vector.sizes(), at::TensorOptions(at::kDouble).pinned_memory(true))) {
    numbers_.copy_(vector, /*non_blocking=*/true);
    copied_.record();
  }

  std::vector<double> wait() override {
    copied_.synchronize();
    const double* values = numbers_.const_data_ptr<double>();
    return {values, values + numbers_.numel()};
  }

 private:
  at::Tensor numbers_;  // pinned
  at::cuda::CUDAEvent copied_;
};

class CudaGraph final : public Recording {
 public:
  void replay() override { graph_.replay(); }
  at::cuda::CUDAGraph& graph() { return graph_; }

 private:
  at::cuda::CUDAGraph graph_;
};

class CudaExecutor final : public StepExecutor {
 public:
  CudaExecutor(c10::Device device, bool replays)
      : replays_(replays),
        on_stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())),
        recordings_(kMaxGraphs, [this](const std::function<void()>& work) { return capture(work); }) {}

  ~CudaExecutor() override {
    try {
      c10::cuda::getCurrentCUDAStream().synchronize();
    } catch (const c10::Error&) {  // an error of earlier work, which was reported where its results were read
    }
  }

  void run(const std::string& key, const std::function<void()>& work) override {
    if (!replays_) return work();
    recordings_.run(key, work);
  }

  void forget() override {
    c10::cuda::getCurrentCUDAStream().synchronize();
    recordings_.forget();
    pool_.reset();
  }

  // LibTorch keeps the memory of the pinned vector until the copy is made.
  void write(const std::vector<double>& numbers, const at::Tensor& vector) override {
    vector.copy_(at::tensor(numbers, at::kDouble).pin_memory(), /*non_blocking=*/true);
  }

  std::unique_ptr<HostRead> read(const at::Tensor& vector) override { return std::make_unique<CudaRead>(vector); }

  std::vector<std::string> take_notes() override { return recordings_.take_notes(); }

 private:
  // Loaders and other threads may call CUDA during the capture.
  std::unique_ptr<Recording> capture(const std::function<void()>& work) {
    if (!pool_) pool_ = at::cuda::graph_pool_handle();
    auto recording = std::make_unique<CudaGraph>();
    at::cuda::CUDAGraph& graph = recording->graph();
    c10::cuda::getCurrentCUDAStream().synchronize();
    try {
      graph.capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
      work();
      graph.capture_end();
    } catch (const std::exception&) {
      leave(graph);
      throw;
    }
    return recording;
  }

  static void leave(at::cuda::CUDAGraph& graph) noexcept {
    try {
      graph.capture_end();
    } catch (const std::exception&) {  // the capture is invalid, which is known
    }
    cudaGetLastError();  // forgets the error of the capture
  }

  bool replays_;
  c10::cuda::CUDAStreamGuard on_stream_;
  std::optional<at::cuda::MempoolId_t> pool_;  // the graphs share memory, because they never run at once
  Recordings recordings_;
};

}  // namespace

std::unique_ptr<StepExecutor> make_cuda_executor(c10::Device device, bool replays) {
  return std::make_unique<CudaExecutor>(device, replays);
}

}  // namespace cachet::train
