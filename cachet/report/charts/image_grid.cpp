#include "cachet/report/charts/image_grid.h"

#include <algorithm>
#include <cmath>

#include "cachet/report/format.h"

namespace cachet::report {
namespace {

constexpr size_t kMaxPictures = 256;

const char* class_of(PictureSize size) {
  switch (size) {
    case PictureSize::scenes:
      return "pictures scenes wide";
    case PictureSize::maps:
      return "pictures maps wide";
    case PictureSize::thumbnails:
      break;
  }
  return "pictures wide";
}

void draw_picture(Markup& html, const Picture& picture) {
  const bool right = picture.truth == picture.predicted;
  const std::string probability =
      std::isfinite(picture.probability) ? format_percent(picture.probability, 0) : std::string();
  const std::string address = image_address(picture.png);
  html.open("li", {{"class", right ? "picture is-right" : "picture is-wrong"}});
  if (address.empty()) {
    html.element("span", {{"class", "no-picture"}}, "no picture");
  } else {
    html.empty("img", {{"src", address}, {"alt", picture.truth}, {"loading", "lazy"}});
  }
  html.open("span", {{"class", "predicted"}});
  html.breakable(picture.predicted);
  if (!probability.empty()) html.raw(" ").element("small", {}, probability);
  html.close();
  if (!right) {
    html.open("span", {{"class", "truth"}});
    html.breakable("is " + picture.truth);
    html.close();
  }
  html.close();
}

}  // namespace

std::string base64(std::string_view bytes) {
  static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) -> uint32_t {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0;
    };
    const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += letters[group >> 18];
    text += letters[group >> 12 & 63];
    text += i + 1 < bytes.size() ? letters[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? letters[group & 63] : '=';
  }
  return text;
}

std::string image_address(std::string_view bytes) {
  const auto starts = [&](std::string_view magic) { return bytes.substr(0, magic.size()) == magic; };
  const char* type = starts("\x89PNG\r\n\x1a\n")                               ? "png"
                     : starts("\xFF\xD8\xFF")                                  ? "jpeg"
                     : starts("GIF8")                                          ? "gif"
                     : starts("RIFF") && bytes.substr(0, 12).ends_with("WEBP") ? "webp"
                                                                               : nullptr;
  return type ? std::string("data:image/") + type + ";base64," + base64(bytes) : "";
}

void draw(Markup& html, const ImageGrid& grid) {
  html.open("figure", {{"class", class_of(grid.size)}}).element("figcaption", {}, grid.title);
  if (grid.pictures.empty()) {
    html.paragraph("note", "None.");
  } else {
    html.open("ul");
    for (size_t i = 0; i < grid.pictures.size() && i < kMaxPictures; ++i) draw_picture(html, grid.pictures[i]);
    html.close();
  }
  if (!grid.note.empty()) html.paragraph("note", grid.note);
  html.close();
}

}  // namespace cachet::report
