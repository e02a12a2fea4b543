#include "passes/recognize_recurrence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/copy.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ops/element_wise.h"
#include "ops/loop.h"
#include "ops/matrix_multiply.h"
#include "ops/recurrence.h"
#include "ops/reshape.h"
#include "passes/pass.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

constexpr int64_t kTime = 4, kBatch = 2, kInput = 3, kHidden = 2;

/// Numbers between -1 and 1, others for each seed.
std::vector<double> some_numbers(int64_t count, int seed) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(std::round(1000 * std::sin(1.3 * static_cast<double>(i) + 2.1 * seed)) / 1000);
  return numbers;
}
std::string constant(std::string_view name, const Extents& extents, int seed) {
  std::string text = str(name, " = Constant{value=f32", extents, "(");
  for (const double number : some_numbers(volume(extents), seed)) text += str(text.back() == '(' ? "" : ", ", number);
  return text + ")}(); ";
}
std::string sum(std::string_view y, std::string_view a, std::string_view b) {
  return str(y, " = ElementWise{kind=sum}(", a, ", ", b, "); ");
}
std::string prod(std::string_view y, std::string_view a, std::string_view b) {
  return str(y, " = ElementWise{kind=prod}(", a, ", ", b, "); ");
}
std::string sub(std::string_view y, std::string_view a, std::string_view b) {
  return str(y, " = ElementWise{kind=sub}(", a, ", ", b, "); ");
}
std::string activation(std::string_view y, std::string_view kind, std::string_view x) {
  return str(y, " = Activation{kind=", kind, "}(", x, "); ");
}
/// y = x times a transposed matrix [rows, columns] of its own.
std::string product(std::string_view y, std::string_view x, int64_t rows, int64_t columns, int seed) {
  return constant(str("M", y), {rows, columns}, seed) + str(y, " = MatrixMultiply{b=transpose}(", x, ", M", y, "); ");
}
/// Gate `at` of the columns of x.
std::string part(std::string_view y, std::string_view x, int64_t at) {
  return str(y, " = Slice{starts=[", at * kHidden, "], sizes=[", kHidden, "], axes=[1]}(", x, "); ");
}
/// A gate with products and biases of its own.
std::string gate(std::string_view y, std::string_view kind, int seed) {
  const std::string x = str(y, "x"), h = str(y, "h"), s = str(y, "s"), b = str(y, "b"), a = str(y, "a");
  return product(x, "x", kHidden, kInput, seed) + product(h, "h", kHidden, kHidden, seed + 1) + sum(s, x, h) +
         constant(b, {1, kHidden}, seed + 2) + sum(a, b, s) + activation(y, kind, a);
}

const std::string kLstmInputs = "n: i64[]; h: f32[2, 2]; c: f32[2, 2]; x: f32[2, 3]; ",
                  kInputs = "n: i64[]; h: f32[2, 2]; x: f32[2, 3]; ";
const std::string kMemory = prod("vc", "v", "c") + prod("ig", "i", "g") + sum("c2", "vc", "ig") +
                            activation("k", "tanh", "c2") + prod("h2", "o", "k");
const std::string kOneProduct = product("xw", "x", 8, 3, 1) + product("hr", "h", 8, 2, 2) + sum("s", "xw", "hr") +
                                constant("b", {1, 8}, 3) + sum("a", "s", "b");
const std::string kGates = part("ia", "a", 0) + part("va", "a", 1) + part("ga", "a", 2) + part("oa", "a", 3) +
                           activation("i", "sigmoid", "ia") + activation("v", "sigmoid", "va") +
                           activation("g", "tanh", "ga") + activation("o", "sigmoid", "oa");
const std::string kReturnLstm = "return h2, c2, h2 as y";
const std::string kGruGates = gate("z", "sigmoid", 1) + gate("r", "sigmoid", 4);
const std::string kOne = "one = Constant{value=f32[1, 1](1)}(); ";
const std::string kNewLinear = product("nx", "x", 2, 3, 7) + product("nh", "h", 2, 2, 8) + constant("nb", {1, 2}, 9) +
                               sum("nhb", "nh", "nb") + prod("rn", "r", "nhb") + sum("na", "nx", "rn") +
                               activation("n", "tanh", "na");
const std::string kMix =
    kOne + sub("u", "one", "z") + prod("un", "u", "n") + prod("zh", "z", "h") + sum("h2", "un", "zh");
const std::string kReturn = "return h2, h2 as y";

struct Written final : Log {
  void write(Severity, std::string_view message) override { text += str(message, '\n'); }
  std::string text;
};

/// A loop around a body, of which the inputs behind the carried ones are scanned.
struct Case {
  std::string body;
  ops::Loop loop = {.carried = 1, .scans = {1}, .stacks = {1}};
  std::optional<int64_t> count = {};
  bool refittable = false, strongly_typed = false;
  Status (*extend)(ir::Graph& body) = nullptr;  ///< adds what the text cannot say
};
Case lstm(std::string cell) { return {kLstmInputs + cell + kReturnLstm, {.carried = 2, .scans = {1}, .stacks = {1}}}; }
Case gru(std::string cell) { return {kInputs + cell + kReturn}; }

