#include "cachet/io/images/image_metadata.h"

#include <gtest/gtest.h>

#include "tests/support/exif.h"

namespace cachet::io {
namespace {

using namespace std::string_literals;

ImageMetadata metadata_of(const std::string& file) { return image_metadata(std::as_bytes(std::span(file))); }

// Without checksums, which are not checked before the file is decoded.
std::string png_with(const std::string& type, const std::string& content) {
  return "\x89PNG\r\n\x1A\n\0\0\0\3tEXta\0b----\0\0\0"s + static_cast<char>(content.size()) + type + content +
         "----\0\0\0\0IEND----"s;
}

TEST(ImageMetadata, HasTheOrientationOfJpegAndPng) {
  const std::string file = test::jpeg_file(8, 8);
  for (uint8_t orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      EXPECT_EQ(metadata_of(test::with_exif(file, orientation, big_endian)).orientation, orientation);
      EXPECT_EQ(metadata_of(png_with("eXIf", test::exif_block(orientation, big_endian))).orientation, orientation);
    }
  }
  EXPECT_EQ(metadata_of(file).orientation, 1);
  EXPECT_EQ(metadata_of(png_with("tIME", "1234567")).orientation, 1);
  for (const char* other : {"", "\xFF\xD8", "\x89PNG\r\n\x1A\n", "GIF89a"})
    EXPECT_EQ(metadata_of(other).orientation, 1);
}

TEST(ImageMetadata, TakesTheFirstBlockWhereverItStands) {
  const std::string file = test::jpeg_file(8, 8);
  const std::string xmp = test::jpeg_segment(0xE1, "http://ns.adobe.com/xap/1.0/\0<x/>"s);
  EXPECT_EQ(metadata_of(test::inserted_before(test::with_exif(test::with_exif(file, 3), 6), 0xE1, xmp)).orientation, 6);
  EXPECT_EQ(metadata_of(test::with_exif(file.substr(0, 2) + "junk" + file.substr(2), 5)).orientation, 5);
  const std::string block = test::jpeg_segment(0xE1, "Exif\0\0"s + test::exif_block(8));
  EXPECT_EQ(metadata_of(file.substr(0, 2) + "junk\xFF\0\xFF\xFF\xD0"s + block + file.substr(2)).orientation, 8);
  EXPECT_EQ(metadata_of(file + block).orientation, 1) << "after the pixels";
}

TEST(ImageMetadata, OfADamagedBlockIsNone) {
  const std::string file = test::jpeg_file(8, 8);
  const auto orientation_of = [&](const std::string& block) {
    const int of_png = metadata_of(png_with("eXIf", block)).orientation;
    EXPECT_EQ(
        metadata_of(file.substr(0, 2) + test::jpeg_segment(0xE1, "Exif\0\0"s + block) + file.substr(2)).orientation,
        of_png);
    return of_png;
  };
  const std::string block = test::exif_block(6);
  ASSERT_EQ(orientation_of(block), 6);
  for (size_t size = 0; size < 34; ++size) EXPECT_EQ(orientation_of(block.substr(0, size)), 1) << size;
  EXPECT_EQ(orientation_of(test::exif_block(0)), 1);
  EXPECT_EQ(orientation_of(test::exif_block(9)), 1);
  const auto with = [&](size_t at, const std::string& bytes) {
    return std::string(block).replace(at, bytes.size(), bytes);
  };
  EXPECT_EQ(orientation_of(with(0, "XX")), 1);
  EXPECT_EQ(orientation_of(with(4, "\xFF\xFF\xFF\xFF")), 1) << "a directory beyond the block";
  EXPECT_EQ(orientation_of(with(8, "\xFF\xFF")), 6) << "more entries than there are";
  EXPECT_EQ(orientation_of(with(24, "\2")), 1) << "a text";
  EXPECT_EQ(orientation_of(with(24, "\4")), 6) << "a number of 32 bits";
}

TEST(ImageMetadata, KnowsMpoPhotographs) {
  const std::string file = test::jpeg_file(8, 8);
  EXPECT_FALSE(metadata_of(file).has_more_pictures);
  EXPECT_TRUE(
      metadata_of(file.substr(0, 2) + test::jpeg_segment(0xE2, "MPF\0II*\0"s) + file.substr(2)).has_more_pictures);
  EXPECT_FALSE(
      metadata_of(file.substr(0, 2) + test::jpeg_segment(0xE2, "ICC_PROFILE\0"s) + file.substr(2)).has_more_pictures);
}

}  // namespace
}  // namespace cachet::io
