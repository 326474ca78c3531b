// Steps of an image classifier on one synthetic batch that stays on the device, as a run takes them: on a CUDA device
// as a CUDA graph. benchmarks/gpu/measure.py starts the program:
//   classifier_steps_benchmark MODE PRECISION BATCH DEVICE GRAPH NAME=VALUE...
// MODE is train, infer or folded (infer, after deploy::rewrite). PRECISION is fp32, bf16 (in training autocast, else
// the type of the weights) or fp16 (not in training). GRAPH is on or off. NAME=VALUE are keys of the model's table. The
// program prints "ready" and a line for each command that comes in:
//   load SOURCE WEIGHTS INPUTS        reads weights with the names of a code base (io::NameSource), images and labels
//   save WEIGHTS INPUTS               writes weights with Cachet's names, images and labels
//   write STEPS FILE                  takes steps with a learning rate near 0; writes logits and gradients of the last
//   one compare STEPS SOURCE FILE         the same; prints ‖ours − theirs‖ / ‖theirs‖ of the logits, and of all
//   gradients time SECONDS                      prints the milliseconds of a step profile STEPS prints graph launches
//   and kernel launches per step, and the busy fraction of the GPU
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "benchmarks/gpu/profiled.h"
#include "cachet/config/document.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/io/tensors/names/name_source.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/registry.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/nn/base/not_replayable.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/live_run.h"
#include "cachet/train/step/step_graphs.h"
#include "cachet/train/training_task.h"

namespace cachet::benchmarks {
namespace {

using at::Tensor;
using models::ImageClassifier;

struct Arguments {
  std::string mode, precision, device, graph;
  int64_t batch = 1;
  std::vector<std::string> settings;

  bool trains() const { return mode == "train"; }
};

/// A batch, and the logits of the last forward pass, at fixed addresses.
struct Batch {
  Tensor images, labels, logits;
};

class SyntheticBatches : public train::TrainingBatches {
 public:
  SyntheticBatches(ImageClassifier& model, Batch& batch) : model_(model), batch_(batch) {}

  bool fetch() override { return true; }
  std::optional<train::PreparedBatch> prepared() override {
    train::PreparedBatch prepared;
    prepared.tensors = {&batch_.images, &batch_.labels};
    prepared.samples = batch_.images.size(0);
    prepared.weight = static_cast<double>(prepared.samples);
    return prepared;
  }
  train::ForwardResult forward() override {
    const Tensor logits = model_.forward(batch_.images);
    {
      const at::NoGradGuard no_grad;
      batch_.logits.copy_(logits);
    }
    train::ForwardResult result;
    result.loss = at::cross_entropy_loss(logits, batch_.labels, {}, at::Reduction::Sum);
    result.samples = batch_.images.size(0);
    result.weight = static_cast<double>(result.samples);
    return result;
  }

 private:
  ImageClassifier& model_;
  Batch& batch_;
};

class SyntheticTask : public train::TrainingTask {
 public:
  SyntheticTask(std::shared_ptr<ImageClassifier> model, Batch& batch) : model_(std::move(model)), batch_(batch) {}

  torch::nn::Module& model() override { return *model_; }
  train::RunDescription describe() override { return {}; }
  int64_t batches_per_epoch() const override { return 1'000'000'000; }
  std::unique_ptr<train::TrainingBatches> training_batches(int64_t, int64_t) override {
    return std::make_unique<SyntheticBatches>(*model_, batch_);
  }
  std::optional<std::string> why_not_replayed() override { return nn::why_not_replayed(*model_); }
  int64_t evaluation_size() const override { return 0; }
  train::Metrics evaluate(const train::EvaluationProgress&) override { return {}; }

 private:
  std::shared_ptr<ImageClassifier> model_;
  Batch& batch_;
};

/// With a learning rate that changes no weight, so that any number of steps has the gradients of the first one.
train::Options options_of(const Arguments& arguments) {
  config::Document document = config::Document::from_text("", "options");
  document.set("train.epochs=1");
  document.set("train.batch_size=" + std::to_string(arguments.batch));
  document.set("train.precision=" + std::string(arguments.trains() ? arguments.precision : "fp32"));
  document.set("train.device=" + arguments.device);
  document.set("train.graph=" + std::string(arguments.graph == "on" ? "auto" : "off"));
  document.set("train.threads=" + std::to_string(at::get_num_threads()));
  document.set("optimizer.kind=adamw");
  document.set("optimizer.lr=1e-30");
  document.set("schedule.kind=constant");
  const train::Options options = train::read_options(document.root());
  document.finish();
  return options;
}

std::shared_ptr<ImageClassifier> made(const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_text("", "model");
  for (const std::string& setting : settings) document.set("model." + setting);
  const auto plan = models::read_image_classifier(document.root().table("model"));
  document.finish();
  return plan.build();
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(9);
  text << value;
  return text.str();
}

/// Steps of training or inference on one device.
class Steps {
 public:
  explicit Steps(Arguments arguments)
      : arguments_(std::move(arguments)), options_(options_of(arguments_)), model_(made(arguments_.settings)) {
    train::prepare_process(options_.train);
    device_ = train::find_device(options_.train.device);
    const auto shape = model_->image_shape();
    set_batch(at::randn({arguments_.batch, shape.channels, shape.height, shape.width}),
              at::randint(model_->classes(), {arguments_.batch}, at::kLong));
  }

