// Operators of ai.onnx.ml: what few models have, and what a wrong use is told. conformance/machine_learning compares
// the rest with ONNX Runtime.
#include <gtest/gtest.h>

#include <cmath>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Doubles = std::vector<double>;
using Floats = std::initializer_list<float>;
using Attributes = std::initializer_list<Proto>;

Proto floats_attribute(std::string_view name, Floats values) {
  Proto out = attribute(name, 6);
  for (const float value : values) out.fixed(field::attribute::kFloats, value);
  return out;
}
Proto texts_attribute(std::string_view name, Texts values) {
  Proto out = attribute(name, 8);
  for (const std::string_view value : values) out.text(field::attribute::kStrings, value);
  return out;
}
Proto numbers_attribute(std::string_view name, Floats values) {
  return attribute(name, 4).message(field::attribute::kT, floats("", {static_cast<int64_t>(values.size())}, values));
}

Imported import_ml(std::string_view op, const std::vector<Proto>& inputs, Attributes attributes, Texts names = {"a"},
                   Texts outputs = {"y"}, int64_t version = 3) {
  const Proto made = node(op, names, outputs, "n", attributes, "ai.onnx.ml");
  std::vector<Proto> results;
  for (const std::string_view output : outputs) results.push_back(value(output));
  return import_proto(Proto()
                          .integer(field::model::kIrVersion, 10)
                          .message(field::model::kOpsetImport, opset("", 21))
                          .message(field::model::kOpsetImport, opset("ai.onnx.ml", version))
                          .message(field::model::kGraph, graph({{made}, inputs, results, {}})));
}
/// What is said of a node of floats [3, 2], without what names the node.
std::string said(std::string_view op, Attributes attributes, int64_t version = 3) {
  const std::string text = text_of(import_ml(op, {value("a", kFloat, {3, 2})}, attributes, {"a"}, {"y", "z"}, version));
  const std::string intro = str("node 'n' (ai.onnx.ml.", op, ") of a f32[3, 2]: ");
  return text.starts_with(intro) ? text.substr(intro.size(), text.size() - intro.size() - 1) : text;
}
std::vector<HostTensor> run(std::string_view op, const Fed& x, Attributes attributes, Texts outputs = {"y"}) {
  const Imported imported = import_ml(op, {value_of("a", x)}, attributes, {"a"}, outputs, 4);
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return std::vector<HostTensor>(outputs.size());
  auto y = ir::interpret(imported.graph, {x.tensor});
  EXPECT_TRUE(y) << y.error().message;
  return y ? *std::move(y) : std::vector<HostTensor>(outputs.size());
}

const Fed kRow = fed(kFloat, DType::kF32, {2}, {1, 2});
const Fed kRows = fed(kFloat, DType::kF32, {2, 2}, {1, 2, 3, -4});
const Fed kInt32s = fed_ints(6, DType::kI32, {2, 2}, {1, 2, 3, 2});

TEST(ImportScaler, TakesRowsAndIntegers) {
  const Attributes attributes{floats_attribute("offset", {1, 0.5}), floats_attribute("scale", {10, 2})};
  EXPECT_EQ(numbers_of(run("Scaler", kRow, attributes)[0]), (Doubles{0, 3}));
  EXPECT_EQ(numbers_of(run("Scaler", kInt32s, attributes)[0]), (Doubles{0, 3, 20, 3}));
}
TEST(ImportScaler, KnowsTheNumberOfFeatures) {
  const auto rows = [](int64_t features) {
    return text_of(import_ml("Scaler", {value("a", kFloat, {-1, features})},
                             {floats_attribute("offset", {1, 2}), floats_attribute("scale", {1, 2})}));
  };
  EXPECT_EQ(rows(3),
            "node 'n' (ai.onnx.ml.Scaler) of a f32[a_0, 3]: the features of x and the numbers in offset are 3 and 2; "
            "they must be equal\n");
  EXPECT_NE(rows(-1).find("Assertion"), std::string::npos) << rows(-1);
}
TEST(ImportScaler, SaysWhatIsWrong) {
  EXPECT_EQ(said("Scaler", {floats_attribute("scale", {1})}),
            "attribute 'offset' is missing or empty; floats are needed");
  EXPECT_EQ(said("Scaler", {floats_attribute("scale", {1}), int_attribute("offset", 1)}),
            "attribute 'offset' is a INT; FLOATS is needed");
  EXPECT_EQ(text_of(import_ml("Scaler", {value("a", kFloat, {3, 2, 2})},
                              {floats_attribute("offset", {1}), floats_attribute("scale", {1, 2})})),
            "node 'n' (ai.onnx.ml.Scaler) of a f32[3, 2, 2]: x is f32[3, 2, 2]; of 2 numbers in scale, [rows, "
            "features] or [features] is needed\n");
  EXPECT_EQ(text_of(import_ml("Scaler", {value("a", kFloat16, {3, 2})}, {})),
            "node 'n' (ai.onnx.ml.Scaler) of a f16[3, 2]: x is f16[3, 2]; f32, f64, i32 or i64 features are needed\n");
}

