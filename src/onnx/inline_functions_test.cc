#include "onnx/inline_functions.h"

#include <gtest/gtest.h>

#include "onnx/check.h"
#include "onnx/reader.h"
#include "onnx/test_model.h"

namespace kiln::onnx {
namespace {

using test::Proto;

std::string print(const GraphDef& graph) {
  std::string out;
  const auto names = [&](const std::vector<std::string_view>& list) {
    for (size_t i = 0; i < list.size(); ++i) out += str(i ? "," : "", list[i]);
  };
  for (const NodeDef& node : graph.nodes) {
    names(node.outputs);
    out += str(" = ", node.op_type, node.opset ? str("@", node.opset) : "", '(');
    names(node.inputs);
    out += str(") ", node.name);
    for (const AttributeDef& a : node.attributes) {
      out += str(' ', a.name, '=');
      if (a.kind == AttributeKind::kInt) out += str(a.i);
      if (a.kind == AttributeKind::kGraph)
        out += str("{", print(*a.graphs[0]), "-> ", a.graphs[0]->outputs[0].name, "}");
    }
    out += '\n';
  }
  return out;
}

/// The nodes after inlining, or the error. What inlines must also hold to all rules.
std::string inlined(const Proto& proto) {
  const auto model = read_model(test::bytes_of(proto));
  if (!model) return model.error().message;
  const auto flat = inline_functions(*model);
  if (!flat) return flat.error().message;
  EXPECT_TRUE((*flat)->functions.empty());
  for (const ModelProblem& problem : check_model(*flat).problems) ADD_FAILURE() << problem.message;
  return print((*flat)->graph);
}

Proto call(std::string_view function, test::Texts inputs, test::Texts outputs, std::string_view name,
           std::initializer_list<Proto> attributes = {}) {
  return test::node(function, inputs, outputs, name, attributes, "local");
}
Proto main_graph(const std::vector<Proto>& nodes) {
  return test::graph({.nodes = nodes, .inputs = {test::value("x")}, .outputs = {test::value("y")}});
}

TEST(InlineFunctions, NamesOfTwoCallsDiffer) {
  const Proto twice = test::function("Twice", {"a"}, {"b"},
                                     {test::node("Neg", {"a"}, {"t"}, "first"), test::node("Neg", {"t"}, {"b"})});
  EXPECT_EQ(
      inlined(test::model(main_graph({call("Twice", {"x"}, {"m"}, "f1"), call("Twice", {"m"}, {"y"}, "")}), {twice})),
      "f1/t = Neg(x) f1/first\n"
      "m = Neg(f1/t) f1/Neg\n"
      "Twice/t = Neg(m) Twice/first\n"
      "y = Neg(Twice/t) Twice/Neg\n");
}

TEST(InlineFunctions, TakenNamesGetANumber) {
  const Proto f = test::function("F", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"t"}), test::node("Neg", {"t"}, {"b"})});
  EXPECT_EQ(inlined(test::model(
                main_graph({test::node("Abs", {"x"}, {"c/t"}, "c/Neg"), call("F", {"c/t"}, {"y"}, "c")}), {f})),
            "c/t = Abs(x) c/Neg\n"
            "c/t_1 = Neg(c/t) c/Neg_1\n"
            "y = Neg(c/t_1) c/Neg_2\n");
}

TEST(InlineFunctions, AttributesComeFromCallDefaultOrNowhere) {
  const Proto f = test::function("F", {"a"}, {"b"},
                                 {test::node("Op", {"a"}, {"b"}, "n",
                                             {test::ref_attribute("axis", 2, "ax"), test::ref_attribute("k", 2, "k"),
                                              test::ref_attribute("gone", 2, "gone")})})
                      .text(field::function::kAttribute, "ax")
                      .text(field::function::kAttribute, "gone")
                      .message(field::function::kDefaultAttribute, test::int_attribute("k", 7));
  EXPECT_EQ(inlined(test::model(main_graph({call("F", {"x"}, {"y"}, "c", {test::int_attribute("ax", -2)})}), {f})),
            "y = Op(x) c/n axis=-2 k=7\n");
  const Proto wrong = test::attribute("ax", 1).fixed(field::attribute::kF, 1.0f);
  EXPECT_EQ(
      inlined(test::model(main_graph({call("F", {"x"}, {"y"}, "c", {wrong})}), {f})),
      "expanding the model's functions: node 'c' (local.F): function 'local.F': node 'n' (Op): attribute 'axis' is "
      "a INT; 'ax' that it refers to is a FLOAT");
}

TEST(InlineFunctions, CallsNestAndPassAttributesOn) {
  const Proto inner = test::function("Inner", {"a"}, {"b"},
                                     {test::node("Op", {"a"}, {"b"}, "n", {test::ref_attribute("axis", 2, "p")})});
  const Proto outer = test::function(
      "Outer", {"a"}, {"b"},
      {call("Inner", {"a"}, {"t"}, "i", {test::ref_attribute("p", 2, "q")}), test::node("Neg", {"t"}, {"b"})});
  EXPECT_EQ(inlined(test::model(main_graph({call("Outer", {"x"}, {"y"}, "o", {test::int_attribute("q", 3)})}),
                                {inner, outer})),
            "o/t = Op(x) o/i/n axis=3\n"
            "y = Neg(o/t) o/Neg\n");
}

