#include "io_formats.h"

#include <gtest/gtest.h>

#include "cli/expect_failure.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;

std::string failure(std::string_view list) {
  return failure_of([&] { parse_io_formats(list, "--inputIOFormats"); });
}

TEST(IoFormats, HaveATypeAndFormats) {
  const auto formats = parse_io_formats("fp16:chw, int64:chw+hwc8", "--inputIOFormats");
  ASSERT_EQ(formats.size(), 2u);
  EXPECT_EQ(formats[0].type, DataType::kHALF);
  EXPECT_EQ(formats[0].formats, 1u);
  EXPECT_EQ(formats[1].type, DataType::kINT64);
  EXPECT_EQ(formats[1].formats, 1u | 4u);
}

TEST(IoFormats, OneStandsForAll) {
  const auto one = parse_io_formats("fp16:chw", "--inputIOFormats");
  EXPECT_EQ(format_of(one, 2, 3, "--inputIOFormats").type, DataType::kHALF);
  const auto two = parse_io_formats("fp16:chw,fp32:chw", "--inputIOFormats");
  EXPECT_EQ(format_of(two, 1, 2, "--inputIOFormats").type, DataType::kFLOAT);
  EXPECT_EQ(
      failure_of([&] { format_of(two, 0, 3, "--inputIOFormats"); }),
      "--inputIOFormats: 2 formats are given; the network has 3 such tensors, and one format would stand for all");
}

TEST(IoFormats, SayWhatIsWrong) {
  EXPECT_EQ(failure("fp16"), "--inputIOFormats: 'fp16' is not TYPE:FORMAT, such as fp16:chw");
  EXPECT_EQ(
      failure("half:chw"),
      "--inputIOFormats: 'half' is not a type; there are fp32, fp16, bf16, int32, int64, int8, uint8, bool, fp8, int4");
  EXPECT_NE(failure("fp16:nhwc").find("'nhwc' is not a format; there are chw, "), std::string::npos);
  EXPECT_EQ(failure(""), "--inputIOFormats: no TYPE:FORMAT is given");
}

}  // namespace
}  // namespace kiln::cli::trtexec
