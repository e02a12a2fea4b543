// The table of fields in docs/plugins.md.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "testing/documented_fields.h"
#include "testing/examples.h"

namespace kiln::plugins::testing {
namespace {

TEST(DocumentedFields, AreThoseOfTheCreators) {
  const std::vector<DocumentedFields> rows = documented_fields();
  size_t num_documented = 0;
  for (const DocumentedFields& row : rows) num_documented += row.plugins.size() * row.versions.size();
  EXPECT_EQ(num_documented, definitions().size());
  for (const Definition& one : definitions()) {
    const DocumentedFields* const row = row_of(rows, one);
    ASSERT_TRUE(row) << one.name << ' ' << one.version;
    Names names;
    for (const nv::PluginField& field : one.fields) names.insert(field.name);
    EXPECT_EQ(row->all(), names) << one.name << ' ' << one.version;
  }
}

/// A plugin of an example's fields, but that of one name.
Result<Plugin> made_without(const Plugin& example, const std::string& name) {
  std::vector<nv::PluginField> fields = example.fields.views();
  std::erase_if(fields, [&](const nv::PluginField& field) { return field.name == name; });
  const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
  return make_plugin(*example.definition, Fields::of(&collection, example.definition->fields).value());
}

TEST(DocumentedFields, AreNeededWhereTheTableSaysSo) {
  const std::vector<DocumentedFields> rows = documented_fields();
  for (const ExamplePlugin& example : example_plugins()) {
    const DocumentedFields* const row = row_of(rows, *example.plugin.definition);
    ASSERT_TRUE(row) << example.what;
    for (const std::string& name : row->needed)
      EXPECT_FALSE(made_without(example.plugin, name)) << example.what << " without " << name;
    for (const auto& [name, value] : row->defaults) {
      const auto made = made_without(example.plugin, name);
      EXPECT_TRUE(made) << example.what << " without " << name << ": " << made.error().message;
    }
  }
}

/// The numbers of a default: "3, 832, 1344", "1 / 127", "six zeros". Null where it is none: "none", "-", words.
std::optional<std::vector<float>> numbers_of(const std::string& text) {
  if (text == "six zeros") return std::vector<float>(6);
  std::vector<float> numbers;
  for (const std::string& part : parts_of(text, ',')) {
    size_t end = 0;
    try {
      numbers.push_back(std::stof(part, &end));
    } catch (const std::exception&) {
      return std::nullopt;
    }
    if (part.substr(end).starts_with(" / ")) numbers.back() /= std::stof(part.substr(end + 3));
  }
  return numbers;
}

std::vector<Tensor> with_values(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) {
    if (input.type != nv::DataType::kINT32) {
      result.push_back(noise(input.extents, static_cast<int>(result.size()) + 1));
      continue;
    }
    result.push_back(input);
    result.back().values.assign(static_cast<size_t>(volume(input.extents)), 1);
  }
  return result;
}

bool same(const Outcome& a, const Outcome& b) {
  if (a.error != b.error || a.outputs.size() != b.outputs.size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i)
    if (a.outputs[i].extents != b.outputs[i].extents || a.outputs[i].values != b.outputs[i].values) return false;
  return true;
}

/// An example with one field set, or left out.
class WithField {
 public:
  WithField(const Example& example, const std::string& version, const nv::PluginField& field)
      : example_(example), version_(version), field_(field), inputs_(with_values(example.inputs)) {}
  Outcome run_without() const { return run_with(Attributes(example_.attributes).erase(field_.name)); }
  Outcome run_with(const std::vector<float>& values) const {
    Attributes attributes = example_.attributes;
    if (field_.type == nv::PluginFieldType::kFLOAT32) return run_with(attributes.set(field_.name, values));
    return run_with(attributes.set(field_.name, std::vector<int32_t>(values.begin(), values.end())));
  }

