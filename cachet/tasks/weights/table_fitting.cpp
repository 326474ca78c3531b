#include "cachet/tasks/weights/table_fitting.h"

#include <cmath>

#include "cachet/models/vision/position_table.h"
#include "cachet/nn/attention/relative_position_bias.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kMaxClassTokens = 2;  // a class token and DeiT's distillation token

int64_t whole_root(int64_t square) { return std::llround(std::sqrt(static_cast<double>(square))); }

/// The grid of so many tokens with the image's proportions; none: no tokens.
nn::Grid grid_of(int64_t tokens, const models::ImageShape& image) {
  const int64_t rows = whole_root(tokens * image.height / image.width);
  const bool fits = rows > 0 && tokens % rows == 0 && rows * image.width == tokens / rows * image.height;
  return fits ? nn::Grid{rows, tokens / rows} : nn::Grid{0, 0};
}

/// The grid that a table of so many tokens was made for.
nn::Grid grid_before(int64_t tokens, const models::ImageShape& image, const std::optional<models::ImageShape>& before) {
  if (before) return grid_of(tokens, *before);
  const nn::Grid square = grid_of(tokens, {.height = 1, .width = 1});
  return square.tokens() > 0 ? square : grid_of(tokens, image);
}

std::optional<at::Tensor> fit_grid(const at::Tensor& table, at::IntArrayRef shape, const models::ImageShape& image,
                                   const std::optional<models::ImageShape>& before) {
  if (table.dim() != 3 || shape.size() != 3 || table.size(0) != 1 || table.size(2) != shape[2]) return std::nullopt;
  for (int64_t class_tokens = 0; class_tokens <= kMaxClassTokens; ++class_tokens) {
    const nn::Grid from = grid_before(table.size(1) - class_tokens, image, before);
    const nn::Grid to = grid_of(shape[1] - class_tokens, image);
    if (from.tokens() > 0 && to.tokens() > 0)
      return models::resize_position_table(table.to(at::kFloat), class_tokens, from, to, models::Resampling::bicubic)
          .to(table.scalar_type());
  }
  return std::nullopt;
}

std::optional<at::Tensor> fit_window(const at::Tensor& table, at::IntArrayRef shape) {
  if (table.dim() != 2 || shape.size() != 2 || table.size(1) != shape[1]) return std::nullopt;
  const int64_t from = whole_root(table.size(0)), to = whole_root(shape[0]);
  if (from * from != table.size(0) || to * to != shape[0] || from % 2 == 0 || to % 2 == 0) return std::nullopt;
  const auto window = [](int64_t offsets) { return nn::Grid{(offsets + 1) / 2, (offsets + 1) / 2}; };
  return nn::resize_relative_table(table.to(at::kFloat), window(from), window(to)).to(table.scalar_type());
}

}  // namespace

std::optional<at::Tensor> fit_position_table(const std::string& name, const at::Tensor& table, at::IntArrayRef shape,
                                             const models::ImageShape& image,
                                             const std::optional<models::ImageShape>& before) {
  if (!table.is_floating_point()) return std::nullopt;
  if (name.ends_with("relative_position_bias_table")) return fit_window(table, shape);
  if (name.ends_with("pos_embed")) return fit_grid(table, shape, image, before);
  return std::nullopt;
}

}  // namespace cachet::tasks
