#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/safetensors/safetensors.h"

namespace cachet::peers {

/// The main function of a program `PROGRAM CASES.json TENSORS.safetensors RESULTS.safetensors`: computes each case of a
/// JSON list. Tensor i of the results is that of case i.
inline int run_cases(
    int argc, char** argv,
    const std::function<at::Tensor(const nlohmann::json& options, const io::TensorMap& tensors)>& compute) {
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " CASES.json TENSORS.safetensors RESULTS.safetensors\n";
    return 2;
  }
  try {
    const auto cases = nlohmann::json::parse(io::read_text_file(argv[1], uint64_t{1} << 30));
    const io::TensorMap tensors = io::read_safetensors(argv[2]).tensors;
    io::TensorMap results;
    for (size_t i = 0; i < cases.size(); ++i) results[std::to_string(i)] = compute(cases[i], tensors).contiguous();
    io::write_safetensors(argv[3], results);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace cachet::peers