/// The network of a loop, whose inputs are the loop's: carried values, scanned ones, captured ones.
class Network {
 public:
  explicit Network(const Case& c) {
    const Status made = make(c);
    EXPECT_TRUE(made) << made.error().message << "\n" << c.body;
  }
  Status make(const Case& c) {
    ir::Graph written = TRY(ir::parse(c.body));
    graph = ir::Graph(written.shared_table());
    if (c.extend) TRY(c.extend(written));
    const auto body = graph.new_body();
    ir::Places places(static_cast<size_t>(written.num_values()), ir::ValueId::kNone);
    std::vector<ir::ValueId> inputs(2, ir::ValueId::kNone);
    if (c.count)
      inputs[0] = graph.add_constant(HostTensor::of_ints(DType::kI64, {}, std::array<int64_t, 1>{*c.count}), "count");
    for (size_t i = 0; i < written.inputs().size(); ++i) {
      const ir::ValueId input = written.inputs()[i];
      const std::string& name = written.value(input).name;
      TensorType type = written.type(input);
      places[ir::index(input)] = body->add_input(name, type);
      if (i == 0) continue;
      const auto k = static_cast<int>(i) - 1 - c.loop.carried;
      if (k >= 0 && k < std::ssize(c.loop.scans)) type.shape.insert(type.shape.begin(), kTime);
      inputs.push_back(type.dtype == DType::kI64 ? graph.add_constant(HostTensor::scalar(DType::kI64, 0), name)
                                                 : graph.add_input(name, type));
    }
    places = TRY(ir::splice(*body, written, places, {}));
    for (int i = 0; i < body->num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); body->node(id).op.as<ops::Constant>())
        if (const ir::ValueId value = body->node(id).outputs[0]; is_float(body->type(value).dtype))
          body->set_origin(id, source_origin(body->value(value).name, *body->constant(value)));
    for (const ir::Output& output : written.outputs()) body->mark_output(places[ir::index(output.value)], output.name);
    const std::vector<ir::ValueId> outputs = TRY(graph.add(c.loop, inputs, "loop", {body}));
    for (size_t k = 0; k < outputs.size(); ++k) graph.mark_output(outputs[k], str("y", k));
    return {};
  }
  std::vector<HostTensor> run() const {
    std::vector<HostTensor> inputs;
    for (const ir::ValueId input : graph.inputs()) {
      const Extents extents = graph.type(input).opt_extents();
      inputs.push_back(
          HostTensor::of(DType::kF32, extents, some_numbers(volume(extents), 20 + static_cast<int>(inputs.size()))));
    }
    auto results = ir::interpret(graph, inputs);
    EXPECT_TRUE(results) << results.error().message << "\n" << ir::print(graph);
    return results ? *results : std::vector<HostTensor>();
  }
  std::string recognize(bool refittable = false, bool strongly_typed = false) {
    Written log;
    PassContext cx{log};
    cx.refittable = refittable;
    cx.strongly_typed = strongly_typed;
    const Status done = recognize_recurrence(graph, cx);
    fixed_sources = cx.fixed_sources;
    EXPECT_TRUE(done) << done.error().message;
    const Status sound = ir::verify(graph);
    EXPECT_TRUE(sound) << sound.error().message;
    return log.text;
  }
  template <class T>
  const T* find() const {
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); graph.alive(id) && graph.node(id).op.as<T>())
        return graph.node(id).op.as<T>();
    return nullptr;
  }
  /// The sources of one of the recurrence's inputs.
  std::vector<std::string> sources_of(size_t input) const {
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); graph.alive(id) && graph.node(id).op.as<ops::Recurrence>())
        return graph.origin(graph.node(id).input(input))->sources;
    return {};
  }

  ir::Graph graph;
  FixedSources fixed_sources;
};

void expect_close(const std::vector<HostTensor>& found, const std::vector<HostTensor>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].extents(), wanted[i].extents());
    for (int64_t k = 0; k < found[i].volume(); ++k)
      ASSERT_NEAR(View(found[i])[k], View(wanted[i])[k], 2e-6) << "output " << i << ", element " << k;
  }
}

/// Checks that the loop becomes a recurrence that computes the same; returns it.
ops::Recurrence recognized(const Case& c) {
  Network network(c);
  const std::vector<HostTensor> wanted = network.run();
  const std::string log = network.recognize(c.refittable);
  EXPECT_EQ(network.find<ops::Loop>(), nullptr) << log;
  const auto* recurrence = network.find<ops::Recurrence>();
  if (!recurrence) return {};
  expect_close(network.run(), wanted);
  return *recurrence;
}
/// Checks that the loop stays as it is; returns why.
std::string left(const Case& c) {
  Network network(c);
  const std::string before = ir::print(network.graph);
  std::string log = network.recognize(c.refittable, c.strongly_typed);
  EXPECT_EQ(ir::print(network.graph), before) << log;
  EXPECT_EQ(log.find("loop 'loop' stays a loop: "), 0U) << log;
  return log;
}
void expect_left(const Case& c, std::string_view why) {
  const std::string log = left(c);
  EXPECT_NE(log.find(why), std::string::npos) << log;
}

