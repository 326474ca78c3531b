#include "cachet/deploy/openvino/conversion.h"

#include <torch/csrc/jit/ir/ir.h>

#include <openvino/frontend/pytorch/frontend.hpp>

#include "cachet/deploy/openvino/graph_decoder.h"
#include "cachet/deploy/openvino/known_faults.h"
#include "cachet/deploy/openvino/openvino_problem.h"
#include "cachet/runtime/openvino/openvino_core.h"

namespace cachet::deploy {

std::shared_ptr<ov::Model> convert_to_openvino(const PortableModel& portable) {
  return told_by_openvino([&] {
    const std::shared_ptr<torch::jit::Graph> graph = portable.graph->copy();
    replace_computed_narrows(*graph);
    ov::frontend::pytorch::FrontEnd reader;
    const std::shared_ptr<ov::frontend::pytorch::TorchDecoder> decoder = decode_graph(graph);
    std::shared_ptr<ov::Model> model =
        reader.convert(reader.load(std::static_pointer_cast<ov::frontend::IDecoder>(decoder)));
    for (size_t i = 0; i < portable.inputs.size(); ++i) {
      const runtime::ExportedInput& input = portable.inputs[i];
      const auto& parameter = model->get_parameters().at(i);
      parameter->set_element_type(runtime::element_type(input.element));
      parameter->set_partial_shape(
          ov::PartialShape(std::vector<ov::Dimension>(input.shape.begin(), input.shape.end())));
      parameter->set_friendly_name(input.name);
      parameter->output(0).set_names({input.name});
    }
    model->output(0).set_names({"scores"});
    replace_slices_before_gathers(model);
    replace_boolean_attention_masks(model);
    model->validate_nodes_and_infer_types();
    return model;
  });
}

}  // namespace cachet::deploy