 private:
  Outcome run_with(const Attributes& attributes) const {
    return run(Way::kLayers, example_.name, version_.c_str(), attributes, inputs_);
  }
  const Example& example_;
  const std::string version_;
  const nv::PluginField& field_;
  const std::vector<Tensor> inputs_;
};

/// Defaults that the inputs of the field's example do not fit, and the words of their errors.
const std::map<std::string, std::string>& defaults_of_other_inputs() {
  // An attention without a mask, or of one length, has fewer inputs.
  constexpr const char* kOneInput = "there are 2 inputs; has_mask and var_seqlen say 1";
  constexpr const char* kTwoInputs = "there are 4 inputs; has_mask and var_seqlen say 2";
  // The examples' images are small, and have few anchors.
  constexpr const char* kAnchors = "anchors; it is ";
  // By default the boxes come first.
  constexpr const char* kOrder = "has to be 2 long, for corners and variances; it is 18";
  static const std::map<std::string, std::string> all{{"CustomQKVToContextPluginDynamic 1 has_mask", kOneInput},
                                                      {"CustomQKVToContextPluginDynamic 2 has_mask", kOneInput},
                                                      {"CustomQKVToContextPluginDynamic 2 var_seqlen", kTwoInputs},
                                                      {"CustomQKVToContextPluginDynamic 4 has_mask", kOneInput},
                                                      {"CustomQKVToContextPluginDynamic 5 has_mask", kOneInput},
                                                      {"CustomQKVToContextPluginDynamic 5 var_seqlen", kTwoInputs},
                                                      {"MultilevelProposeROI_TRT 1 image_size", kAnchors},
                                                      {"NMSDynamic_TRT 1 inputOrder", kOrder},
                                                      {"NMS_TRT 1 inputOrder", kOrder},
                                                      {"ProposalLayer_TRT 1 image_size", kAnchors}};
  return all;
}

/// A field that is not given computes what its documented default computes. In two of three examples another number
/// makes a difference.
TEST(DocumentedFields, HaveTheirDefaults) {
  if (api::testing::is_on_gpu())
    GTEST_SKIP() << "fields are read on the host; hundreds of builds would compile kernels";
  const std::vector<DocumentedFields> rows = documented_fields();
  const std::vector<ExamplePlugin> plugins = example_plugins();
  auto made = plugins.begin();  // in the order of examples and their versions
  Names compared, told;         // told: another number makes a difference in the example
  Names failing;
  const std::map<std::string, std::string>& may_fail = defaults_of_other_inputs();
  for (const Example& example : examples())
    for (const char digit : std::string_view(example.versions)) {
      const std::string version(1, digit);
      const Definition& definition = *made++->plugin.definition;
      const DocumentedFields* const row = row_of(rows, definition);
      ASSERT_TRUE(row) << example.name;
      for (const nv::PluginField& field : definition.fields) {
        const auto at = row->defaults.find(field.name);
        const auto numbers = at == row->defaults.end() ? std::nullopt : numbers_of(at->second);
        if (!numbers) continue;
        const WithField one(example, version, field);
        const std::string what = str(example.name, ' ', version, ' ', field.name);
        const Outcome without = one.run_without();
        const auto words = may_fail.find(what);  // of one example; others of that plugin may have other inputs
        if (words != may_fail.end() && without.error.find(words->second) != std::string::npos) {
          failing.insert(what);
          continue;
        }
        EXPECT_EQ(without.error, "") << what;
        EXPECT_TRUE(same(without, one.run_with(*numbers))) << what;
        compared.insert(what);
        std::vector<float> others = *numbers;
        for (float& number : others) number = number == 0 ? 1 : number == 1 ? 0 : number / 2;
        if (!same(without, one.run_with(others))) told.insert(what);
      }
    }
  for (const auto& [what, words] : may_fail) EXPECT_TRUE(failing.contains(what)) << what << " is no exception";
  EXPECT_GE(compared.size(), 136U);
  EXPECT_GE(told.size(), 86U) << "else the examples tell few numbers from others";
}

}  // namespace
}  // namespace kiln::plugins::testing
