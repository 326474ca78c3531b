#pragma once

#include <string>

namespace cachet::test {

// Recipes of one step for the readers of models. Each has a tiny model. FOLDER stands for the folder of its data.

std::string vit_recipe(const std::string& name);
std::string pvt_recipe(const std::string& name);
std::string swin_recipe(const std::string& name);
std::string t2t_recipe(const std::string& name);
std::string sequence_recipe(const std::string& data, const std::string& model);
std::string corpus_recipe(const std::string& model);
std::string pair_recipe(const std::string& vocabulary);
/// Of a name like "mask_rcnn_pvt_tiny_fpn" or "retinanet_swin_t_fpn".
std::string detector_recipe(const std::string& name);

}  // namespace cachet::test