TEST(RecognizeRecurrence, LstmOfOneProduct) {
  const ops::Recurrence op = recognized(lstm(kOneProduct + kGates + kMemory));
  EXPECT_EQ(op.cell, ops::RecurrenceCell::kLstm);
  EXPECT_EQ(op.direction, ops::RecurrenceDirection::kForward);
}
TEST(RecognizeRecurrence, WritesDownTheOpAndItsWeights) {
  Network network(
      {"n: i64[]; h: f32[1, 1]; x: f32[1, 2]; "
       "w = Constant{value=f32[1, 2](1, 2)}(); r = Constant{value=f32[1, 1](3)}(); "
       "b = Constant{value=f32[1, 1](4)}(); wx = MatrixMultiply{b=transpose}(x, w); "
       "rh = MatrixMultiply(h, r); s = ElementWise{kind=sum}(wx, rh); a = ElementWise{kind=sum}(s, b); "
       "h2 = Activation{kind=relu}(a); return h2, h2 as y",
       {.carried = 1, .scans = {-1}, .stacks = {1}}});
  EXPECT_EQ(network.recognize(), "loop 'loop' becomes a recurrence: rnn of 1 hidden units\n");
  EXPECT_EQ(ir::print(network.graph),
            "h: f32[1, 1]\nx: f32[4, 1, 2]\n"
            "loop input weights = Constant{value=f32[1, 1, 2](1, 2)}()  # f32[1, 1, 2]\n"
            "loop state weights = Constant{value=f32[1, 1, 1](3)}()  # f32[1, 1, 1]\n"
            "loop biases = Constant{value=f32[1, 2](4, 0)}()  # f32[1, 2]\n"
            "%7 = Reshape{dims=[1, 1, 1], zero_is_placeholder=false}(h)  # f32[1, 1, 1]\n"
            "%8, %9 = Recurrence{cell=rnn, direction=reverse, layout=time_major, "
            "activations=[{function=relu, alpha=0, beta=0}], clip=none, linear_before_reset=false, input_forget=false}"
            "(x, loop input weights, loop state weights, loop biases, _, %7)  # f32[4, 1, 1, 1] f32[1, 1, 1]\n"
            "%10 = Reshape{dims=[1, 1], zero_is_placeholder=false}(%9)  # f32[1, 1]\n"
            "%11 = DimValues{values=[3], dtype=i64, extents=[1]}()  # i64[1]\n"
            "%12 = DimValues{values=[4], dtype=i64, extents=[1]}()  # i64[1]\n"
            "%13 = Slice{starts=[], sizes=[], strides=[-1], axes=[0], mode=strict_bounds}(%8, %11, %12)"
            "  # f32[4, 1, 1, 1]\n"
            "%14 = Reshape{dims=[4, 1, 1], zero_is_placeholder=false}(%13)  # f32[4, 1, 1]\n"
            "return %10 as y0, %14 as y1\n");
}
TEST(RecognizeRecurrence, LstmOfFourProducts) {
  recognized(lstm(gate("i", "sigmoid", 1) + gate("v", "sigmoid", 4) + gate("g", "tanh", 7) + gate("o", "sigmoid", 10) +
                  kMemory));
}
TEST(RecognizeRecurrence, LstmWhoseInputsAreJoined) {
  for (const char* order : {"x, h", "h, x"})
    recognized(lstm(str("xh = Concatenation{axis=1}(", order, "); ") + product("s", "xh", 8, 5, 1) +
                    constant("b", {1, 8}, 2) + sum("a", "b", "s") + kGates + kMemory));
}
TEST(RecognizeRecurrence, ActivationsInFrontOfTheSlices) {
  recognized(lstm(kOneProduct + "t = Slice{starts=[0], sizes=[4], axes=[1]}(a); " + activation("iv", "sigmoid", "t") +
                  part("i", "iv", 0) + part("v", "iv", 1) + part("ga", "a", 2) + part("oa", "a", 3) +
                  activation("g", "tanh", "ga") + activation("o", "sigmoid", "oa") + kMemory));
}
TEST(RecognizeRecurrence, GatesAlongAnAxisOfTheirOwn) {
  std::string cell = kOneProduct + "q = Reshape{dims=[2, 4, 2]}(a); ";
  for (const auto& [y, at] : {std::pair("ia", 2), std::pair("va", 0), std::pair("ga", 3), std::pair("oa", 1)})
    cell += str(y, "3 = Slice{starts=[", at, "], sizes=[1], axes=[1]}(q); ", y, " = Squeeze{axes=[1]}(", y, "3); ");
  recognized(lstm(cell + kGates.substr(kGates.find("i = ")) + kMemory));
}
TEST(RecognizeRecurrence, EitherOrderOfOperandsAndOfStates) {
  const std::string memory = prod("vc", "c", "v") + prod("ig", "g", "i") + sum("c2", "ig", "vc") +
                             activation("k", "relu", "c2") + prod("h2", "k", "o");
  Case c = lstm(kOneProduct + kGates + memory);
  EXPECT_EQ(recognized(c).activations[2].function, ops::GateFunction::kRelu);
  c.body.replace(c.body.find("h: f32[2, 2]; c:"), 16, "c: f32[2, 2]; h:");
  c.body.replace(c.body.find(kReturnLstm), kReturnLstm.size(), "return c2, h2");
  c.loop.stacks.clear();
  recognized(c);
}
TEST(RecognizeRecurrence, Peepholes) {  // of c before the step for i and v, and behind it for o
  const std::string gates = constant("pi", {1, 2}, 5) + constant("pv", {1, 2}, 6) + constant("po", {1, 1}, 7) +
                            part("ia", "a", 0) + part("va", "a", 1) + part("ga", "a", 2) + part("oa", "a", 3) +
                            prod("ci", "c", "pi") + sum("ip", "ia", "ci") + activation("i", "sigmoid", "ip") +
                            prod("cv", "pv", "c") + sum("vp", "cv", "va") + activation("v", "sigmoid", "vp") +
                            activation("g", "tanh", "ga") + prod("vc", "v", "c") + prod("ig", "i", "g") +
                            sum("c2", "vc", "ig");
  const auto behind = [](std::string_view c) {
    return prod("co", c, "po") + sum("op", "oa", "co") + activation("o", "sigmoid", "op") +
           activation("k", "tanh", "c2") + prod("h2", "o", "k");
  };
  recognized(lstm(kOneProduct + gates + behind("c2")));
  expect_left(lstm(kOneProduct + gates + behind("c")), "a gate adds 'co'");
}
TEST(RecognizeRecurrence, ForgetBiasIsABias) {
  std::string gates = kGates;
  gates.replace(gates.find("v = "), gates.find("g = ") - gates.find("v = "),
                kOne + sum("va1", "va", "one") + activation("v", "sigmoid", "va1"));
  recognized(lstm(kOneProduct + gates + kMemory));
}
TEST(RecognizeRecurrence, Directions) {
  for (const int scan : {1, -1})
    for (const int stack : {1, -1}) {
      Case c = lstm(kOneProduct + kGates + kMemory);
      c.loop.scans = {scan}, c.loop.stacks = {stack};
      EXPECT_EQ(recognized(c).direction,
                scan > 0 ? ops::RecurrenceDirection::kForward : ops::RecurrenceDirection::kReverse);
    }
}
TEST(RecognizeRecurrence, GruOfEitherForm) {
  EXPECT_TRUE(recognized(gru(kGruGates + kNewLinear + kMix)).linear_before_reset);
  const std::string resets_first = prod("rh2", "r", "h") + product("nh", "rh2", 2, 2, 8) + product("nx", "x", 2, 3, 7) +
                                   constant("nb", {1, 2}, 9) + sum("nxb", "nx", "nb") + sum("na", "nxb", "nh") +
                                   activation("n", "tanh", "na");
  const ops::Recurrence op = recognized(gru(kGruGates + resets_first + kMix));
  EXPECT_EQ(op.cell, ops::RecurrenceCell::kGru);
  EXPECT_FALSE(op.linear_before_reset);
}
TEST(RecognizeRecurrence, MixturesOfGru) {
  const std::string front = kGruGates + kNewLinear;
  recognized(gru(front + sub("d", "h", "n") + prod("zd", "d", "z") + sum("h2", "n", "zd")));
  recognized(gru(front + sub("d", "n", "h") + prod("zd", "z", "d") + sum("h2", "zd", "h")));
  recognized(gru(front + sub("d", "n", "h") + prod("zd", "z", "d") + sub("h2", "n", "zd")));
  recognized(gru(front + sub("d", "h", "n") + prod("zd", "z", "d") + sub("h2", "h", "zd")));
  recognized(
      gru(front + kOne + sub("u", "one", "z") + prod("un", "z", "n") + prod("zh", "u", "h") + sum("h2", "un", "zh")));
}
TEST(RecognizeRecurrence, PlainCells) {
  for (const char* kind : {"tanh", "relu", "softsign", "hard_sigmoid"})
    EXPECT_EQ(recognized(gru(gate("h2", kind, 1))).cell, ops::RecurrenceCell::kRnn);
}
TEST(RecognizeRecurrence, NoBatchOrMoreAxes) {
  const auto cell = [](std::string_view state, std::string_view input) {
    return Case{str("n: i64[]; h: f32", state, "; x: f32", input, "; ") + constant("w", {2, 3}, 1) +
                constant("r", {2, 2}, 2)};
  };
  Case vectors = cell("[2]", "[3]");
  vectors.body += "wx = MatrixMultiply{b=vector}(w, x); rh = MatrixMultiply{a=vector}(h, r); " + sum("a", "wx", "rh") +
                  activation("h2", "tanh", "a") + "return h2, h2 as y";
  recognized(vectors);
  Case columns = cell("[2, 1]", "[3, 1]");
  columns.body += "wx = MatrixMultiply(w, x); rh = MatrixMultiply{a=transpose}(r, h); " + sum("a", "wx", "rh") +
                  activation("h2", "tanh", "a") + "return h2, h2 as y";
  recognized(columns);
  Case units = {"n: i64[]; h: f32[2, 1]; x: f32[2, 3]; " + product("xw", "x", 1, 3, 1) + product("hr", "h", 1, 1, 2) +
                sum("a", "xw", "hr") + activation("h2", "tanh", "a") + "return h2, h2 as y"};  // no column
  recognized(units);
  Case more = cell("[2, 3, 2]", "[2, 3, 3]");
  more.body +=
      "w3 = Reshape{dims=[1, 2, 3]}(w); r3 = Reshape{dims=[1, 2, 2]}(r); "
      "wx = MatrixMultiply{b=transpose}(x, w3); rh = MatrixMultiply(h, r3); " +
      sum("a", "wx", "rh") + activation("h2", "tanh", "a") + "return h2, h2 as y";
  recognized(more);
}
TEST(RecognizeRecurrence, SeveralInputs) {
  recognized({"n: i64[]; h: f32[2, 2]; x: f32[2, 3]; v: f32[2, 1]; " + gate("g", "tanh", 1) +
                  product("vm", "v", 2, 1, 9) + sum("a", "vm", "gs") + activation("h2", "tanh", "a") + kReturn,
              {.carried = 1, .scans = {1, 1}, .stacks = {1}}});
}
TEST(RecognizeRecurrence, ProductsThatTheNetworkMakes) {
  Case c{"n: i64[]; h: f32[2, 2]; c: f32[2, 2]; xw: f32[2, 8]; " + product("hr", "h", 8, 2, 2) + sum("a", "xw", "hr") +
             kGates + kMemory + kReturnLstm,
         {.carried = 2, .scans = {1}, .stacks = {1}}};
  recognized(c);
  Network network(c);
  network.recognize();
  const std::string text = ir::print(network.graph);
  EXPECT_NE(text.find("(%10, _, loop state weights, "), std::string::npos) << text;
}
TEST(RecognizeRecurrence, ProductsForTheLoopAlone) {  // their matrix becomes the recurrence's
  Case c{"n: i64[]; h: f32[2, 2]; c: f32[2, 2]; xw: f32[2, 8]; " + product("hr", "h", 8, 2, 2) +
             constant("b2", {1, 8}, 3) + sum("s", "xw", "hr") + sum("a", "s", "b2") + kGates + kMemory + kReturnLstm,
         {.carried = 2, .scans = {1}, .stacks = {1}}};
  Network network(c);
  ir::Graph& graph = network.graph;
  const auto floats = [](const Extents& extents, int seed) {
    return HostTensor::of(DType::kF32, extents, some_numbers(volume(extents), seed));
  };
  const ir::ValueId products = graph.inputs()[2], x = graph.add_input("x", tensor_type(DType::kF32, Extents{4, 2, 3}));
  const auto made = graph.add_one(ops::MatrixMultiply{}, {x, graph.add_constant(floats({1, 3, 8}, 5), "w")});
  ASSERT_TRUE(made) << made.error().message;
  const auto biased = graph.add_one(ops::ElementWise{}, {*made, graph.add_constant(floats({1, 1, 8}, 6), "b")});
  ASSERT_TRUE(biased) << biased.error().message;
  graph.replace_uses(products, *biased);
  graph.remove_input(products);
  const std::vector<HostTensor> wanted = network.run();
  network.recognize();
  EXPECT_EQ(network.find<ops::Loop>(), nullptr);
  expect_close(network.run(), wanted);
  const std::string text = ir::print(graph);
  EXPECT_NE(text.find("(x, loop input weights, loop state weights, loop biases, "), std::string::npos) << text;
}
TEST(RecognizeRecurrence, CountsThatAreAllSlices) {
  Case c = lstm(kOneProduct + kGates + kMemory);
  c.count = kTime;
  recognized(c);
  c.count = kTime - 1;
  expect_left(c, "it need not end with the slices of scanned input 0");
}
/// The slices of a captured x [2, 4, 3] by the iteration's number.
Case gathered(std::string_view index, std::string more = "") {
  return {"n: i64[]; h: f32[2, 2]; all: f32[2, 4, 3]; " + more + str("x = Gather{axis=1}(all, ", index, "); ") +
              gate("h2", "tanh", 1) + kReturn,
          {.carried = 1, .scans = {}, .stacks = {1}},
          kTime};
}
TEST(RecognizeRecurrence, SlicesByTheIterationsNumber) {
  EXPECT_EQ(recognized(gathered("n")).direction, ops::RecurrenceDirection::kForward);
  const std::string down = "three = Constant{value=i64[](3)}(); m = ElementWise{kind=sub}(three, n); ";
  EXPECT_EQ(recognized(gathered("m", down)).direction, ops::RecurrenceDirection::kReverse);
  Case fewer = gathered("n");
  fewer.count = 3;
  expect_left(fewer, "it has 3 iterations and reads slices of 4");
  expect_left(gathered("m", "one = Constant{value=i64[](1)}(); m = ElementWise{kind=sub}(one, n); "),
              "does not take one slice after the other");
}
TEST(RecognizeRecurrence, SlicesByANumberThatIsCarried) {
  const auto counts_by = [](std::string_view step) {
    Case c = gathered("k", str("step = Constant{value=i64[](", step, ")}(); k2 = ElementWise{kind=sum}(step, k); "));
    c.body.replace(c.body.find("h: "), 3, "k: i64[]; h: ");
    c.body.replace(c.body.find(kReturn), kReturn.size(), "return k2, h2, h2 as y");
    c.loop.carried = 2;
    return c;
  };
  Network network(counts_by("1"));
  const std::vector<HostTensor> wanted = network.run();
  network.graph.unmark_output(network.graph.outputs()[0].value);  // nobody reads how many iterations there were
  network.recognize();
  EXPECT_EQ(network.find<ops::Loop>(), nullptr);
  expect_close(network.run(), {wanted[1], wanted[2]});
  expect_left(counts_by("0"), "a gather in it does not take one slice after the other");
}
/// Puts an LSTM of one time step behind a body's nodes, and returns what it makes of the states with these names.
Status add_step(ir::Graph& body, std::string_view h, std::string_view c) {
  const auto called = [&](std::string_view name) {
    int i = 0;
    while (body.value(static_cast<ir::ValueId>(i)).name != name) ++i;
    return static_cast<ir::ValueId>(i);
  };
  ops::Recurrence op{.cell = ops::RecurrenceCell::kLstm};
  op.activations = {{ops::GateFunction::kSigmoid}, {ops::GateFunction::kTanh}, {ops::GateFunction::kTanh}};
  const ir::ValueId inputs[] = {called("x3"),       called("w"), called("r"), called("b"),
                                ir::ValueId::kNone, called(h),   called(c),   called("p")};
  const std::vector<ir::ValueId> outputs = TRY(body.add(op, inputs));
  body.unmark_output(body.outputs()[0].value);
  const auto mark = [&](size_t output, std::string_view name) -> Status {
    body.mark_output(TRY(body.add_one(ops::Reshape{.dims = {2, 2}}, {outputs[output]})), std::string(name));
    return {};
  };
  TRY(mark(ops::Recurrence::kYH, "h2"));
  TRY(mark(ops::Recurrence::kYC, "c2"));
  return mark(ops::Recurrence::kY, "y2");
}
TEST(RecognizeRecurrence, StepsOfRecurrences) {  // as exporters write single cells
  Case c{"n: i64[]; h: f32[2, 2]; c: f32[2, 2]; x: f32[2, 3]; " + constant("w", {1, 8, 3}, 1) +
             constant("r", {1, 8, 2}, 2) + constant("b", {1, 16}, 3) + constant("p", {1, 6}, 4) +
             "x3 = Unsqueeze{axes=[0]}(x); h3 = Unsqueeze{axes=[0]}(h); c3 = Unsqueeze{axes=[0]}(c); return x3",
         {.carried = 2, .scans = {1}, .stacks = {1}}};
  c.extend = [](ir::Graph& body) { return add_step(body, "h3", "c3"); };
  recognized(c);
  c.loop.scans = {-1};
  EXPECT_EQ(recognized(c).direction, ops::RecurrenceDirection::kReverse);
  c.extend = [](ir::Graph& body) { return add_step(body, "c3", "h3"); };
  expect_left(c, "no step: its recurrence does not carry h");
}

