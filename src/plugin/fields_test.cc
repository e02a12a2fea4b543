#include "plugin/fields.h"

#include <gtest/gtest.h>

namespace kiln::plugin {
namespace {

TEST(FieldCollection, TextsEndWithAZeroThatIsNotCounted) {
  const auto text = [](std::string_view words) {
    const auto bytes = std::as_bytes(std::span(words));
    return PluginField{.name = "text",
                       .type = PluginFieldType::kChar,
                       .count = std::ssize(words),
                       .data = Bytes(bytes.begin(), bytes.end())};
  };
  const std::vector<PluginField> fields{text("add"), text("a text that is longer than what a string has in itself"),
                                        text("")};
  const FieldCollection collection(fields);
  ASSERT_EQ(collection.collection().nbFields, 3);
  for (size_t i = 0; i < fields.size(); ++i) {
    const nvinfer1::PluginField& field = collection.collection().fields[i];
    const std::string_view words(reinterpret_cast<const char*>(fields[i].data.data()), fields[i].data.size());
    EXPECT_EQ(field.length, std::ssize(words));
    EXPECT_EQ(std::string_view(static_cast<const char*>(field.data)), words);  // up to the zero
  }
}

TEST(FieldsFromApi, HaveNames) {
  const int32_t one = 1;
  const nvinfer1::PluginField fields[] = {{"a", &one, nvinfer1::PluginFieldType::kINT32, 1},
                                          {nullptr, &one, nvinfer1::PluginFieldType::kINT32, 1}};
  const nvinfer1::PluginFieldCollection named{1, fields}, both{2, fields};
  ASSERT_TRUE(fields_from_api(&named));
  EXPECT_EQ(fields_from_api(&named)->front().name, "a");
  const auto refused = fields_from_api(&both);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "field 1 has no name");
}

}  // namespace
}  // namespace kiln::plugin
