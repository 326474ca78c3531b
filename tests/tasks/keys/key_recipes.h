#pragma once

#include <string>

namespace cachet::test {

// Recipes of one step for the readers of models. Each has a tiny model. FOLDER stands for the folder of its data.

std::string vit_recipe(const std::string& name);
std::string pvt_recipe(const std::string& name);
std::string swin_recipe();
std::string t2t_recipe(const std::string& name);
std::string sequence_recipe(const std::string& data, const std::string& model);
std::string corpus_recipe(const std::string& model);
std::string pair_recipe(const std::string& vocabulary);
std::string retinanet_recipe();
std::string mask_rcnn_recipe();
std::string faster_rcnn_swin_recipe();

}  // namespace cachet::test
