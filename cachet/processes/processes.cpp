#include "cachet/processes/processes.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cachet::processes {
namespace {

// A leader that evaluates for days is not gone: one that is gone ends its connections.
constexpr std::chrono::milliseconds kAsLongAsItTakes = std::chrono::hours(24 * 365);

constexpr size_t kMostReason = 2000;  // bytes of a message that another process left

std::string failure_key(int64_t rank) { return "failure/" + std::to_string(rank); }

at::Tensor byte_tensor(const std::string& bytes, int64_t size) {
  at::Tensor tensor = at::zeros({size}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr(), bytes.data(), std::min(bytes.size(), static_cast<size_t>(size)));
  return tensor;
}

std::string text_of(const at::Tensor& bytes, int64_t size) {
  return {static_cast<const char*>(bytes.const_data_ptr()), static_cast<size_t>(size)};
}

c10d::BroadcastOptions of_leader() {
  c10d::BroadcastOptions options;
  options.rootRank = 0;
  options.timeout = kAsLongAsItTakes;
  return options;
}

}  // namespace

struct Processes::Links {
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::Backend> backend;
};

Processes::Processes(const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend)
    : links_(std::make_unique<Links>(Links{store, backend})),
      rank_(backend->getRank()),
      size_(backend->getSize()),
      through_host_(backend->getBackendName() == "gloo") {}

Processes::~Processes() = default;

template <class Call>
void Processes::together(const char* what, const Call& call) {
  const at::NoGradGuard no_grad;
  try {
    call();
  } catch (const std::exception& error) {
    throw ProcessLost(why_lost(what, error.what()));
  }
}

void Processes::add(at::Tensor& sums) {
  if (size_ == 1 || sums.numel() == 0) return;
  together("adding sums up", [&] {
    at::Tensor moved = through_host_ ? sums.cpu().contiguous() : sums.contiguous();
    std::vector<at::Tensor> tensors{moved};
    links_->backend->allreduce(tensors)->wait();
    if (!moved.is_same(sums)) sums.copy_(moved);
  });
}

int64_t Processes::from_leader(int64_t word) {
  at::Tensor said = at::full({1}, word, at::kLong);
  together("waiting for what is next", [&] {
    std::vector<at::Tensor> tensors{said};
    links_->backend->broadcast(tensors, of_leader())->wait();
  });
  return *said.const_data_ptr<int64_t>();
}

std::string Processes::from_leader(const std::string& text) {
  const int64_t size = from_leader(static_cast<int64_t>(text.size()));
  if (size == 0) return {};
  const at::Tensor bytes = byte_tensor(leads() ? text : std::string(), size);
  together("waiting for what is next", [&] {
    std::vector<at::Tensor> tensors{bytes};
    links_->backend->broadcast(tensors, of_leader())->wait();
  });
  return text_of(bytes, size);
}

std::vector<std::string> Processes::to_leader(const std::string& bytes) {
  at::Tensor sizes = at::zeros({size_}, at::kLong);
  sizes.mutable_data_ptr<int64_t>()[rank_] = static_cast<int64_t>(bytes.size());
  add(sizes);
  const int64_t* size = sizes.const_data_ptr<int64_t>();
  const int64_t most = *std::max_element(size, size + size_);
  std::vector<std::vector<at::Tensor>> outputs;
  if (leads()) {
    outputs.emplace_back();
    for (int64_t rank = 0; rank < size_; ++rank) outputs.back().push_back(at::empty({most}, at::kByte));
  }
  if (most > 0) {
    together("gathering what each has", [&] {
      std::vector<at::Tensor> inputs{byte_tensor(bytes, most)};
      links_->backend->gather(outputs, inputs, c10d::GatherOptions{})->wait();
    });
  }
  std::vector<std::string> all;
  if (leads())
    for (int64_t rank = 0; rank < size_; ++rank)
      all.push_back(text_of(outputs[0][static_cast<size_t>(rank)], size[rank]));
  return all;
}

void Processes::tell_failure(const std::string& why) noexcept {
  try {
    const std::string said = why.substr(0, kMostReason);
    links_->store->set(failure_key(rank_), std::vector<uint8_t>(said.begin(), said.end()));
  } catch (...) {  // the store is gone with the leader
  }
}

std::string Processes::why_lost(const char* what, const std::string& cause) const {
  // One that fails says so before it goes, and those that it leaves may ask before that has arrived.
  constexpr int kLooks = 10;
  try {
    for (int look = 0; look < kLooks; ++look) {
      for (int64_t rank = 0; rank < size_; ++rank) {
        if (rank == rank_ || !links_->store->check({failure_key(rank)})) continue;
        const std::vector<uint8_t> said = links_->store->get(failure_key(rank));
        return "process " + std::to_string(rank) + " failed: " + std::string(said.begin(), said.end());
      }
      if (auto fate = fate_()) return *fate;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  } catch (const std::exception&) {  // of a store that went with the leader
    return "process 0, which leads, is gone (" + std::string(what) + ")";
  }
  const bool late = cause.find("imed out") != std::string::npos;
  return std::string(late ? "another process did not answer in time" : "another process is gone") + " (" + what + ")";
}

}  // namespace cachet::processes
