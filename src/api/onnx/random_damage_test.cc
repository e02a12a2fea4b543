// Plans with bodies, of which some field is another one, by the thousand: what a reader accepts binds and runs, or says
// why not. It stays within its memory, which the address sanitizer sees.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "api/onnx/bodies_program.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "steps/loop.h"

namespace kiln::api {
namespace {

using namespace bodies;

/// Changes plans, in the same way for the same seed. Numbers stay small, and a loop keeps its count.
class Damage {
 public:
  Damage(plan::Plan& plan, uint32_t seed) : plan_(plan), random_(seed) {
    add_programs(plan.profiles[0]);
    for (const plan::Body& body : plan.bodies) {
      add_programs(body);
      for (const auto* ios : {&body.inputs, &body.outputs})
        for (const plan::IoTensor& io : *ios) programs_.insert(programs_.end(), io.extents.begin(), io.extents.end());
    }
  }
  void change() {
    plan::Body& body = plan_.bodies[below(plan_.bodies.size())];
    plan::Block& block = below(3) == 0 ? static_cast<plan::Block&>(plan_.profiles[0]) : body;
    switch (below(10)) {
      case 0: return change_symbol(body);
      case 1: return change_io(below(2) ? body.inputs : body.outputs);
      case 2: return change(block.tensors);
      case 3: return change_step(block);
      case 4: return change_sizes(block);
      case 5: return change_loop(block);
      case 6: (below(2) ? block.arena_bytes : block.workspace_bytes) = number(64); return;
      case 7: body.guards.clear(); return;
      case 8: return drop_last(body);
      default: return change_program(block);
    }
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  int small() { return static_cast<int>(below(6)) - 1; }
  int64_t number(int64_t unit) { return static_cast<int64_t>(below(9)) * unit; }
  void add_programs(const plan::Block& block) {
    for (const plan::Tensor& tensor : block.tensors)
      programs_.insert(programs_.end(), tensor.extents.begin(), tensor.extents.end());
  }
  sym::Program program() {
    if (below(2) == 0 || programs_.empty()) return sym::Program::constant(number(1));
    return programs_[below(programs_.size())];
  }
  void change(std::vector<sym::Program>& extents) {
    if (!extents.empty()) extents[below(extents.size())] = program();
  }
  void change_symbol(plan::Body& body) {
    if (body.symbols.empty()) return;
    plan::BodySymbol& symbol = body.symbols[below(body.symbols.size())];
    int* const fields[] = {&symbol.symbol, &symbol.input, &symbol.axis, &symbol.element};
    *fields[below(4)] = small();
    if (below(3) == 0) std::swap(symbol.axis, symbol.element);
  }
  DType dtype() {
    constexpr DType kTypes[] = {DType::kF32, DType::kI64, DType::kI32, DType::kBool, DType::kF16};
    return kTypes[below(std::size(kTypes))];
  }
  void change_io(std::vector<plan::IoTensor>& ios) {
    if (ios.empty()) return;
    plan::IoTensor& io = ios[below(ios.size())];
    below(4) == 0 ? void(io.dtype = dtype()) : change(io.extents);
  }
  void change(std::vector<plan::Tensor>& tensors) {
    if (tensors.empty()) return;
    plan::Tensor& tensor = tensors[below(tensors.size())];
    switch (below(6)) {
      case 0: tensor.dtype = dtype(); return;
      case 1: tensor.place = tensors[below(tensors.size())].place; return;
      case 2: tensor.index = small(); return;
      case 3: tensor.offset_bytes = number(64); return;
      case 4: tensor.size_bytes_max = number(8) - 1; return;
      default: return change(tensor.extents);
    }
  }
  plan::Step* step(plan::Block& block) {
    return block.steps.empty() ? nullptr : &block.steps[below(block.steps.size())];
  }
  void change_step(plan::Block& block) {
    plan::Step* const at = step(block);
    if (!at) return;
    std::vector<int>& ids = below(2) ? at->inputs : at->outputs;
    if (!ids.empty()) ids[below(ids.size())] = static_cast<int>(below(block.tensors.size()));
  }
  void change_sizes(plan::Block& block) {
    plan::Step* const at = step(block);
    if (!at || at->sizes.empty()) return;
    plan::DecidedSize& size = at->sizes[below(at->sizes.size())];
    switch (below(4)) {
      case 0: size.most = program(); return;
      case 1: size.least = number(1); return;
      case 2: size.is_open = !size.is_open; return;
      default: size.symbol = small();
    }
  }
  void change_loop(plan::Block& block) {
    for (plan::Step& at : block.steps) {
      const auto* before = at.step.as<steps::Loop>();
      if (!before) continue;
      steps::Loop loop = *before;
      switch (below(5)) {
        case 0: loop.carried = std::max(small(), 0); break;
        case 1: loop.tests = !loop.tests; break;
        case 2: loop.scans.assign(below(3), below(2) ? 1 : -1); break;
        case 3: loop.stacks.assign(below(3), below(2) ? 1 : -1); break;
        default:
          if (!loop.decided.empty()) {
            DecidedAxis& axis = loop.decided[below(loop.decided.size())];
            (below(2) ? axis.output : axis.axis) = small();
          }
      }
      at.step = loop;
    }
  }
  static void drop_last(plan::Body& body) {
    if (!body.symbols.empty()) body.symbols.pop_back();
  }
  void change_program(plan::Block& block) {
    if (!block.known_sizes.empty()) block.known_sizes[below(block.known_sizes.size())].value = program();
    if (plan::Step* const at = step(block); at && !at->sizes.empty() && below(2)) at->sizes.pop_back();
  }

  plan::Plan& plan_;
  std::vector<sym::Program> programs_;
  std::mt19937 random_;
};

/// A kernel that goes wrong on a GPU ends all work of the process there.
class RandomDamage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "plans for the CPU are damaged";
  }
};

/// Runs a model's plan, changed in so many ways. Returns how many of them ran.
int run_damaged(const Proto& model, const std::vector<Range>& ranges, const std::function<void(Program&)>& feed) {
  const char* const asked = std::getenv("KILN_DAMAGE");
  const int count = asked ? std::atoi(asked) : 400;
  const auto whole = plan::read_plan(build(model, ranges));
  EXPECT_TRUE(whole) << whole.error().message;
  if (!whole) return 0;
  int ran = 0;
  for (int seed = 0; seed < count; ++seed) {
    plan::Plan plan = **whole;
    Damage damage(plan, static_cast<uint32_t>(seed));
    for (int changes = 1 + seed % 3; changes > 0; --changes) damage.change();
    const auto bytes = plan::write_plan(plan);
    if (!bytes) continue;
    ::testing::TestPartResultArray refused;  // by the engine: what a step says is for its executor to check
    const ::testing::ScopedFakeTestPartResultReporter reporter(&refused);
    Program p(*bytes);
    if (!p.context) continue;
    feed(p);
    ran += p.run().empty();
  }
  return ran;
}

TEST_F(RandomDamage, OfALoopThatGrows) {
  const Proto body = loop_body(
      {node("Concat", {"v", "z"}, {"v1"}, "", {int_attribute("axis", 0)}),
       node("ReduceSum", {"v1"}, {"s"}, "", {int_attribute("keepdims", 0)}), node("Less", {"s", "limit"}, {"on"})},
      {"v"}, {"on", "v1", "s"});
  const int ran = run_damaged(model(graph({{loop_node({"three", "", "x"}, {"y", "sums"}, body)},
                                           {value("x", kFloat, {-1}), value("z", kFloat, {1}), value("limit", kFloat)},
                                           {value("y", kFloat, {-1}), value("sums", kFloat, {-1})},
                                           {scalar("three", 3)}})),
                              {{"x", {0}, {4}}}, [](Program& p) {
                                p.feed("x", {2}, Floats{1, 2}).feed("z", {1}, Floats{1}).feed("limit", {}, Floats{100});
                              });
  EXPECT_GT(ran, 0);
}
/// Slices by a carried number, and sizes that data decides in an iteration.
TEST_F(RandomDamage, OfALoopWhoseShapesFollowANumber) {
  const Proto body = loop_body({kOn, node("Add", {"k", "one"}, {"k1"}), node("Slice", {"x", "zero", "k"}, {"part"}),
                                node("Greater", {"part", "limit"}, {"above"}),
                                node("Compress", {"part", "above"}, {"found"}, "", {int_attribute("axis", 0)}),
                                node("ReduceSum", {"found"}, {"s"}, "", {int_attribute("keepdims", 0)})},
                               {"k"}, {"on", "k1", "s"}, kInt64);
  const int ran = run_damaged(model(graph({{loop_node({"four", "", "one"}, {"k_end", "sums"}, body)},
                                           {value("x", kFloat, {4}), value("limit", kFloat)},
                                           {value("sums", kFloat, {-1})},
                                           {scalar("four", 4), i64s("one", {1}), i64s("zero", {0})}})),
                              {}, [](Program& p) {
                                p.feed("x", {4}, Floats{1, 2, 3, 4}).feed("limit", {}, Floats{1.5});
                              });
  EXPECT_GT(ran, 0);
}
/// In each iteration a branch of what is scanned, whose extents differ.
TEST_F(RandomDamage, OfABranchInALoop) {
  GraphParts each{
      .nodes = {node("ReduceSum", {"row"}, {"s"}, "", {int_attribute("keepdims", 0)}),
                node("Greater", {"s", "limit"}, {"c"}),
                if_node({"longer"},
                        branch({node("Concat", {"row", "row"}, {"t"}, "", {int_attribute("axis", 0)})}, {"t"}),
                        branch({node("Neg", {"row"}, {"e"})}, {"e"})),
                node("ReduceSum", {"longer"}, {"sum"}, "", {int_attribute("keepdims", 0)}),
                node("Add", {"v", "sum"}, {"v1"}), node("Mul", {"row", "v1"}, {"out"})},
      .inputs = {value_of_any("v"), value_of_any("row")},
      .outputs = {value_of_any("v1"), value_of_any("out")}};
  const int ran = run_damaged(
      model(graph({{node("Scan", {"start", "x"}, {"y", "all"}, "scan",
                         {graph_attribute("body", graph(each, "body")), int_attribute("num_scan_inputs", 1)})},
                   {value("x", kFloat, {-1, 3}), value("limit", kFloat)},
                   {value("y", kFloat, {}), value("all", kFloat, {-1, 3})},
                   {floats("start", {}, {0})}})),
      {{"x", {0, 3}, {4, 3}}}, [](Program& p) {
        p.feed("x", {2, 3}, Floats{1, 2, 3, 4, 5, 6}).feed("limit", {}, Floats{10});
      });
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace kiln::api