TEST(InlineFunctions, BodiesAreRenamedAndExpanded) {
  const Proto neg = test::function("N", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"b"}, "n")});
  const Proto body = test::graph({.nodes = {call("N", {"a"}, {"t"}, "in"), test::node("Add", {"t", "s"}, {"r"}, "add")},
                                  .outputs = {test::value("r")}});
  const Proto f = test::function("F", {"a"}, {"b"},
                                 {test::node("Abs", {"a"}, {"s"}, "abs"),
                                  test::node("If", {"s"}, {"b"}, "if", {test::graph_attribute("then", body)})});
  EXPECT_EQ(inlined(test::model(main_graph({call("F", {"x"}, {"y"}, "c")}), {neg, f})),
            "c/s = Abs(x) c/abs\n"
            "y = If(c/s) c/if then={c/t = Neg(x) c/in/n\nc/r = Add(c/t,c/s) c/add\n-> c/r}\n");
  const Proto direct = test::graph({.nodes = {call("N", {"x"}, {"t"}, "in")}, .outputs = {test::value("t")}});
  EXPECT_EQ(inlined(test::model(
                main_graph({test::node("If", {"x"}, {"y"}, "if", {test::graph_attribute("then", direct)})}), {neg})),
            "y = If(x) if then={t = Neg(x) in/n\n-> t}\n");
}

TEST(InlineFunctions, OptionalValuesAndCopies) {
  const Proto f = test::function("F", {"a", "opt"}, {"a", "b", "b"}, {test::node("Op", {"a", "opt"}, {"b"}, "n")});
  EXPECT_EQ(inlined(test::model(main_graph({call("F", {"x"}, {"p", "q", "y"}, "c")}), {f})),
            "q = Op(x,) c/n\n"
            "p = Identity(x) c/Identity\n"
            "y = Identity(q) c/Identity_1\n");
  EXPECT_EQ(inlined(test::model(main_graph({call("F", {"x"}, {"", "", "y"}, "c")}), {f})), "y = Op(x,) c/n\n");
}

TEST(InlineFunctions, NodesKeepTheirFunctionsOpset) {
  Proto f = test::function("F", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"b"}, "n")});
  f.message(field::function::kOpsetImport, test::opset("ai.onnx", 13));
  EXPECT_EQ(inlined(test::model(main_graph({call("F", {"x"}, {"y"}, "c")}), {f})), "y = Neg@13(x) c/n\n");
}

TEST(InlineFunctions, SaysWhatIsWrong) {
  const std::string begin = "expanding the model's functions: node 'c' (local.F): function 'local.F'";
  const auto with = [](const Proto& f, const Proto& g) {
    return inlined(test::model(main_graph({call("F", {"x"}, {"y"}, "c")}), {f, g}));
  };
  const Proto plain = test::function("G", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"b"}, "n")});
  const Proto f_calls_g = test::function("F", {"a"}, {"b"}, {call("G", {"a"}, {"b"}, "g")});
  const Proto g_calls_f = test::function("G", {"a"}, {"b"}, {call("F", {"a"}, {"b"}, "f")});
  const std::string recursion = with(f_calls_g, g_calls_f);
  EXPECT_TRUE(recursion.ends_with("function 'local.F' calls itself: F -> G -> F")) << recursion;
  EXPECT_EQ(with(plain, plain), "expanding the model's functions: function 'local.G' is defined twice");
  EXPECT_EQ(with(test::function("F", {}, {"b"}, {}), plain),
            begin + ": is called with 1 inputs and 1 outputs; it has 0 and 1");
  EXPECT_EQ(with(test::function("F", {"a"}, {"b"}, {}), plain), begin + ": output 'b' is made by none of its nodes");
  EXPECT_EQ(with(test::function("F", {"a"}, {"b"}, {test::node("Neg", {"z"}, {"b"}, "n")}), plain),
            begin + ": node 'n' (Neg): value 'z' is made by no node and is no input");
}

TEST(InlineFunctions, RefusesToExplode) {
  std::vector<Proto> functions{test::function("f0", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"b"})})};
  for (int i = 1; i < 40; ++i) {
    const std::string below = str("f", i - 1);
    functions.push_back(
        test::function(str("f", i), {"a"}, {"b"}, {call(below, {"a"}, {"t"}, ""), call(below, {"t"}, {"b"}, "")}));
  }
  const std::string error = inlined(test::model(main_graph({call("f39", {"x"}, {"y"}, "c")}), functions));
  EXPECT_TRUE(error.ends_with("MiB of names")) << error.substr(0, 200) << " ... " << error.size();
  EXPECT_LT(error.size(), 8000u);
}

}  // namespace
}  // namespace kiln::onnx