TEST(RecognizeRecurrence, WeightsKnowWhereTheyComeFrom) {
  using Names = std::vector<std::string>;
  Network network(lstm(kOneProduct + kGates + kMemory));
  network.recognize(/*refittable=*/true);
  EXPECT_EQ(network.sources_of(ops::Recurrence::kW), Names{"Mxw"});
  EXPECT_EQ(network.sources_of(ops::Recurrence::kR), Names{"Mhr"});
  EXPECT_EQ(network.sources_of(ops::Recurrence::kB), Names{"b"});
  EXPECT_TRUE(network.fixed_sources.empty());
  Case c = gru(kGruGates + kNewLinear + kMix);
  Network fixed(c);
  fixed.recognize();
  EXPECT_EQ(fixed.fixed_sources.size(), 1U);
  EXPECT_TRUE(fixed.fixed_sources.contains("one"));
  c.refittable = true;
  expect_left(c, "its form depends on a constant that may be replaced");
}

TEST(RecognizeRecurrence, CellsOfSeveralLayers) {
  const std::string second = product("hx", "h2", 2, 2, 11) + product("qh", "q", 2, 2, 12) + sum("qa", "hx", "qh") +
                             activation("q2", "tanh", "qa");
  const std::string cells = kOneProduct + kGates + kMemory + second;
  const std::string h = "h: f32[2, 2]; c: f32[2, 2]; ", q = "q: f32[2, 2]; ", x = "x: f32[2, 3]; ";
  recognized(
      {"n: i64[]; " + h + q + x + cells + "return h2, c2, q2, q2 as y", {.carried = 3, .scans = {1}, .stacks = {1}}});
  recognized({"n: i64[]; " + q + h + x + cells + "return q2, h2, c2, h2 as y, q2 as z",
              {.carried = 3, .scans = {-1}, .stacks = {1, -1}}});
}
TEST(RecognizeRecurrence, TheRestOfALoopStaysOne) {
  const std::string front = "n: i64[]; t: f32[2, 2]; h: f32[2, 2]; c: f32[2, 2]; x: f32[2, 3]; e: f32[2, 2]; " +
                            kOneProduct + kGates + kMemory + sum("t1", "t", "e");
  const std::string rest = sum("t2", "t1", "h2") + activation("y", "relu", "t2");
  for (const int way : {1, -1}) {
    Network network(
        {front + rest + "return t2, h2, c2, y, h2 as z", {.carried = 3, .scans = {way}, .stacks = {1, -1}}});
    const std::vector<HostTensor> wanted = network.run();
    EXPECT_EQ(network.recognize(), "loop 'loop' gives away a recurrence: lstm of 2 hidden units\n");
    const auto* loop = network.find<ops::Loop>();
    ASSERT_NE(loop, nullptr);
    EXPECT_EQ(loop->carried, 1);
    EXPECT_EQ(loop->scans, (std::vector{way, way}));
    EXPECT_EQ(loop->stacks, std::vector{1});
    EXPECT_NE(network.find<ops::Recurrence>(), nullptr);
    expect_close(network.run(), wanted);
  }
  for (const char* state : {"h", "c", "c2"})  // what no recurrence gives of each step
    expect_left({front + sum("t2", "t1", state) + activation("y", "relu", "t2") + "return t2, h2, c2, y",
                 {.carried = 3, .scans = {1}, .stacks = {1}}},
                "the rest of its body reads '");
}