  void load(const std::string& source, const std::string& weights, const std::string& inputs) {
    if (begun_) throw std::runtime_error("load comes before the first step");
    io::load_state_dict(*model_, ours(source, weights));
    const io::TensorMap read = io::read_safetensors(inputs).tensors;
    set_batch(read.at("images"), read.at("labels"));
  }

  void save(const std::string& weights, const std::string& inputs) const {
    io::write_safetensors(weights, io::state_dict(*model_));
    io::write_safetensors(inputs, {{"images", batch_.images.cpu()}, {"labels", batch_.labels.cpu()}});
  }

  /// Logits, and in training the gradients with Cachet's names, after so many steps.
  io::TensorMap results(int64_t steps) {
    begin();
    for (int64_t i = 0; i < steps; ++i) launch();
    settle();
    io::TensorMap found{{kLogits, batch_.logits.to(at::kFloat).cpu().clone()}};
    if (arguments_.trains())
      for (const io::NamedTensor& parameter : io::distinct_parameters(*model_))
        if (const Tensor gradient = parameter.tensor.grad(); gradient.defined())
          found[parameter.name()] = gradient.to(at::kFloat).cpu().clone();
    return found;
  }

  std::string compared(int64_t steps, const std::string& source, const std::string& file) {
    io::TensorMap theirs = ours(source, file);
    const io::TensorMap found = results(steps);
    double difference = 0, norm = 0, logits = 0;
    size_t count = 0;
    for (const auto& [name, tensor] : found) {
      const auto other = theirs.find(name);
      if (other == theirs.end()) throw std::runtime_error(file + " has no tensor " + name);
      const Tensor expected = other->second.to(at::kDouble).reshape(tensor.sizes());
      const auto apart = (tensor.to(at::kDouble) - expected).square().sum().item<double>();
      const auto square = expected.square().sum().item<double>();
      if (name == kLogits) {
        logits = std::sqrt(apart / square);
      } else {
        difference += apart;
        norm += square;
        ++count;
      }
    }
    return "logits " + number(logits) + " gradients " + number(count > 0 ? std::sqrt(difference / norm) : 0) +
           " tensors " + std::to_string(count);
  }

  /// Milliseconds of a step. The steps before the measurement capture the graph.
  double time(double seconds) {
    begin();
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    int64_t steps = 0;
    double end = 0;
    do {  // the host reads nothing between the steps of a group, as in a run
      for (int i = 0; i < group_; ++i) launch();
      settle();
      steps += group_;
      end = passed();
    } while (end < seconds);
    group_ = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(steps) * 0.2 / end));
    return 1e3 * end / static_cast<double>(steps);
  }

  std::string profile(int64_t steps) {
    begin();
    const GpuWork work = profiled([&] {
      for (int64_t i = 0; i < steps; ++i) launch();
      settle();
    });
    const auto per_step = [&](int64_t count) {
      return number(static_cast<double>(count) / static_cast<double>(steps));
    };
    return "graphs " + per_step(work.graph_launches) + " kernels " + per_step(work.kernel_launches) + " busy " +
           number(work.span_ms > 0 ? work.busy_ms / work.span_ms : 0);
  }

  /// How the steps run: the note of a run's log, or nothing.
  std::string note() {
    if (!live_) return note_;
    for (const std::string& line : live_->take_step_notes()) note_ += (note_.empty() ? "" : "; ") + line;
    return note_;
  }

 private:
  static constexpr const char* kLogits = "logits";

