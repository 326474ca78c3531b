#include "cachet/train/profile/profiler.h"

#include <ATen/record_function.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Logging.h>
#include <kineto/ActivityType.h>
#include <stdlib.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"

namespace cachet::train {
namespace {

namespace kineto = torch::autograd::profiler;
namespace settings = torch::profiler::impl;
using libkineto::ActivityType;

constexpr const char* kWindow = "cachet: profiled steps";
constexpr const char* kMemoryEvent = "[memory]";
constexpr uint64_t kMaxTraceBytes = uint64_t{1} << 33;

void wait_for_work_of(c10::Device device) {
  if (!device.is_cpu()) c10::impl::getDeviceGuardImpl(device.type())->synchronizeDevice(device.index());
}

bool is_kernel(const kineto::KinetoEvent& event) {
  const auto type = static_cast<ActivityType>(event.activityType());
  return type == ActivityType::CONCURRENT_KERNEL || type == ActivityType::GPU_MEMCPY ||
         type == ActivityType::GPU_MEMSET;
}

bool is_call(const kineto::KinetoEvent& event) {
  return static_cast<ActivityType>(event.activityType()) == ActivityType::CPU_OP;
}

Activity activity_of(const kineto::KinetoEvent& event, int64_t timeline) {
  return {event.name(), static_cast<int64_t>(event.startNs()), static_cast<int64_t>(event.endNs()), timeline};
}

int64_t stream_of(const kineto::KinetoEvent& event) {
  constexpr int64_t kStreams = int64_t{1} << 32;
  return event.deviceIndex() * kStreams + event.deviceResourceId();
}

/// The largest growth of the CPU's tensors.
int64_t host_growth(const std::vector<kineto::KinetoEvent>& events) {
  std::vector<std::pair<uint64_t, int64_t>> changes;  // time, bytes
  for (const kineto::KinetoEvent& event : events)
    if (event.name() == kMemoryEvent && event.deviceType() == c10::DeviceType::CPU)
      changes.emplace_back(event.startNs(), event.nBytes());
  std::ranges::stable_sort(changes, {}, &std::pair<uint64_t, int64_t>::first);
  int64_t bytes = 0, most = 0;
  for (const auto& [time, change] : changes) {
    bytes += change;
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

struct ProfileRecording::Trace {
  std::unique_ptr<kineto::ProfilerResult> result;
};

/// The profiler warns of tensors that existed before it, so warnings of LibTorch are switched off.
struct Profiler::State {
  explicit State(c10::Device device) : device(device), log_level_before(FLAGS_caffe2_log_level) {
    FLAGS_caffe2_log_level = std::max(log_level_before, kErrors);
  }
  ~State() { FLAGS_caffe2_log_level = log_level_before; }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static constexpr int kErrors = 2;
  c10::Device device;
  int log_level_before;
  std::optional<at::RecordFunction> window;
};

void silence_profiler() {
  constexpr const char* kNothing = "99";  // above all levels of messages
  setenv("KINETO_LOG_LEVEL", kNothing, /*overwrite=*/0);
}

Profiler::Profiler(c10::Device device) {
  if (settings::profilerEnabled())
    throw std::runtime_error("the steps cannot be profiled, because another profiler of LibTorch is running");
  silence_profiler();
  wait_for_work_of(device);
  const settings::ProfilerConfig config(settings::ProfilerState::KINETO, /*report_input_shapes=*/false,
                                        /*profile_memory=*/true);
  std::set<settings::ActivityType> activities{settings::ActivityType::CPU};
  if (device.is_cuda()) activities.insert(settings::ActivityType::CUDA);
  auto state = std::make_unique<State>(device);
  kineto::prepareProfiler(config, activities);
  kineto::enableProfiler(config, activities);
  state_ = std::move(state);
  state_->window.emplace(at::RecordScope::USER_SCOPE);
  if (state_->window->isActive()) state_->window->before(kWindow);
}

Profiler::~Profiler() {
  if (!state_) return;
  try {
    state_->window.reset();
    kineto::disableProfiler();
  } catch (...) {  // the exception that ends the steps is the one to report
  }
}

ProfileRecording Profiler::stop() {
  wait_for_work_of(state_->device);
  state_->window.reset();
  const std::unique_ptr<State> state = std::move(state_);
  ProfileRecording recording;
  recording.trace = std::make_shared<ProfileRecording::Trace>();
  recording.trace->result = kineto::disableProfiler();
  recording.kind = state->device.is_cpu() ? ActivityKind::operators : ActivityKind::kernels;
  const std::vector<kineto::KinetoEvent>& events = recording.trace->result->events();
  for (const kineto::KinetoEvent& event : events) {
    const std::string name = event.name();
    if (name == kWindow && !is_kernel(event) && event.deviceType() == c10::DeviceType::CPU) {
      recording.begin = static_cast<int64_t>(event.startNs());
      recording.end = static_cast<int64_t>(event.endNs());
    }
    if (name == "cudaGraphLaunch") ++recording.graph_launches;
    if (recording.kind == ActivityKind::operators && is_call(event))
      recording.activities.push_back(activity_of(event, static_cast<int64_t>(event.startThreadId())));
    if (recording.kind == ActivityKind::kernels && is_kernel(event))
      recording.activities.push_back(activity_of(event, stream_of(event)));
  }
  recording.host_bytes = host_growth(events);
  return recording;
}

void ProfileRecording::write_trace(const std::filesystem::path& path, io::FileSystem& file_system) const {
  const std::filesystem::path part = io::temporary_path(path);
  const io::Error not_written(path.string() + ": the trace cannot be written; choose a folder in which you can write");
  std::error_code unreadable;
  try {
    // LibTorch prints an error instead of throwing it, so an empty file is written first.
    io::write_file_atomically(part, std::string_view(), file_system);
  } catch (const io::Error&) {
    throw not_written;
  }
  try {
    trace->result->save(part.string());
    const std::string text = io::read_text_file(part, kMaxTraceBytes);
    if (text.empty()) throw not_written;
    io::write_file_atomically(path, text, file_system);
  } catch (...) {
    std::filesystem::remove(part, unreadable);
    throw;
  }
  std::filesystem::remove(part, unreadable);
}

}  // namespace cachet::train
