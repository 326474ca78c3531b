#include "cachet/data/vision/on_bad_image.h"

#include <array>

namespace cachet::data {
namespace {

constexpr std::array<config::Choice<OnBadImage>, 2> kOnBadImage{
    {{"stop", OnBadImage::stop}, {"skip", OnBadImage::skip}}};

}  // namespace

OnBadImage read_on_bad_image(const config::View& view) {
  return view.choice("on_bad_image", OnBadImage::stop, kOnBadImage);
}

std::shared_ptr<ImageNotes> skipped_images() { return std::make_shared<ImageNotes>("image skipped", "images skipped"); }

}  // namespace cachet::data
