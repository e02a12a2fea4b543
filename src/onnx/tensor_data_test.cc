#include "onnx/tensor_data.h"

#include <gtest/gtest.h>

#include <cstring>

#include "onnx/reader.h"
#include "onnx/test_model.h"

namespace kiln::onnx {
namespace {

using test::Proto;

constexpr int64_t kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9, kFloat16 = 10,
                  kDouble = 11, kUint32 = 12, kComplex64 = 14, kUint4 = 21;

/// A tensor read from `proto`; its bytes are `proto`'s.
struct Read {
  explicit Read(Proto proto) : proto(std::move(proto)), model(*read_tensor(test::bytes_of(this->proto))) {}
  const TensorDef& tensor() const { return model->graph.initializers.at(0); }
  Result<TensorData> data() const { return tensor_data(*model, tensor()); }
  std::string error() const {
    const auto result = data();
    return result ? "no error" : result.error().message;
  }
  template <class T>
  std::vector<T> values() const {
    const auto result = data();
    EXPECT_TRUE(result) << result.error().message;
    std::vector<T> out(result->bytes.size() / sizeof(T));
    std::memcpy(out.data(), result->bytes.data(), result->bytes.size());
    return out;
  }
  Proto proto;
  std::shared_ptr<const Model> model;
};

bool lies_in(const TensorData& data, const Proto& proto) {
  const auto* start = reinterpret_cast<const std::byte*>(proto.bytes.data());
  return data.bytes.data() >= start && data.bytes.data() + data.bytes.size() <= start + proto.bytes.size();
}

TEST(TensorData, RawBytesAreNotCopied) {
  const Read read(test::tensor("w", kUint8, {2, 2}).text(field::tensor::kRawData, "abcd"));
  EXPECT_EQ(read.values<char>(), (std::vector<char>{'a', 'b', 'c', 'd'}));
  EXPECT_TRUE(lies_in(*read.data(), read.proto));
  EXPECT_EQ(read.data()->num_elements, 4);
}

TEST(TensorData, PackedFloatsAreNotCopied) {
  const Read read(test::tensor("w", kFloat, {2}).packed_fixed<float>(field::tensor::kFloatData, {1.5f, -2.0f}));
  EXPECT_EQ(read.values<float>(), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_TRUE(lies_in(*read.data(), read.proto));
}

TEST(TensorData, LooseFloatsAndDoublesAreGathered) {
  const Read floats(
      test::tensor("w", kFloat, {2}).fixed(field::tensor::kFloatData, 1.5f).fixed(field::tensor::kFloatData, -2.0f));
  EXPECT_EQ(floats.values<float>(), (std::vector<float>{1.5f, -2.0f}));
  const Read doubles(
      test::tensor("w", kDouble, {2}).fixed(field::tensor::kDoubleData, 0.1).fixed(field::tensor::kDoubleData, 1e300));
  EXPECT_EQ(doubles.values<double>(), (std::vector<double>{0.1, 1e300}));
}

TEST(TensorData, ConvertsTypedArrays) {
  using field::tensor::kInt32Data, field::tensor::kInt64Data, field::tensor::kUint64Data;
  EXPECT_EQ(Read(test::tensor("w", kInt8, {3}).packed(kInt32Data, {-1, 127, -128})).values<int8_t>(),
            (std::vector<int8_t>{-1, 127, -128}));
  EXPECT_EQ(Read(test::tensor("w", kUint8, {2}).packed(kInt32Data, {255, 0})).values<uint8_t>(),
            (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ(
      Read(test::tensor("w", kInt32, {2}).integer(kInt32Data, -7).packed(kInt32Data, {INT32_MIN})).values<int32_t>(),
      (std::vector<int32_t>{-7, INT32_MIN}));
  EXPECT_EQ(Read(test::tensor("w", kInt64, {2}).packed(kInt64Data, {INT64_MIN, 5})).values<int64_t>(),
            (std::vector<int64_t>{INT64_MIN, 5}));
  EXPECT_EQ(Read(test::tensor("w", kUint32, {1}).packed(kUint64Data, {UINT32_MAX})).values<uint32_t>(),
            (std::vector<uint32_t>{UINT32_MAX}));
  EXPECT_EQ(Read(test::tensor("w", kFloat16, {1}).packed(kInt32Data, {0x3c00})).values<uint16_t>(),
            (std::vector<uint16_t>{0x3c00}));
  EXPECT_EQ(Read(test::tensor("w", kBool, {3}).packed(kInt32Data, {0, 1, 7})).values<uint8_t>(),
            (std::vector<uint8_t>{0, 1, 1}));
  // Three elements take two entries; the first is the low half.
  EXPECT_EQ(Read(test::tensor("w", kUint4, {3}).packed(kInt32Data, {0x21, 0x3})).values<uint8_t>(),
            (std::vector<uint8_t>{0x21, 0x03}));
}

TEST(TensorData, RawBoolsBecomeZeroOrOne) {
  const Read read(test::tensor("w", kBool, {3}).text(field::tensor::kRawData, std::string_view("\0\2\1", 3)));
  EXPECT_EQ(read.values<uint8_t>(), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(TensorData, ScalarsAndEmptyTensors) {
  EXPECT_EQ(Read(test::tensor("w", kInt64, {}).integer(field::tensor::kInt64Data, 3)).values<int64_t>(),
            (std::vector<int64_t>{3}));
  EXPECT_EQ(Read(test::tensor("w", kFloat, {0, 3})).data()->bytes.size(), 0u);
  EXPECT_EQ(Read(test::tensor("w", kFloat, {0}).text(field::tensor::kRawData, "")).data()->bytes.size(), 0u);
  EXPECT_EQ(*count_elements(std::vector<int64_t>{INT64_MAX, INT64_MAX, 0}), 0);
}

TEST(TensorData, SaysWhatIsWrong) {
  using field::tensor::kInt32Data;
  EXPECT_EQ(Read(test::tensor("w", kFloat, {2, 3})).error(),
            "tensor 'w': float_data holds 0 bytes; dims [2, 3] of FLOAT need 24");
  EXPECT_EQ(Read(test::tensor("w", kFloat, {2}).text(field::tensor::kRawData, "abc")).error(),
            "tensor 'w': raw_data holds 3 bytes; dims [2] of FLOAT need 8");
  EXPECT_EQ(Read(test::tensor("w", kInt8, {1}).packed(kInt32Data, {256})).error(),
            "tensor 'w': at byte 8: the number 256 does not fit INT8");
  EXPECT_EQ(Read(test::tensor("w", kInt8, {1}).packed(kInt32Data, {1, 2})).error(),
            "tensor 'w': at byte 8: int32_data holds more elements than the dims [1] have");
  EXPECT_EQ(Read(test::tensor("w", kFloat, {1}).packed(kInt32Data, {1})).error(),
            "tensor 'w': at byte 8: elements are in int32_data; those of a FLOAT tensor belong in float_data");
  EXPECT_EQ(Read(test::tensor("w", kFloat, {2, -1})).error(), "tensor 'w': dims [2, -1] have the negative extent -1");
  EXPECT_EQ(Read(test::tensor("w", kFloat, {INT64_MAX, 3})).error(),
            "tensor 'w': dims [9223372036854775807, 3] have more than 2^63 elements");
  EXPECT_EQ(Read(test::tensor("w", kDouble, {INT64_MAX})).error(),
            "tensor 'w': dims [9223372036854775807] of DOUBLE exceed 2^63 bits");
  EXPECT_EQ(Read(test::tensor("", 99, {1})).error(),
            "tensor without a name: its elements are type 99, which is not known");
  EXPECT_EQ(Read(test::tensor("w", kComplex64, {1})).error(),
            "tensor 'w': its elements are COMPLEX64; complex numbers are not in Kiln");
  EXPECT_EQ(Read(test::tensor("w", kString, {1})).error(), "tensor 'w': is a STRING tensor; numbers are needed");
}

TEST(TensorData, Strings) {
  const Read read(
      test::tensor("w", kString, {2}).text(field::tensor::kStringData, "a").text(field::tensor::kStringData, ""));
  EXPECT_EQ(*tensor_strings(read.tensor()), (std::vector<std::string_view>{"a", ""}));
  const Read few(test::tensor("w", kString, {2}).text(field::tensor::kStringData, "a"));
  EXPECT_EQ(tensor_strings(few.tensor()).error().message, "tensor 'w': string_data holds 1 strings; dims [2] need 2");
}

}  // namespace
}  // namespace kiln::onnx
