#include "harness/numerics/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace flce {
namespace {

using ::testing::HasSubstr;

class SafetensorsTest : public ::testing::Test {
 protected:
  SafetensorsTest()
      : folder_(std::move(TempDir::Make(fs::temp_directory_path(), "safetensors-test")).value()) {}

  // A file of the given header (its length put in front) and data.
  fs::path Write(const std::string& header, const std::string& data) {
    std::string content;
    for (int i = 0; i < 8; ++i) content.push_back(static_cast<char>(header.size() >> (8 * i) & 0xff));
    return WriteRaw(content + header + data);
  }
  fs::path WriteRaw(const std::string& content) {
    const fs::path path = folder_.path() / "x.safetensors";
    EXPECT_TRUE(WriteFileAtomically(path, content).ok());
    return path;
  }
  std::string OpenError(const fs::path& path) {
    const Result<SafetensorsFile> file = SafetensorsFile::Open(path);
    return file.ok() ? "" : file.error().message;
  }

  TempDir folder_;
};

TEST_F(SafetensorsTest, WhatIsWrittenIsRead) {
  const fs::path path = folder_.path() / "out.safetensors";
  const std::string loss("\x00\x00\x80\x3f", 4);
  ASSERT_TRUE(WriteSafetensors(path,
                               {{"grad_w", DType::kBF16, {2, 1}, "abcd"}, {"loss", DType::kF32, {}, loss}},
                               {{"torch", "2.13.0"}})
                  .ok());
  const Result<SafetensorsFile> file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->tensors()[0].name, "grad_w");
  EXPECT_EQ(file->tensors()[0].shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(file->tensors()[0].begin % 8, 0u);
  const TensorInfo* scalar = file->Find("loss");
  ASSERT_NE(scalar, nullptr);
  EXPECT_EQ(scalar->Elements(), 1u);
  float value = 0;
  ASSERT_TRUE(file->Read(*scalar, 0, std::as_writable_bytes(std::span(&value, 1))).ok());
  EXPECT_EQ(value, 1.0F);
  EXPECT_EQ(file->metadata(), (std::vector<std::pair<std::string, std::string>>{{"torch", "2.13.0"}}));
  EXPECT_EQ(file->Find("los"), nullptr);
}

TEST_F(SafetensorsTest, EveryBrokenRuleIsNamed) {
  struct Row {
    const char* header;
    const char* data;
    const char* says;
  };
  const Row rows[] = {
      {"[]", "", "its header is not a JSON object"},
      {"{\"a\"", "", "its header is not a JSON object"},
      {R"({"a":1})", "", "tensor 'a' is not described by an object"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", "abcd", "tensor 'a' has no dtype"},
      {R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", "abcd", "unknown dtype 'F33'"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "abcd", "tensor 'a' has no shape"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "abcd", "not a list of sizes"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", "abcd", "not a list of sizes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "abcd", "no valid data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", "abcd", "no valid data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "abcd", "the file is cut short"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "abcd", "does not fill its 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", "",
       "does not fill its 0 bytes"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       "abc", "tensor 'b' does not begin where"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       "abc", "tensor 'b' does not begin where"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "abc",
       "2 bytes at its end belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       "a", "names the tensor 'a' twice"},
      {R"({"__metadata__":{"k":1}})", "", "metadata 'k' is not a string"},
  };
  for (const Row& row : rows)
    EXPECT_THAT(OpenError(Write(row.header, row.data)), HasSubstr(row.says)) << row.header;
}

TEST_F(SafetensorsTest, ABrokenBeginningIsNamed) {
  EXPECT_THAT(OpenError(WriteRaw("abc")), HasSubstr("it has 3 bytes"));
  EXPECT_THAT(OpenError(WriteRaw("\xff\xff\xff\xff\xff\xff\xff\xff{}")),
              HasSubstr("announce a header of 18446744073709551615 bytes"));
  EXPECT_THAT(OpenError(WriteRaw(std::string("\x64\0\0\0\0\0\0\0{}", 10))),
              HasSubstr("announce a header of 100 bytes in a file of 10"));
  EXPECT_THAT(OpenError(folder_.path()), HasSubstr("it is not a regular file"));
}

TEST_F(SafetensorsTest, AnAbsentFileIsNotFound) {
  const Result<SafetensorsFile> file = SafetensorsFile::Open(folder_.path() / "none");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kNotFound);
}

TEST_F(SafetensorsTest, EmptyTensorsAndAnEmptyFileAreValid) {
  EXPECT_EQ(OpenError(Write("{}", "")), "");
  EXPECT_EQ(OpenError(Write(R"({"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}})", "")), "");
}

TEST_F(SafetensorsTest, ReadsStayInsideTheTensor) {
  const Result<SafetensorsFile> file =
      SafetensorsFile::Open(Write(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "abcd"));
  ASSERT_TRUE(file.ok());
  char out[4] = {};
  EXPECT_TRUE(file->Read(file->tensors()[0], 2, std::as_writable_bytes(std::span(out, 2))).ok());
  EXPECT_EQ(std::string(out, 2), "cd");
  EXPECT_FALSE(file->Read(file->tensors()[0], 2, std::as_writable_bytes(std::span(out, 3))).ok());
}

}  // namespace
}  // namespace flce