TEST(ImportNormalizer, LeavesRowsOfNormZeroAndKeepsSigns) {
  const Fed x = fed(kFloat, DType::kF32, {4, 2}, {0, 0, -3, -1, 3, 4, -3, 0});
  EXPECT_EQ(numbers_of(run("Normalizer", x, {})[0]), (Doubles{0, 0, 3, 1, 0.75, 1, -3, 0}));
  EXPECT_EQ(said("Normalizer", {text_attribute("norm", "L3")}), "norm is 'L3'; MAX, L1 or L2 is needed");
  EXPECT_EQ(text_of(import_ml("Normalizer", {value("a", kFloat, {3, 2, 2})}, {})),
            "node 'n' (ai.onnx.ml.Normalizer) of a f32[3, 2, 2]: x is f32[3, 2, 2]; [rows, features] or [features] is "
            "needed\n");
}

TEST(ImportImputer, KeepsTheTypeOfIntegers) {
  const HostTensor y =
      run("Imputer", kInt32s,
          {ints_attribute("imputed_value_int64s", {7, 8}), int_attribute("replaced_value_int64", 2)})[0];
  EXPECT_EQ(y.dtype(), DType::kI32);
  EXPECT_EQ(ints_of(y), (std::vector<int64_t>{1, 8, 3, 8}));
}
/// Numbers that INT32 has not are not wrapped to some that it has.
TEST(ImportImputer, ComparesAttributesOf64Bits) {
  const int64_t beyond = (int64_t{1} << 32) + 2;
  const auto replaced = int_attribute("replaced_value_int64", beyond);
  EXPECT_EQ(ints_of(run("Imputer", kInt32s, {ints_attribute("imputed_value_int64s", {7}), replaced})[0]),
            (std::vector<int64_t>{1, 2, 3, 2}));
  EXPECT_EQ(text_of(import_ml("Imputer", {value("a", 6, {3, 2})}, {ints_attribute("imputed_value_int64s", {beyond})})),
            "node 'n' (ai.onnx.ml.Imputer) of a i32[3, 2]: imputed_value_int64s has 4294967298; x is i32[3, 2]\n");
  EXPECT_EQ(ints_of(run("LabelEncoder", kInt32s,
                        {ints_attribute("keys_int64s", {beyond, 3}), ints_attribute("values_int64s", {4, 5})})[0]),
            (std::vector<int64_t>{-1, -1, 5, -1}));
}
TEST(ImportImputer, SaysWhatIsWrong) {
  EXPECT_EQ(said("Imputer", {}), "attribute 'imputed_value_floats' is missing or empty; floats are needed");
  EXPECT_EQ(
      said("Imputer", {floats_attribute("imputed_value_floats", {1}), ints_attribute("imputed_value_int64s", {1})}),
      "imputed_value_floats and imputed_value_int64s are both given; one is needed");
  EXPECT_EQ(said("Imputer", {floats_attribute("imputed_value_floats", {1, 2, 3})}),
            "the features of x and the numbers in imputed_value_floats are 2 and 3; they must be equal");
  EXPECT_EQ(text_of(import_ml("Imputer", {value("a", kInt64, {3, 2})}, {})),
            "node 'n' (ai.onnx.ml.Imputer) of a i64[3, 2]: attribute 'imputed_value_int64s' is missing; INTS is "
            "needed\n");
}