  static io::TensorMap ours(const std::string& source, const std::string& file) {
    io::TensorMap theirs = io::read_safetensors(file).tensors;
    const auto logits = theirs.extract(kLogits);
    io::TensorMap converted = io::to_our_names(io::name_source(source).value(), theirs);
    if (!logits.empty()) converted[kLogits] = logits.mapped();
    return converted;
  }

  void set_batch(const Tensor& images, const Tensor& labels) {
    batch_.images = images.to(device_).contiguous();
    batch_.labels = labels.to(device_);
    batch_.logits = at::zeros({images.size(0), model_->classes()}, batch_.images.options());
  }

  /// Makes the run or the executor at the first step.
  void begin() {
    if (begun_) return;
    begun_ = true;
    model_->train(arguments_.trains());
    nn::settle_warmups(*model_, 0);  // as in the middle of a run
    task_ = std::make_unique<SyntheticTask>(model_, batch_);
    if (arguments_.mode == "folded") deploy::rewrite(*model_);
    if (arguments_.precision == "fp16" || (arguments_.precision == "bf16" && !arguments_.trains())) {
      const auto type = arguments_.precision == "fp16" ? at::kHalf : at::kBFloat16;
      model_->to(type);
      batch_.images = batch_.images.to(type);
    }
    train::place(*model_, device_);
    if (arguments_.trains()) {
      // The CPU has no graphs, but takes the same steps.
      live_.emplace(*task_, options_, nullptr, device_.is_cpu() ? train::make_direct_executor() : nullptr);
    } else {
      const train::GraphPlan plan = train::graph_plan(*task_, options_, device_, 1);
      note_ = plan.note;
      executor_ = train::make_executor(plan, options_, device_);
      if (!executor_) executor_ = train::make_direct_executor();
      numbers_ = at::zeros({1}, at::TensorOptions(at::kDouble).device(device_));
    }
    for (int i = 0; i < 4; ++i) launch();
    settle();
  }

  void launch() {
    if (live_) {
      live_->advance();
      return;
    }
    const at::NoGradGuard no_grad;
    executor_->run("inference", [&] { batch_.logits.copy_(model_->forward(batch_.images)); });
  }

  void settle() {
    if (live_)
      live_->settle();
    else
      executor_->read(numbers_)->wait();
  }

  Arguments arguments_;
  train::Options options_;
  std::shared_ptr<ImageClassifier> model_;
  c10::Device device_ = c10::kCPU;
  Batch batch_;
  std::unique_ptr<SyntheticTask> task_;
  std::optional<train::LiveRun> live_;             // in training
  std::unique_ptr<train::StepExecutor> executor_;  // at inference
  Tensor numbers_;                                 // read after the last step, to wait for it
  std::string note_;
  int64_t group_ = 1;
  bool begun_ = false;
};

std::string answer(Steps& steps, const std::string& line) {
  std::istringstream words(line);
  std::string command, source, first, second;
  words >> command;
  if (command == "load" && words >> source >> first >> second) {
    steps.load(source, first, second);
    return "loaded";
  }
  if (command == "save" && words >> first >> second) {
    steps.save(first, second);
    return "saved";
  }
  int64_t count = 0;
  double seconds = 0;
  if (command == "write" && words >> count >> first) {
    io::write_safetensors(first, steps.results(count));
    return "written";
  }
  if (command == "compare" && words >> count >> source >> first) return steps.compared(count, source, first);
  if (command == "time" && words >> seconds) return number(steps.time(seconds));
  if (command == "profile" && words >> count) return steps.profile(count);
  if (command == "note") return steps.note();
  throw std::runtime_error("an unknown command: " + line);
}

/// The message of an error in one line.
std::string one_line(const std::exception& error) {
  std::string message = train::error_message(error).substr(0, 600);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 6) {
    std::cerr << "usage: classifier_steps_benchmark MODE PRECISION BATCH DEVICE GRAPH NAME=VALUE...\n";
    return 2;
  }
  std::optional<Steps> steps;
  try {
    steps.emplace(Arguments{.mode = words[0],
                            .precision = words[1],
                            .device = words[3],
                            .graph = words[4],
                            .batch = std::stoll(words[2]),
                            .settings = {words.begin() + 5, words.end()}});
  } catch (const std::exception& error) {
    std::cout << one_line(error) << std::endl;
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << answer(*steps, line) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error " << one_line(error) << std::endl;
    }
  }
  return 0;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** words) { return cachet::benchmarks::run({words + 1, words + count}); }
