#include "library/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

namespace kiln::plugins {
namespace {

Fields fields_of(const nv::PluginField& given, int32_t known_length = 1) {
  const nv::PluginField known{given.name, nullptr, given.type, known_length};
  const nv::PluginFieldCollection collection{1, &given};
  return Fields::of(&collection, std::span(&known, 1)).value();
}

std::vector<std::byte> serialized(const Fields& fields) {
  std::vector<std::byte> bytes(fields.serialized_size());
  fields.serialize(bytes.data());
  return bytes;
}

TEST(Fields, IntegersAreExact) {
  const std::array<int64_t, 3> numbers{(int64_t{1} << 53) + 1, INT64_MAX, INT64_MIN};
  const Fields fields = fields_of({"n", numbers.data(), nv::PluginFieldType::kINT64, 3});
  EXPECT_EQ(fields.integers("n").value(), std::vector(numbers.begin(), numbers.end()));
  const std::array<int8_t, 2> small{-128, 127};
  EXPECT_EQ(fields_of({"n", small.data(), nv::PluginFieldType::kINT8, 2}).integers("n").value(),
            (std::vector<int64_t>{-128, 127}));
}

TEST(Fields, OfThirtyTwoBitsAreNotCut) {
  const int64_t least = INT32_MIN, great = int64_t{1} << 32;
  EXPECT_EQ(fields_of({"n", &least, nv::PluginFieldType::kINT64, 1}).int32("n").value(), INT32_MIN);
  const auto cut = fields_of({"n", &great, nv::PluginFieldType::kINT64, 1}).int32("n", 7);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().message, "field 'n' is 4294967296, which 32 bits do not hold");
  EXPECT_EQ(fields_of({"n", &great, nv::PluginFieldType::kINT64, 1}).int32("other", 7).value(), 7);
}

TEST(Fields, OfEqualDimsAreEqual) {
  std::vector<std::byte> bytes[2];
  for (int i = 0; i < 2; ++i) {
    nv::Dims dims;
    std::memset(static_cast<void*>(&dims), 0x11 * (i + 1), sizeof dims);
    dims.nbDims = 2, dims.d[0] = 3, dims.d[1] = 5;
    const Fields fields = fields_of({"d", &dims, nv::PluginFieldType::kDIMS, 1});
    EXPECT_EQ(fields.integers("d").value(), (std::vector<int64_t>{3, 5}));
    bytes[i] = serialized(fields);
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(Fields, ReadNothingButAllThatWasWritten) {
  const float half = 0.5F;
  const std::array<int32_t, 2> numbers{3, 5};
  const std::array<nv::PluginField, 2> given{nv::PluginField{"a", &half, nv::PluginFieldType::kFLOAT32, 1},
                                             nv::PluginField{"b", numbers.data(), nv::PluginFieldType::kINT32, 2}};
  for (const int32_t count : {0, 1, 2}) {
    const nv::PluginFieldCollection collection{count, given.data()};
    std::vector<std::byte> bytes = serialized(Fields::of(&collection, given).value());
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(Fields::deserialize(std::span(bytes).first(size))) << size << " of " << bytes.size() << " bytes";
    ASSERT_TRUE(Fields::deserialize(bytes)) << count;
    EXPECT_EQ(Fields::deserialize(bytes)->has("b"), count == 2);
    bytes.push_back(std::byte{0});
    EXPECT_EQ(Fields::deserialize(bytes).error().message, "bytes behind the plugin's last field");
  }
}

TEST(Fields, IntegersMayBeCalledFloats) {
  const int32_t one = 1;
  const float half = 0.5F;
  const nv::PluginField known{"n", nullptr, nv::PluginFieldType::kINT32, 1};
  const auto read = [&](const void* data) {
    const nv::PluginField given{"n", data, nv::PluginFieldType::kFLOAT32, 1};
    const nv::PluginFieldCollection collection{1, &given};
    return Fields::of(&collection, std::span(&known, 1)).value();
  };
  EXPECT_EQ(read(&one).integer("n").value(), 1);
  EXPECT_EQ(read(&half).integer("n").error().message,
            "field 'n' has type kFLOAT32; the plugin needs kINT32, which does not hold 0.5");
  EXPECT_EQ(read(&half).number("n").value(), 0.5);
}

TEST(Fields, OfAnotherTypeAreConvertedWhereNumbersStayTheSame) {
  const std::array<float, 2> whole{-2, 0x1p40F};
  EXPECT_EQ(fields_of({"n", whole.data(), nv::PluginFieldType::kFLOAT32, 2}).integers("n").value(),
            (std::vector<int64_t>{-2, int64_t{1} << 40}));
  const std::array<int32_t, 2> small{-3, 1 << 24};
  EXPECT_EQ(fields_of({"n", small.data(), nv::PluginFieldType::kINT32, 2}).floats("n").value(),
            (std::vector<float>{-3, 0x1p24F}));
  const std::array<double, 3> exact{0.5, -INFINITY, NAN};
  const auto floats = fields_of({"n", exact.data(), nv::PluginFieldType::kFLOAT64, 3}).floats("n").value();
  EXPECT_EQ(floats[0], 0.5F);
  EXPECT_EQ(floats[1], -INFINITY);
  EXPECT_TRUE(std::isnan(floats[2]));
}

TEST(Fields, OfAnotherTypeAreNotRounded) {
  const auto error = [](const auto& value, nv::PluginFieldType type, auto read) {
    return read(fields_of({"n", &value, type, 1})).error().message;
  };
  const auto integers = [](const Fields& fields) { return fields.integers("n"); };
  const auto floats = [](const Fields& fields) { return fields.floats("n"); };
  const std::string needs_int = "; the plugin needs kINT32, which does not hold ",
                    needs_float = "; the plugin needs kFLOAT32, which does not hold ";
  EXPECT_EQ(error(2.5, nv::PluginFieldType::kFLOAT64, integers), "field 'n' has type kFLOAT64" + needs_int + "2.5");
  EXPECT_EQ(error(0x1p63F, nv::PluginFieldType::kFLOAT32, integers),
            "field 'n' has type kFLOAT32" + needs_int + str(0x1p63));
  EXPECT_EQ(error(NAN, nv::PluginFieldType::kFLOAT32, integers), "field 'n' has type kFLOAT32" + needs_int + "nan");
  EXPECT_EQ(error(0.1, nv::PluginFieldType::kFLOAT64, floats), "field 'n' has type kFLOAT64" + needs_float + "0.1");
  EXPECT_EQ(error((1 << 24) + 1, nv::PluginFieldType::kINT32, floats),
            "field 'n' has type kINT32" + needs_float + "16777217");
  EXPECT_EQ(error((int64_t{1} << 53) + 1, nv::PluginFieldType::kINT64, floats),
            "field 'n' has type kINT64" + needs_float + "9007199254740993");
  EXPECT_EQ(error('a', nv::PluginFieldType::kCHAR, integers), "field 'n' has type kCHAR; the plugin needs kINT32");
  EXPECT_EQ(error('a', nv::PluginFieldType::kCHAR, floats), "field 'n' has type kCHAR; the plugin needs kFLOAT32");
  EXPECT_EQ(error(7, nv::PluginFieldType::kINT32, [](const Fields& fields) { return fields.text("n", ""); }),
            "field 'n' has type kINT32; the plugin needs kCHAR");
}

TEST(Fields, AreGivenOnce) {
  const float one = 1;
  const nv::PluginField known[] = {{"n", nullptr, nv::PluginFieldType::kFLOAT32, 1}};
  const nv::PluginField given[] = {{"n", &one, nv::PluginFieldType::kFLOAT32, 1},
                                   {"unknown", &one, nv::PluginFieldType::kFLOAT32, 1},
                                   {"unknown", &one, nv::PluginFieldType::kFLOAT32, 1},
                                   {"n", &one, nv::PluginFieldType::kFLOAT32, 1}};
  const nv::PluginFieldCollection thrice{3, given}, twice{4, given};
  EXPECT_TRUE(Fields::of(&thrice, known));
  const auto refused = Fields::of(&twice, known);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "field 'n' is given twice");
}

TEST(Fields, MayBeNullWhereThatIsSaid) {
  const nv::PluginField null{"tree", nullptr, nv::PluginFieldType::kINT32, 1};
  EXPECT_FALSE(fields_of(null, 0).has("tree"));
  const nv::PluginField known{"tree", nullptr, nv::PluginFieldType::kINT32, 1};
  const nv::PluginFieldCollection collection{1, &null};
  const auto refused = Fields::of(&collection, std::span(&known, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "field 'tree' of length 1 has no data");
}

}  // namespace
}  // namespace kiln::plugins