TEST(ImportFeatureVectorizer, SaysWhatIsWrong) {
  EXPECT_EQ(said("FeatureVectorizer", {ints_attribute("inputdimensions", {1, 2})}),
            "inputdimensions is [1, 2]; there are 1 inputs");
  EXPECT_EQ(said("FeatureVectorizer", {ints_attribute("inputdimensions", {0})}),
            "inputdimensions is [0]; 1 to 2^31 - 1 are possible");
}

TEST(ImportLabelEncoder, MapsByTensors) {
  const Attributes attributes{numbers_attribute("keys_tensor", {3, NAN}), numbers_attribute("values_tensor", {0.5, 9}),
                              numbers_attribute("default_tensor", {-1})};
  const Fed x = fed(kFloat, DType::kF32, {3}, {3, NAN, 4});
  EXPECT_EQ(numbers_of(run("LabelEncoder", x, attributes)[0]), (Doubles{0.5, 9, -1}));
}
TEST(ImportLabelEncoder, SaysWhatIsWrong) {
  const Proto keys = floats_attribute("keys_floats", {1, 2}), values = ints_attribute("values_int64s", {1, 2});
  EXPECT_EQ(said("LabelEncoder", {texts_attribute("keys_strings", {"a"}), values}),
            "keys_strings: strings are not in Kiln; keep them outside of the network");
  EXPECT_EQ(said("LabelEncoder", {keys, texts_attribute("values_strings", {"a"})}),
            "values_strings: strings are not in Kiln; keep them outside of the network");
  EXPECT_EQ(said("LabelEncoder", {keys}),
            "one of values_int64s, values_floats and values_tensor is needed, and no other");
  EXPECT_EQ(said("LabelEncoder", {keys, ints_attribute("values_int64s", {1})}), "there are 2 keys and 1 values");
  EXPECT_EQ(said("LabelEncoder", {ints_attribute("keys_int64s", {1, 2}), values}),
            "x is f32[3, 2] and keys are i64; both must be integers or floats");
  EXPECT_EQ(said("LabelEncoder", {keys, values, numbers_attribute("default_tensor", {1})}, 4),
            "default_tensor is f32 [1]; one element of i64, which the values are, is needed");
  EXPECT_EQ(said("LabelEncoder", {}, 1), "LabelEncoder of version 1 maps strings, which are not in Kiln");
}

TEST(ImportOneHotEncoder, FailsOfWhatIsNoCategoryWhereThatIsAsked) {
  const Fed x = fed(kFloat, DType::kF32, {3}, {7, 4, -5.5});
  const Proto categories = ints_attribute("cats_int64s", {-5, 7});
  EXPECT_EQ(numbers_of(run("OneHotEncoder", x, {categories})[0]), (Doubles{0, 1, 0, 0, 1, 0}));
  const Imported strict =
      import_ml("OneHotEncoder", {value_of("a", x)}, {categories, int_attribute("zeros", 0)}, {"a"}, {"y"});
  ASSERT_TRUE(strict.status) << text_of(strict);
  EXPECT_FALSE(ir::interpret(strict.graph, {x.tensor}));
  EXPECT_TRUE(ir::interpret(strict.graph, {HostTensor::of(DType::kF32, {3}, Doubles{7, -5, 7})}));
}
TEST(ImportOneHotEncoder, SaysWhatIsWrong) {
  EXPECT_EQ(said("OneHotEncoder", {texts_attribute("cats_strings", {"a"})}),
            "cats_strings: strings are not in Kiln; keep them outside of the network");
  EXPECT_EQ(said("OneHotEncoder", {}), "attribute 'cats_int64s' is missing; INTS is needed");
  EXPECT_EQ(said("OneHotEncoder", {ints_attribute("cats_int64s", {})}),
            "cats_int64s has 0 numbers; 1 to 4096 are supported");
}

