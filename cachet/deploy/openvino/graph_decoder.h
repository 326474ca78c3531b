#pragma once

#include <memory>
#include <openvino/frontend/pytorch/decoder.hpp>

namespace torch::jit {
struct Graph;
}

namespace cachet::deploy {

/// Returns a traced graph in the form that OpenVINO's reader of such graphs needs. The constants of the resulting model
/// use the memory of the graph's tensors.
std::shared_ptr<ov::frontend::pytorch::TorchDecoder> decode_graph(std::shared_ptr<torch::jit::Graph> graph);

}  // namespace cachet::deploy
