#include "cachet/train/step/cuda/cuda_executor.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <optional>
#include <utility>

#include "cachet/train/machine/error_message.h"

namespace cachet::train {
namespace {

constexpr size_t kMaxGraphs = 16;

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

class CudaExecutor final : public StepExecutor {
 public:
  CudaExecutor(c10::Device device, bool replays)
      : replays_(replays), on_stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}

  ~CudaExecutor() override {
    try {
      c10::cuda::getCurrentCUDAStream().synchronize();
    } catch (const c10::Error&) {  // an error of earlier work, which was reported where its results were read
    }
  }

  void run(const std::string& key, const std::function<void()>& work) override {
    if (!replays_) return work();
    Recording& recording = recordings_[key];
    if (recording.graph) return recording.graph->replay();
    const bool is_new = !std::exchange(recording.has_run, true);
    if (is_new || recording.runs_directly) return work();
    if (graphs_ == kMaxGraphs) {
      recording.runs_directly = true;
      notes_.push_back("there are already " + std::to_string(kMaxGraphs) +
                       " CUDA graphs, so steps of further shapes run without a graph");
      return work();
    }
    capture(recording, work);
  }

  void forget() override {
    c10::cuda::getCurrentCUDAStream().synchronize();
    recordings_.clear();
    graphs_ = 0;
    pool_.reset();
  }

  // LibTorch keeps the memory of the pinned vector until the copy is made.
  void write(const std::vector<double>& numbers, const at::Tensor& vector) override {
    vector.copy_(at::tensor(numbers, at::kDouble).pin_memory(), /*non_blocking=*/true);
  }

  std::unique_ptr<HostRead> read(const at::Tensor& vector) override { return std::make_unique<CudaRead>(vector); }

  std::vector<std::string> take_notes() override { return std::exchange(notes_, {}); }

 private:
  struct Recording {
    std::unique_ptr<at::cuda::CUDAGraph> graph;
    bool has_run = false;
    bool runs_directly = false;
  };

  // Loaders and other threads may call CUDA during the capture.
  void capture(Recording& recording, const std::function<void()>& work) {
    if (!pool_) pool_ = at::cuda::graph_pool_handle();
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    c10::cuda::getCurrentCUDAStream().synchronize();
    try {
      graph->capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
      work();
      graph->capture_end();
    } catch (const std::exception& error) {
      leave(*graph);
      recording.runs_directly = true;
      notes_.push_back("a step runs without a CUDA graph, because its capture failed: " + error_message(error));
      return work();
    }
    graph->replay();
    recording.graph = std::move(graph);
    ++graphs_;
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
  std::map<std::string, Recording> recordings_;
  std::optional<at::cuda::MempoolId_t> pool_;  // the graphs share memory, because they never run at once
  size_t graphs_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<StepExecutor> make_cuda_executor(c10::Device device, bool replays) {
  return std::make_unique<CudaExecutor>(device, replays);
}

}  // namespace cachet::train