TEST(ImportLinearRegressor, TransformsOneTargetAndWarns) {
  const Attributes attributes{floats_attribute("coefficients", {0, 0}), text_attribute("post_transform", "LOGISTIC")};
  EXPECT_EQ(numbers_of(run("LinearRegressor", kRows, attributes)[0]), (Doubles{0.5, 0.5}));
  const Imported imported = import_ml("LinearRegressor", {value("a", kFloat, {3, 2})}, attributes);
  ASSERT_EQ(imported.report.warnings.size(), 1u);
  EXPECT_EQ(imported.report.warnings[0],
            "node 'n' (ai.onnx.ml.LinearRegressor): post_transform LOGISTIC is applied to the one target, as ONNX-ML "
            "says; ONNX Runtime leaves it as it is");
}
TEST(ImportLinearRegressor, SaysWhatIsWrong) {
  const Proto coefficients = floats_attribute("coefficients", {1, 2, 3, 4});
  EXPECT_EQ(said("LinearRegressor", {}), "attribute 'coefficients' is missing or empty; floats are needed");
  EXPECT_EQ(said("LinearRegressor", {coefficients, int_attribute("targets", 3)}),
            "coefficients has 4 numbers, which are not 3 rows of equal length");
  EXPECT_EQ(said("LinearRegressor", {coefficients}),
            "the features of x and the coefficients of a row are 2 and 4; they must be equal");
  EXPECT_EQ(said("LinearRegressor", {coefficients, int_attribute("targets", 2), floats_attribute("intercepts", {1})}),
            "intercepts has 1 numbers; 2 are needed");
  EXPECT_EQ(
      said("LinearRegressor", {coefficients, int_attribute("targets", 2), text_attribute("post_transform", "LOG")}),
      "post_transform is 'LOG'; NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT is needed");
}

TEST(ImportLinearClassifier, NeedsNoIntercepts) {
  const auto results =
      run("LinearClassifier", kRows,
          {floats_attribute("coefficients", {1, 0, 0, 1}), ints_attribute("classlabels_ints", {7, -7})}, {"y", "z"});
  EXPECT_EQ(ints_of(results[0]), (std::vector<int64_t>{-7, 7}));
  EXPECT_EQ(numbers_of(results[1]), (Doubles{1, 2, 3, -4}));
}
TEST(ImportLinearClassifier, SaysWhatIsWrong) {
  const Proto coefficients = floats_attribute("coefficients", {1, 2, 3, 4});
  EXPECT_EQ(said("LinearClassifier", {coefficients, texts_attribute("classlabels_strings", {"a", "b"})}),
            "attribute 'classlabels_strings': strings are not in Kiln; train or export with classes that are integers");
  EXPECT_EQ(said("LinearClassifier", {coefficients}), "attribute 'classlabels_ints' is missing; INTS is needed");
  EXPECT_EQ(said("LinearClassifier", {coefficients, ints_attribute("classlabels_ints", {1})}),
            "attribute 'classlabels_ints' has 1 labels; two or more are needed");
  EXPECT_EQ(said("LinearClassifier", {coefficients, ints_attribute("classlabels_ints", {1, 2, 3})}),
            "there are 3 labels and 2 rows of coefficients; one a label is needed, or one for two labels");
  EXPECT_EQ(
      said("LinearClassifier", {floats_attribute("coefficients", {1, 2}), text_attribute("post_transform", "PROBIT"),
                                ints_attribute("classlabels_ints", {1, 2})}),
      "post_transform PROBIT of one score for two classes is not in Kiln");
}

