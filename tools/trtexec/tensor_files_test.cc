#include "tensor_files.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;

template <class T>
TensorData tensor(DataType type, std::vector<int64_t> extents, std::vector<T> values) {
  TensorData made{.name = "a tensor", .type = type, .extents = std::move(extents), .bytes = {}};
  made.bytes.resize(values.size() * sizeof(T));
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

TEST(TensorFiles, NumpyHasAHeaderOfWholeLines) {
  const std::string file = numpy_file(tensor<float>(DataType::kFLOAT, {2, 1}, {1.5F, -2}));
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const auto length = static_cast<size_t>(static_cast<unsigned char>(file[8]));
  EXPECT_EQ((10 + length) % 64, 0u);
  EXPECT_EQ(file.size(), 10 + length + 8);
  EXPECT_EQ(file.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }");
  EXPECT_NE(numpy_file(tensor<int8_t>(DataType::kBOOL, {3}, {1, 0, 1}))
                .find("'|b1', 'fortran_order': False, 'shape': (3,), }"),
            std::string::npos);
  EXPECT_NE(
      numpy_file(tensor<int64_t>(DataType::kINT64, {}, {7})).find("'<i8', 'fortran_order': False, 'shape': (), }"),
      std::string::npos);
}

TEST(TensorFiles, TypesThatNumpyHasNotBecomeOthers) {
  const std::string file = numpy_file(tensor<uint16_t>(DataType::kBF16, {2}, {0x3fc0, 0xc000}));  // 1.5, -2
  ASSERT_NE(file.find("'<f4'"), std::string::npos);
  float values[2];
  std::memcpy(values, file.data() + file.size() - sizeof values, sizeof values);
  EXPECT_EQ(values[0], 1.5F);
  EXPECT_EQ(values[1], -2);
  const std::string bits = numpy_file(tensor<uint8_t>(DataType::kINT4, {3}, {0xf1, 0x07}));
  ASSERT_NE(bits.find("'|i1'"), std::string::npos);
  EXPECT_EQ(bits.substr(bits.size() - 3), "\x01\xff\x07");
}

TEST(TensorFiles, TextHasALineForEachRow) {
  EXPECT_EQ(text_file(tensor<int32_t>(DataType::kINT32, {2, 3}, {1, 2, 3, 4, 5, 6})), "[\n [1 2 3]\n [4 5 6]\n]\n");
  EXPECT_EQ(text_file(tensor<float>(DataType::kFLOAT, {2, 1, 2}, {0.5F, 1, 2, 3})),
            "[\n [\n  [0.5 1]\n ]\n [\n  [2 3]\n ]\n]\n");
  EXPECT_EQ(text_file(tensor<float>(DataType::kFLOAT, {}, {2.5F})), "2.5\n");
  EXPECT_EQ(text_file(tensor<float>(DataType::kFLOAT, {2, 0}, {})), "[]\n");
}

TEST(TensorFiles, TheSummaryCountsWhatIsNoNumber) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  TensorData values = tensor<float>(DataType::kFLOAT, {4}, {1, 4, nan, inf});
  values.name = "a \"b\"";
  const std::string entry = summary_entry(values, {{"raw", "0000_a.raw"}});
  EXPECT_TRUE(entry.starts_with("    {\"name\": \"a \\\"b\\\"\", \"shape\": [4], \"type\": \"fp32\"")) << entry;
  EXPECT_NE(entry.find("\"min\": 1, "), std::string::npos) << entry;
  EXPECT_NE(entry.find(R"("max": "Infinity", "avg": "NaN", "nan": 1, "inf": 1, "elements": "1, 4, NaN, Infinity")"),
            std::string::npos)
      << entry;
  EXPECT_NE(entry.find("\"files\": {\"raw\": \"0000_a.raw\"}"), std::string::npos) << entry;
  std::vector<int32_t> many(12);
  for (int i = 0; i < 12; ++i) many[static_cast<size_t>(i)] = i;
  EXPECT_NE(summary_entry(tensor<int32_t>(DataType::kINT32, {12}, many), {})
                .find("\"avg\": 5.5, \"nan\": 0, \"inf\": 0, \"elements\": \"0, 1, 2, 3, 4, ..., 7, 8, 9, 10, 11\"}}"),
            std::string::npos);
  EXPECT_NE(summary_entry(tensor<float>(DataType::kFLOAT, {0}, {}), {}).find("\"min\": null"), std::string::npos);
}

TEST(TensorFiles, NamesOfFilesAreSafe) {
  EXPECT_EQ(numbered_file(7, "conv1/out:0 ../x", ".npy"), "0007_conv1_out_0_.._x.npy");
  EXPECT_EQ(numbered_file(12345, "a", ".raw"), "12345_a.raw");
  EXPECT_EQ(numbered_file(0, std::string(5000, 'n'), ".str").size(), 209u);
}

}  // namespace
}  // namespace kiln::cli::trtexec