TEST(RecognizeRecurrence, ALoopWhoseShapesFollowItsNumberStaysWhole) {
  Case c{"n: i64[]; t: f32[2, 2]; h: f32[2, 2]; x: f32[2, 3]; " + gate("h2", "tanh", 1) + sum("t2", "t", "h2") +
             "return t2, h2, h2 as y",
         {.carried = 2, .scans = {1}, .stacks = {1}}};
  EXPECT_EQ(Network(c).recognize(), "loop 'loop' gives away a recurrence: rnn of 2 hidden units\n");
  c.loop.elements = {0};
  expect_left(c, "shapes in its body depend on its runs");
}

TEST(RecognizeRecurrence, LeavesWhatIsNearlyACell) {
  const std::string front = kOneProduct + kGates;
  expect_left(lstm(front + prod("vc", "v", "h") + prod("ig", "i", "g") + sum("c2", "vc", "ig") +
                   activation("k", "tanh", "c2") + prod("h2", "o", "k")),
              "");
  expect_left(lstm(front + prod("vc", "v", "c") + prod("ig", "i", "g") + sum("c2", "vc", "ig") +
                   activation("k", "tanh", "c") + prod("h2", "o", "k")),
              "");  // the memory before
  expect_left(gru(kGruGates + kNewLinear + kOne + sum("u", "one", "z") + prod("un", "u", "n") + prod("zh", "z", "h") +
                  sum("h2", "un", "zh")),
              "");  // 1 + z
  std::string two = kMix;
  two.replace(two.find("(1)"), 3, "(2)");
  expect_left(gru(kGruGates + kNewLinear + two), "");  // 2 - z
  std::string other = kMix;
  other.replace(other.find("zh = "), other.find("h2 = ") - other.find("zh = "), prod("zh", "r", "h"));
  expect_left(gru(kGruGates + kNewLinear + other), "");  // r in z's place
}
TEST(RecognizeRecurrence, LeavesScatteredMemory) {  // the units of tanh(c) in another order
  expect_left(lstm(kOneProduct + kGates + prod("vc", "v", "c") + prod("ig", "i", "g") + sum("c2", "vc", "ig") +
                   activation("k2", "tanh", "c2") + "k = Slice{starts=[1], sizes=[2], strides=[-1], axes=[1]}(k2); " +
                   prod("h2", "o", "k")),
              "");
}
TEST(RecognizeRecurrence, LeavesGatesOfDifferentFunctions) {
  std::string gates = kGates;
  gates.replace(gates.find("v = Activation{kind=sigmoid}"), 28, "v = Activation{kind=relu}");
  expect_left(lstm(kOneProduct + gates + kMemory), "the gates i, o and v have different activations");
  expect_left(gru(gate("z", "sigmoid", 1) + gate("r", "relu", 4) + kNewLinear + kMix),
              "the gates z and r have different activations");
}
TEST(RecognizeRecurrence, LeavesOneLessThanOtherGates) {  // 1 - sigmoid(a) is sigmoid(-a), which others are not
  expect_left(gru(gate("z", "hard_sigmoid", 1) + gate("r", "hard_sigmoid", 4) + kNewLinear + kOne +
                  sub("u", "one", "z") + prod("un", "z", "n") + prod("zh", "u", "h") + sum("h2", "un", "zh")),
              "1 - z is of no sigmoid");
}
TEST(RecognizeRecurrence, LeavesResetsOfMoreThanTheState) {
  expect_left(gru(kGruGates + product("nx", "x", 2, 3, 7) + product("nh", "h", 2, 2, 8) + product("ny", "x", 2, 3, 11) +
                  sum("nhy", "nh", "ny") + prod("rn", "r", "nhy") + sum("na", "nx", "rn") +
                  activation("n", "tanh", "na") + kMix),
              "the reset gate multiplies more than a product of the state");
}
TEST(RecognizeRecurrence, LeavesTwoPeepholesOfOneGate) {
  std::string gates = kGates;
  gates.replace(gates.find("v = "), gates.find("g = ") - gates.find("v = "),
                constant("p1", {1, 2}, 5) + constant("p2", {1, 2}, 6) + prod("pc1", "p1", "c") +
                    prod("pc2", "c", "p2") + sum("va1", "va", "pc1") + sum("va2", "va1", "pc2") +
                    activation("v", "sigmoid", "va2"));
  expect_left(lstm(kOneProduct + gates + kMemory), "a gate has two peepholes");
}
TEST(RecognizeRecurrence, LeavesInputsInTwoDirections) {
  expect_left({"n: i64[]; h: f32[2, 2]; x: f32[2, 3]; v: f32[2, 1]; " + gate("g", "tanh", 1) +
                   product("vm", "v", 2, 1, 9) + sum("a", "vm", "gs") + activation("h2", "tanh", "a") + kReturn,
               {.carried = 1, .scans = {1, -1}, .stacks = {1}}},
              "it reads one input forward and one in reverse");
}
/// h2 = tanh(x W + what `rest` makes of h as "hr").
Case plain(std::string_view rest) {
  return gru(str(product("xw", "x", 2, 3, 1), rest, sum("a", "xw", "hr"), activation("h2", "tanh", "a")));
}
TEST(RecognizeRecurrence, LeavesRowsInAnotherOrder) {  // a row's state follows another row's
  const std::string product_of_h = product("hm", "h", 2, 2, 2);
  recognized(plain(product_of_h + "hr = Identity(hm); "));
  expect_left(plain(product_of_h + "hr = Slice{starts=[1], sizes=[2], strides=[-1], axes=[0]}(hm); "), "a gate ");
  expect_left(plain(product_of_h + "hr = Transpose{perm=[1, 0]}(hm); "), "a gate ");
  expect_left(plain("ht = Transpose{perm=[1, 0]}(h); " + product("hr", "ht", 2, 2, 2)), "a gate ");
}
TEST(RecognizeRecurrence, LeavesProductsOfColumns) {  // whose columns are no rows
  const std::string matrix = constant("R", {2, 2}, 2);
  recognized(plain(matrix + "hr = MatrixMultiply(h, R); "));
  expect_left(plain(matrix + "hr = MatrixMultiply(R, h); "), "a gate ");
  expect_left(plain(matrix + "hr = MatrixMultiply{a=transpose}(h, R); "), "a gate ");
}
TEST(RecognizeRecurrence, LeavesElementsThatAreScattered) {  // of products that the network makes
  const auto reads = [](int stride) {
    return Case{"n: i64[]; h: f32[2, 2]; xw: f32[2, 4]; " + product("hr", "h", 2, 2, 2) +
                str("xe = Slice{starts=[0], sizes=[2], strides=[", stride, "], axes=[1]}(xw); ") +
                sum("a", "xe", "hr") + activation("h2", "tanh", "a") + kReturn};
  };
  recognized(reads(1));
  expect_left(reads(2), "a gate reads scattered elements of its input");
}
TEST(RecognizeRecurrence, LeavesHalvesThatEachOpRounds) {
  for (const std::string_view dtype : {"f16", "bf16"}) {
    Case c = lstm(kOneProduct + kGates + kMemory);
    for (size_t at = 0; (at = c.body.find("f32", at)) != std::string::npos;) c.body.replace(at, 3, dtype);
    EXPECT_EQ(Network(c).recognize(), "loop 'loop' becomes a recurrence: lstm of 2 hidden units\n");
    c.strongly_typed = true;
    expect_left(c, str("a state is ", dtype));
  }
  Network floats(lstm(kOneProduct + kGates + kMemory));
  floats.recognize(/*refittable=*/false, /*strongly_typed=*/true);
  EXPECT_EQ(floats.find<ops::Loop>(), nullptr);
}
TEST(RecognizeRecurrence, LeavesMoreUnitsThanKernelsTake) {
  const auto units = [](int count) {
    return Case{str("n: i64[]; h: f32[1, ", count, "]; x: f32[1, 1]; ") + kOne +
                str("W = Expand{dims=[1, ", count, "]}(one); R = Expand{dims=[", count, ", ", count, "]}(one); ") +
                "xw = MatrixMultiply(x, W); hr = MatrixMultiply(h, R); " + sum("a", "xw", "hr") +
                activation("h2", "tanh", "a") + kReturn};
  };
  EXPECT_EQ(Network(units(2048)).recognize(), "loop 'loop' becomes a recurrence: rnn of 2048 hidden units\n");
  expect_left(units(2049), "it has 2049 hidden units; kernels take 2048");
}
TEST(RecognizeRecurrence, LeavesRowsThatOnlyAnAssumptionMakesEqual) {
  const auto rows = [](std::string_view states, std::string_view inputs) {
    return Case{str("n: i64[]; h: f32[", states, ", 2]; x: f32[", inputs, ", 3]; ") + product("xw", "x", 2, 3, 1) +
                product("hr", "h", 2, 2, 2) + sum("a", "xw", "hr") + activation("h2", "tanh", "a") + kReturn};
  };
  EXPECT_EQ(Network(rows("b", "b")).recognize(), "loop 'loop' becomes a recurrence: rnn of 2 hidden units\n");
  expect_left(rows("b", "m"), "h is no activation of a sum");
  expect_left(rows("m", "b"), "h is no activation of a sum");
}
TEST(RecognizeRecurrence, LeavesWhatReadsMore) {
  Case stacked = lstm(kOneProduct + kGates + kMemory);
  stacked.body.replace(stacked.body.find(kReturnLstm), kReturnLstm.size(), "return h2, c2, c2 as y");
  expect_left(stacked, "it stacks 'y', which is not its new state");
  stacked.body.replace(stacked.body.rfind("return"), 99, "return h2, c2, h as y");
  expect_left(stacked, "it stacks 'y', which is not its new state");
  Case captured{kInputs + "e: f32[2, 2]; " + gate("g", "tanh", 1) + sum("a", "gs", "e") +
                activation("h2", "tanh", "a") + kReturn};
  expect_left(captured, "a gate adds 'e', which is no product of the state or of a slice");
  Case state = gru(gate("g", "tanh", 1) + sum("a", "gs", "h") + activation("h2", "tanh", "a"));
  expect_left(state, "");  // h without a product
}
TEST(RecognizeRecurrence, LeavesConditions) {
  Case c = lstm(kOneProduct + kGates + kMemory);
  c.body.replace(c.body.find(kReturnLstm), kReturnLstm.size(), "go = Constant{value=bool[](1)}(); return go, h2, c2");
  c.loop.tests = true, c.loop.stacks.clear();
  expect_left(c, "a condition may end it");
  c = lstm(kOneProduct + kGates + kMemory);
  c.body.replace(c.body.find(kReturnLstm), kReturnLstm.size(), "return h2, c2");
  c.loop.stacks.clear();
  Network begins(c);
  begins.graph.set_input(ir::NodeId{0}, 1, begins.graph.add_input("go", TensorType(DType::kBool, {})));
  EXPECT_EQ(begins.recognize(), "loop 'loop' stays a loop: a condition says whether it begins\n");
  EXPECT_NE(begins.find<ops::Loop>(), nullptr);
}
TEST(RecognizeRecurrence, LeavesWeightsThatAreComputed) {
  expect_left({kInputs + "w: f32[2, 3]; " + product("hr", "h", 2, 2, 1) + "wx = MatrixMultiply{b=transpose}(x, w); " +
               sum("a", "wx", "hr") + activation("h2", "tanh", "a") + kReturn},
              "a gate adds 'wx'");
}

}  // namespace
}  // namespace kiln::passes