TEST(ImportSvm, SaysWhatIsWrong) {
  const Proto rho = floats_attribute("rho", {1}), coefficients = floats_attribute("coefficients", {1, 2}),
              vectors = floats_attribute("support_vectors", {1, 2, 3, 4}), two = int_attribute("n_supports", 2);
  EXPECT_EQ(said("SVMRegressor", {rho, coefficients, vectors, two, text_attribute("kernel_type", "COSINE")}),
            "kernel_type is 'COSINE'; LINEAR, POLY, RBF or SIGMOID is needed");
  EXPECT_EQ(said("SVMRegressor", {rho, coefficients, vectors, two, text_attribute("kernel_type", "RBF")}),
            "kernel_params has 0 numbers; gamma, coef0 and degree are needed");
  EXPECT_EQ(said("SVMRegressor", {rho, coefficients, vectors, int_attribute("n_supports", 3)}),
            "n_supports is 3 and coefficients has 2 numbers; one a support vector is needed");
  EXPECT_EQ(said("SVMRegressor", {rho, coefficients, floats_attribute("support_vectors", {1, 2, 3}), two}),
            "support_vectors has 3 numbers, which are not 2 vectors of equal length");
  EXPECT_EQ(said("SVMRegressor", {rho, coefficients, floats_attribute("support_vectors", {1, 2}), two}),
            "the features of x and those of a support vector are 2 and 1; they must be equal");
  EXPECT_EQ(said("SVMRegressor", {coefficients, vectors, two, floats_attribute("rho", {1, 2})}),
            "rho has 2 numbers; one is needed");
  EXPECT_EQ(said("SVMRegressor", {rho, coefficients, vectors, two, text_attribute("post_transform", "LOGISTIC")}),
            "post_transform of SVMRegressor is not in Kiln");
  const Proto labels = ints_attribute("classlabels_ints", {1, 2});
  EXPECT_EQ(said("SVMClassifier", {rho, coefficients, vectors, labels}),
            "vectors_per_class is missing or empty: a linear SVM is to be a LinearClassifier");
  EXPECT_EQ(said("SVMClassifier", {rho, coefficients, vectors, labels, ints_attribute("vectors_per_class", {2})}),
            "vectors_per_class has 1 numbers; there are 2 labels");
  EXPECT_EQ(said("SVMClassifier", {rho, coefficients, vectors, labels, ints_attribute("vectors_per_class", {2, 1})}),
            "coefficients has 2 numbers; 3 for each class but one are needed");
  EXPECT_EQ(said("SVMClassifier", {coefficients, vectors, labels, ints_attribute("vectors_per_class", {1, 1}),
                                   floats_attribute("rho", {1, 2})}),
            "rho has 2 numbers; 1 are needed, one a pair of classes");
  EXPECT_EQ(said("SVMClassifier", {rho, coefficients, vectors, labels, ints_attribute("vectors_per_class", {1, 1}),
                                   floats_attribute("prob_a", {1, 2})}),
            "prob_a has 2 numbers and prob_b 0; 1 each are needed, one a pair of classes");
}

TEST(ImportZipMap, IsToldWhatToDo) {
  EXPECT_EQ(text_of(import_ml("ZipMap", {value("a", kFloat, {3, 2})}, {ints_attribute("classlabels_int64s", {1, 2})})),
            "node 'n' (ai.onnx.ml.ZipMap) of a f32[3, 2]: operator ZipMap of domain 'ai.onnx.ml' makes maps of scores "
            "by labels, which no network can hold or give; convert the model with options={'zipmap': False}, so that "
            "it gives the scores as a tensor\n");
}

/// A tree: feature 0 <= 1 ? leaf 1 : leaf 2, as lists that tests change.
struct OneTree {
  std::initializer_list<int64_t> node_ids = {0, 1, 2}, true_nodes = {1, 0, 0}, false_nodes = {2, 0, 0};
  Texts modes = {"BRANCH_LEQ", "LEAF", "LEAF"};
  Floats values = {1, 0, 0};
};
std::string said_of_tree(const OneTree& tree, std::initializer_list<Proto> others,
                         std::string_view op = "TreeEnsembleRegressor") {
  Proto made = node(op, {"a"}, {"y", "z"}, "n", {}, "ai.onnx.ml");
  for (const Proto& each :
       {ints_attribute("nodes_treeids", {0, 0, 0}), ints_attribute("nodes_nodeids", tree.node_ids),
        ints_attribute("nodes_featureids", {0, 0, 0}), ints_attribute("nodes_truenodeids", tree.true_nodes),
        ints_attribute("nodes_falsenodeids", tree.false_nodes), texts_attribute("nodes_modes", tree.modes),
        floats_attribute("nodes_values", tree.values)})
    made.message(field::node::kAttribute, each);
  for (const Proto& each : others) made.message(field::node::kAttribute, each);
  const std::string text = text_of(import_proto(
      Proto()
          .integer(field::model::kIrVersion, 10)
          .message(field::model::kOpsetImport, opset("", 21))
          .message(field::model::kOpsetImport, opset("ai.onnx.ml", 3))
          .message(field::model::kGraph, graph({{made}, {value("a", kFloat, {3, 2})}, {value("y"), value("z")}, {}}))));
  const std::string intro = str("node 'n' (ai.onnx.ml.", op, ") of a f32[3, 2]: ");
  return text.starts_with(intro) ? text.substr(intro.size(), text.size() - intro.size() - 1) : text;
}
const std::initializer_list<Proto> kTargets = {
    int_attribute("n_targets", 1), ints_attribute("target_treeids", {0, 0}), ints_attribute("target_nodeids", {1, 2}),
    ints_attribute("target_ids", {0, 0}), floats_attribute("target_weights", {5, 6})};

