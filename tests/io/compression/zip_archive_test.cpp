// One case of each way in which a zip archive can be unlike what torch.save writes.
#include "cachet/io/compression/zip_archive.h"

#include <gtest/gtest.h>

#include <functional>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/torch_archive.h"

namespace cachet::io {
namespace {

using test::u16;
using test::u32;
using test::u64;
using test::ZipEnd;
using test::ZipPart;

const ZipPart kPart{"a/one", "first"};

// Opens the archive and reads all of it.
void read_all(std::string_view file, const ZipLimits& limits = {}) {
  const MemorySource source(std::as_bytes(std::span(file)));
  const ZipArchive archive(source, "file.pth", limits);
  for (const ZipMember& member : archive.members()) {
    std::vector<std::byte> bytes(member.size);
    archive.read(member, bytes);
  }
}

struct BadZip {
  const char* why;
  std::string file, message;
};

ZipPart part_with(const std::function<void(ZipPart&)>& change) {
  ZipPart part{"a/two", "second"};
  change(part);
  return part;
}
std::string with(const std::function<void(ZipPart&)>& change) {
  return test::zip_archive({kPart, part_with(change), {"a/three", "third"}});
}
std::string ended(const ZipEnd& end) { return test::zip_archive({kPart}, end); }
std::string patched(std::string file, const std::string& from, const std::string& to) {
  return file.replace(file.find(from), from.size(), to);
}
std::string named_member(const std::string& name) {
  return with([&](ZipPart& part) { part.name = name; });
}

// Two entries for one member: the second lies about where its header is.
std::string shared_header() {
  ZipPart twin{"a/one", "first"};
  twin.offset = 0;
  return test::zip_archive({kPart, twin});
}

const std::vector<BadZip> kBadZips = {
    {"too short", "PK", "too short"},
    {"no directory", std::string(100, 'x'), "does not end with the directory"},
    {"truncated", ended({}).substr(0, 90), "does not end with the directory"},
    {"bytes after the end", ended({}) + "x", "does not end with the directory"},
    {"comment", ended({.comment = "hello"}), "does not end with the directory"},
    {"comment's length", ended({}).substr(0, ended({}).size() - 2) + u16(1), "comment after"},
    {"bytes before", ended({.before = "#!/bin/sh\n"}), "bytes before its first member"},
    {"no members", test::zip_archive({}), "is empty"},
    {"several volumes", ended({.disk = 1}), "several"},
    {"several volumes, zip64", ended({.locator_disks = u32(2)}), "several"},
    {"more members than entries", ended({.zip64 = false, .entries = 2}), "more members"},
    {"endless members", ended({.entries = uint16_t{0xFFFF}, .entries64 = uint64_t{1} << 60}), "the maximum is 100000"},
    {"fewer members than entries", test::zip_archive({kPart, {"a/two", "2"}}, {.zip64 = false, .entries = 1}),
     "after the last entry"},
    {"directory elsewhere", ended({.begin64 = 7, .says64 = true}), "must be at the end"},
    {"zip64 contradicts", ended({.entries64 = 2}), "contradicts the end record of its zip64"},
    {"zip64 begin contradicts", ended({.begin64 = 7}), "contradicts the end record of its zip64"},
    {"zip64 missing", ended({.zip64 = false, .says64 = true}), "needs an end record of its zip64 directory"},
    {"zip64 elsewhere", ended({.locator = 3}), "must be at the stated offset"},
    {"no zip64 there", patched(ended({}), "PK\x06\x06", "PK\x06\x05"), "must be at the stated offset"},
    {"zip64 of another volume", patched(ended({}), u16(45) + u32(0) + u32(0), u16(45) + u32(1) + u32(0)), "several"},
    {"bytes in the directory", ended({.behind_directory = "x"}), "must be at the end"},
    {"damaged directory", patched(ended({}), "PK\x01\x02", "PK\x01\x03"), "directory is damaged"},
    {"compressed", with([](ZipPart& part) { part.method = 8; }), "is compressed"},
    {"encrypted", with([](ZipPart& part) { part.flags |= 1; }), "is encrypted"},
    {"patched data", with([](ZipPart& part) { part.flags |= 1U << 5; }), "flags that torch.save does not set"},
    {"symbolic link", with([](ZipPart& part) { part.attributes = 0120777U << 16; }), "is a link"},
    {"folder by mode", with([](ZipPart& part) { part.attributes = 040755U << 16; }), "is a link"},
    {"folder", named_member("a/two/"), "is a folder"},
    {"leads out", named_member("a/../two"), "leads out"},
    {"ends outside", named_member("a/.."), "leads out"},
    {"absolute", named_member("/etc/passwd"), "leads out"},
    {"backslash", named_member("a\\two"), "backslash"},
    {"control character", named_member("a/t\nwo"), "control characters"},
    {"NUL", named_member(std::string("a/t\0wo", 6)), "control characters"},
    {"no name", named_member(""), "has no name"},
    {"long name", named_member(std::string(2000, 'n')), "has 2000 bytes"},
    {"same name twice", named_member("a/one"), "occurs twice"},
    {"same member twice", shared_header(), "overlaps"},
    {"another local name", with([](ZipPart& part) { part.local_name = "a/tvo"; }), "contradicts the directory"},
    {"longer local name", with([](ZipPart& part) { part.local_name = "a/two.py"; }), "contradicts the directory"},
    {"another local CRC", with([](ZipPart& part) { part.local_crc = 1; }), "contradicts the directory"},
    {"another CRC", with([](ZipPart& part) { part.flags = 0, part.crc = 1, part.local_crc = 1; }), "is damaged"},
    {"changed bytes", patched(with([](ZipPart&) {}), "second", "secand"), "is damaged"},
    {"two sizes", with([](ZipPart& part) { part.packed_size = 5; }), "compressed and uncompressed sizes differ"},
    {"shorter", with([](ZipPart& part) { part.size = 5; }), "do not belong to a member"},
    {"longer", with([](ZipPart& part) { part.size = 7; }), "do not belong to a member"},
    {"much longer", with([](ZipPart& part) { part.size = 40; }), "overlaps"},
    {"beyond the file", with([](ZipPart& part) { part.size = 0x7FFFFFFF; }), "before the directory"},
    {"header beyond the file", with([](ZipPart& part) { part.offset = 0x7FFFFFFF; }), "before the directory"},
    {"no header there", with([](ZipPart& part) { part.offset = 3; }), ""},
    {"sizes behind contradict",
     with([](ZipPart& part) { part.sizes_behind = "PK\x07\x08" + u32(1) + u32(6) + u32(6); }), "is followed by sizes"},
    {"no sizes behind", with([](ZipPart& part) { part.sizes_behind = ""; }), "do not belong to a member"},
    {"bytes of nobody", with([](ZipPart& part) { part.behind = "hidden"; }), "do not belong to a member"},
    {"bytes of nobody, sizes before", with([](ZipPart& part) { part.flags = 0, part.behind = "hidden"; }),
     "do not belong to a member"},
    {"entry's comment", with([](ZipPart& part) { part.comment = "hello"; }), "has a comment"},
    {"zip64 sizes missing", with([](ZipPart& part) { part.size = 0xFFFFFFFF; }), "needs zip64 sizes"},
    {"zip64 sizes in addition", with([](ZipPart& part) { part.extra = u16(1) + u16(8) + u64(6); }),
     "zip64 sizes in addition"},
    {"zip64 sizes twice", with([](ZipPart& part) {
       part.size = 0xFFFFFFFF;
       part.extra = u16(1) + u16(16) + u64(6) + u64(6) + u16(1) + u16(16) + u64(7) + u64(7);
     }),
     "zip64 sizes twice"},
    {"zip64 size beyond the file", with([](ZipPart& part) {
       part.size = 0xFFFFFFFF;
       part.extra = u16(1) + u16(16) + u64(uint64_t{1} << 63) + u64(uint64_t{1} << 63);
     }),
     "before the directory"},
    {"extra fields cut off", with([](ZipPart& part) { part.extra = u16(7) + u16(9) + "x"; }), "extra fields"},
};

TEST(ZipArchive, RefusesEachByNameAndCheaply) {
  ASSERT_NO_THROW(read_all(with([](ZipPart&) {})));
  for (const BadZip& bad : kBadZips) {
    const std::string message = test::cheap_refusal<Error>(bad.file.size(), [&] { read_all(bad.file); });
    EXPECT_TRUE(message.starts_with("file.pth: ")) << bad.why << ": " << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.why << ": " << message;
  }
}

TEST(ZipArchive, ReadsWhatTorchSaveWrites) {
  ZipPart wide{"a/wide", "a large one"};  // as beyond 4 GiB: sizes in extra fields and of 64 bits after the bytes
  wide.size = 0xFFFFFFFF;
  wide.extra = u16(1) + u16(16) + u64(11) + u64(11);
  const auto crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>("a large one"), 11));
  wide.sizes_behind = "PK\x07\x08" + u32(crc) + u64(11) + u64(11);
  const std::string file = test::zip_archive({kPart, {"a/empty", "", 0x0800}, {"a/plain", "bytes", 0}, wide});
  const MemorySource source(std::as_bytes(std::span(file)));
  const ZipArchive archive(source, "file.pth");
  ASSERT_EQ(archive.members().size(), 4U);
  EXPECT_EQ(archive.find("a/other"), nullptr);
  for (const auto& [name, expected] :
       {std::pair("a/one", "first"), {"a/empty", ""}, {"a/plain", "bytes"}, {"a/wide", "a large one"}}) {
    const ZipMember* member = archive.find(name);
    ASSERT_NE(member, nullptr) << name;
    std::string bytes(member->size, '\0');
    archive.read(*member, std::as_writable_bytes(std::span(bytes)));
    EXPECT_EQ(bytes, expected);
  }
  ASSERT_NO_THROW(read_all(ended({.zip64 = false})));
  ASSERT_NO_THROW(read_all(ended({.says64 = true})));
}

TEST(ZipArchive, EveryCutIsRefused) {
  const std::string file = with([](ZipPart&) {});
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_THROW(read_all(file.substr(0, size)), Error) << "cut at " << size;
}

TEST(ZipArchive, LimitsHold) {
  const std::string file = with([](ZipPart&) {});
  EXPECT_THROW(read_all(file, {.members = 2}), Error);
  EXPECT_THROW(read_all(file, {.directory_bytes = 60}), Error);
  EXPECT_THROW(read_all(file, {.name_bytes = 3}), Error);
}

}  // namespace
}  // namespace cachet::io