TEST(ImportTreeEnsembleRegressor, SaysWhatIsWrongWithNodes) {
  EXPECT_EQ(said_of_tree({.values = {1, 0}}, kTargets), "nodes_values has 2 entries and nodes_treeids 3");
  EXPECT_EQ(said_of_tree({.modes = {"BRANCH_LEQ", "LEAF", "LEAVES"}}, kTargets),
            "nodes_modes has 'LEAVES'; BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF is "
            "needed");
  EXPECT_EQ(said_of_tree({.node_ids = {0, 1, 1}}, kTargets), "node 1 of tree 0 is there twice");
  EXPECT_EQ(said_of_tree({.false_nodes = {3, 0, 0}}, kTargets), "node 0 of tree 0 has a child 3, which is not there");
  EXPECT_EQ(said_of_tree({.false_nodes = {1, 0, 0}}, kTargets),
            "tree 0 has two nodes that are no child of another; one root is needed");
  EXPECT_EQ(said_of_tree({.true_nodes = {0, 0, 0}}, kTargets), "node 0 is in no tree");
}
TEST(ImportTreeEnsembleRegressor, SaysWhatIsWrongWithWeights) {
  const Proto targets = int_attribute("n_targets", 1), trees = ints_attribute("target_treeids", {0, 0}),
              nodes = ints_attribute("target_nodeids", {1, 2}), ids = ints_attribute("target_ids", {0, 0}),
              weights = floats_attribute("target_weights", {5, 6});
  EXPECT_EQ(said_of_tree({}, {trees, nodes, ids, weights}), "attribute 'n_targets' is missing; INT is needed");
  EXPECT_EQ(said_of_tree({}, {targets, trees, nodes, ids}), "target_weights has 0 entries and target_treeids 2");
  EXPECT_EQ(said_of_tree({}, {targets, trees, nodes, weights, ints_attribute("target_ids", {0, 1})}),
            "target_ids has 1, which is outside [0, 1)");
  EXPECT_EQ(said_of_tree({}, {targets, trees, ids, weights, ints_attribute("target_nodeids", {1, 7})}),
            "a weight is of node 7 of tree 0, which is not there");
  EXPECT_EQ(said_of_tree({}, {targets, trees, nodes, ids, weights, floats_attribute("base_values", {1, 2})}),
            "base_values has 2 numbers; 1 are needed");
  EXPECT_EQ(said_of_tree({}, {targets, trees, nodes, ids, weights, text_attribute("aggregate_function", "MEAN")}),
            "aggregate_function is 'MEAN'; AVERAGE, SUM, MIN or MAX is needed");
}
TEST(ImportTreeEnsembleClassifier, SaysWhatIsWrong) {
  const Proto trees = ints_attribute("class_treeids", {0, 0}), nodes = ints_attribute("class_nodeids", {1, 2}),
              ids = ints_attribute("class_ids", {1, 1}), weights = floats_attribute("class_weights", {5, 6});
  const auto of = [&](std::initializer_list<Proto> others) {
    return said_of_tree({}, others, "TreeEnsembleClassifier");
  };
  EXPECT_EQ(of({trees, nodes, ids, weights, texts_attribute("classlabels_strings", {"a", "b"})}),
            "attribute 'classlabels_strings': strings are not in Kiln; train or export with classes that are integers");
  EXPECT_EQ(of({trees, nodes, ids, weights, ints_attribute("classlabels_int64s", {4, 5})}),
            "class_ids are all 1; where one score decides between two classes, all are 0");
  EXPECT_EQ(of({trees, nodes, ids, weights, ints_attribute("classlabels_int64s", {4, 5, 6}),
                floats_attribute("base_values", {1, 2})}),
            "base_values has 2 numbers; 3 are needed");
}

}  // namespace
}  // namespace kiln::onnx
