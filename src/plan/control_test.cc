#include "plan/control.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/cast.h"
#include "plan/validate.h"
#include "steps/if.h"
#include "steps/loop.h"
#include "steps/reference.h"
#include "steps/softmax.h"

namespace kiln::plan {
namespace {

sym::Program constant(int64_t value) { return sym::Program::constant(value); }
sym::Program symbol(int id) {
  return *sym::Program::from_words(std::vector<int64_t>{static_cast<int64_t>(sym::Kind::kSymbol), id}, id + 1);
}

Tensor tensor(std::string name, DType dtype, std::vector<sym::Program> extents, Place place, int index) {
  Tensor t;
  t.name = std::move(name), t.dtype = dtype, t.extents = std::move(extents), t.place = place, t.index = index;
  if (place == Place::kArena) t.size_bytes_max = 256;
  return t;
}
IoTensor io(std::string name, DType dtype, std::vector<sym::Program> extents) {
  IoTensor t;
  t.name = std::move(name), t.dtype = dtype, t.axis_names.resize(extents.size()), t.extents = std::move(extents);
  return t;
}
Step softmax(int input, int output) {
  Step s;
  s.name = "softmax", s.executor = "cpu", s.step = steps::Softmax{}, s.inputs = {input}, s.outputs = {output};
  return s;
}
Step control(std::string name, AnyStep computes, std::vector<int> inputs, std::vector<int> outputs,
             std::vector<int> bodies) {
  Step s;
  s.name = std::move(name), s.executor = "control", s.step = std::move(computes);
  s.inputs = std::move(inputs), s.outputs = std::move(outputs), s.bodies = std::move(bodies);
  s.workspace_bytes = 4096;
  return s;
}
/// out = softmax(the input `from`), of f32[extent].
Body body(std::string name, std::vector<IoTensor> inputs, int from, const sym::Program& extent) {
  Body b;
  b.name = std::move(name), b.inputs = std::move(inputs), b.outputs = {io("out", DType::kF32, {extent})};
  b.tensors = {tensor("in", DType::kF32, b.inputs[static_cast<size_t>(from)].extents, Place::kInput, from),
               tensor("out", DType::kF32, {extent}, Place::kOutput, 0)};
  b.steps = {softmax(0, 1)};
  return b;
}

/// Symbols: n is of the input x, m the size that the if decides, k the carried extent that the loop decides.
///   y = if(c) { softmax(x) } { softmax(x) }, f32[m]     bodies 0 and 1
///   z = loop(3 times) { v = softmax(v) }, f32[k]        body 2
Plan plan_with_bodies() {
  Plan plan;
  plan.device_kind = "cpu";
  plan.symbols = {{"n", 0, 0, -1}, {"m"}, {"k"}};
  plan.inputs = {io("x", DType::kF32, {symbol(0)}), io("c", DType::kBool, {})};
  plan.outputs = {io("y", DType::kF32, {symbol(1)})};
  Profile p;
  p.ranges = {{{1}, {2}, {4}}, {{}, {}, {}}};
  p.value_ranges.resize(2);
  p.tensors = {tensor("x", DType::kF32, {symbol(0)}, Place::kInput, 0), tensor("c", DType::kBool, {}, Place::kInput, 1),
               tensor("y", DType::kF32, {symbol(1)}, Place::kArena, -1),
               tensor("z", DType::kF32, {symbol(2)}, Place::kArena, -1),
               tensor("", DType::kF32, {}, Place::kAbsent, -1)};
  p.tensors[3].offset_bytes = 256;
  p.steps = {control("if", steps::If{.decided = {{0, 0}}}, {1, 0}, {2}, {0, 1}),
             control("loop", steps::Loop{.carried = 1, .decided = {{0, 0}}}, {4, 4, 0}, {3}, {2})};
  p.steps[0].sizes = {{1, symbol(0)}}, p.steps[1].sizes = {{2, symbol(0)}};
  p.steps[1].params = {constant(3)};
  p.arena_bytes = 512, p.workspace_bytes = 4096;
  plan.profiles = {p};
  plan.bodies = {body("then", {io("x", DType::kF32, {symbol(0)})}, 0, symbol(0)),
                 body("else", {io("x", DType::kF32, {symbol(0)})}, 0, symbol(0)),
                 body("iteration", {io("i", DType::kI64, {}), io("v", DType::kF32, {symbol(2)})}, 1, symbol(2))};
  plan.bodies[2].symbols = {{2, 1, 0, -1}};
  plan.outputs.clear();  // nobody gives memory of a size that a step decides
  return plan;
}

template <class Change>
std::string problem(Change change) {
  Plan plan = plan_with_bodies();
  change(plan, plan.profiles[0].steps[0], plan.profiles[0].steps[1]);
  const Status status = validate(plan);
  return status ? "valid" : status.error().message;
}

TEST(PlanBodies, TheSampleIsValid) {
  EXPECT_EQ(problem([](Plan&, Step&, Step&) {}), "valid");
}
TEST(PlanBodies, TheHostSteersWhereSizesChange) {
  const auto why = [](auto change) {
    Plan plan = plan_with_bodies();
    Step& loop = plan.profiles[0].steps[1];
    loop.sizes.clear(), plan.bodies[2].symbols.clear();
    change(plan, loop);
    return why_host_steers(plan, loop);
  };
  EXPECT_EQ(why([](Plan&, Step&) {}), "");
  EXPECT_EQ(why([](Plan&, Step& loop) { loop.sizes = {{2, symbol(0)}}; }), "it decides sizes of its outputs");
  EXPECT_EQ(why([](Plan& plan, Step&) {
              plan.bodies[2].symbols = {{2, 1, 0, -1}};
            }),
            "shapes in body 'iteration' change while it runs");
  EXPECT_EQ(why([](Plan& plan, Step&) {
              plan.bodies[2].steps[0].sizes = {{2, symbol(0)}};
            }),
            "step 'softmax' of body 'iteration': it decides sizes");
  const auto stacks = [](Plan&, Step& loop) { loop.step = steps::Loop{.stacks = {1}}; };
  EXPECT_EQ(why(stacks), "");
  EXPECT_EQ(why([&](Plan& plan, Step& loop) { stacks(plan, loop), loop.params.clear(); }),
            "how many slices it stacks is not known before");
}
TEST(PlanBodies, TheHostSteersWhereAStepRunsThere) {
  Plan plan = plan_with_bodies();
  plan.device_kind = "cuda";
  Profile& p = plan.profiles[0];
  for (Step& step : p.steps) step.sizes.clear();
  plan.bodies[2].symbols.clear();
  plan.bodies[2].inputs[1].extents = {symbol(0)}, plan.bodies[2].outputs[0].extents = {symbol(0)};
  for (Tensor& tensor : plan.bodies[2].tensors) tensor.extents = {symbol(0)};
  for (Tensor& tensor : p.tensors) std::ranges::replace(tensor.extents, symbol(2), symbol(0));
  for (Tensor& tensor : p.tensors) std::ranges::replace(tensor.extents, symbol(1), symbol(0));
  const auto loop = [&]() -> const Step& { return p.steps.back(); };
  const std::string host = "the host steers, and waits for the device each time it has to read a condition or a size: ";
  EXPECT_TRUE(describe_steering(plan, p, loop()).starts_with("the device steers within one graph"));

  Step& inner = plan.bodies[2].steps[0];
  const AnyStep before = std::exchange(inner.step, steps::Reference{ops::Cast{}});
  EXPECT_EQ(describe_steering(plan, p, loop()),
            host + "step 'softmax' of body 'iteration': Cast has no kernel for these types and runs on the host");
  inner.step = before;

  Step cast = softmax(0, 3);
  cast.name = "cast", cast.step = steps::Reference{ops::Cast{}};
  p.steps.insert(p.steps.begin(), cast);
  EXPECT_EQ(describe_steering(plan, p, loop()),
            host + "step 'cast', beside it: Cast has no kernel for these types and runs on the host");
  // Steps that wait for a size are recorded without those before it.
  Step select = softmax(0, 2);
  select.sizes = {{1, symbol(0)}};
  p.steps.insert(p.steps.begin() + 1, select);
  p.tensors[2].extents = {symbol(1)};
  p.steps.back().inputs[2] = 2;
  EXPECT_TRUE(describe_steering(plan, p, loop()).starts_with("the device steers"));
}
TEST(PlanBodies, EachIsOfOneStepBeforeIt) {
  EXPECT_EQ(problem([](Plan&, Step& i, Step&) { i.bodies[1] = 3; }), "profile 0: step 0 'if': body 3 of 3");
  EXPECT_EQ(problem([](Plan&, Step& i, Step&) { i.bodies[1] = -1; }), "profile 0: step 0 'if': body -1 of 3");
  EXPECT_EQ(problem([](Plan&, Step& i, Step&) { i.bodies[1] = 0; }), "body 0 is of two steps");
  EXPECT_EQ(problem([](Plan& p, Step&, Step&) { p.bodies.push_back(p.bodies[0]); }), "body 3 is of no step");
  const auto inside = [](int in, int holds) {
    return problem([&](Plan& p, Step& i, Step&) {
      Body& around = p.bodies[static_cast<size_t>(in)];
      around.tensors.push_back(tensor("c", DType::kBool, {}, Place::kArena, -1));
      around.tensors.push_back(tensor("m", DType::kF32, {symbol(1)}, Place::kArena, -1));
      around.steps.push_back(control("inner", i.step, {2, 0}, {3}, {holds, 1}));
      around.steps.back().sizes = {{1, symbol(0)}};
      around.arena_bytes = 256, around.workspace_bytes = 4096;
    });
  };
  EXPECT_EQ(inside(0, 0), "body 0: step 'inner' has body 0 of 3; the first that it may have is 1");
  EXPECT_EQ(inside(2, 1), "body 2: step 'inner' has body 1 of 3; the first that it may have is 3");
}
TEST(PlanBodies, AreThoseOfTheStepsKind) {
  EXPECT_EQ(problem([](Plan&, Step& i, Step&) { i.bodies = {0}; }), "profile 0: step 0 'if': an if has 1 bodies");
  EXPECT_EQ(problem([](Plan&, Step&, Step& l) { l.bodies.clear(); }), "profile 0: step 1 'loop': a loop has 0 bodies");
  EXPECT_EQ(problem([](Plan&, Step& i, Step&) { i.step = steps::Softmax{}; }),
            "profile 0: step 0 'if': a step of kind 'softmax' has bodies");
}
TEST(PlanBodies, BranchesHaveTheStepsInputsAndOutputs) {
  const auto of = [](auto change) {
    const std::string text = problem([&](Plan& p, Step& i, Step&) { change(p, i); });
    const std::string_view prefix = "profile 0: step 0 'if': ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : "not of the if: " + text;
  };
  EXPECT_EQ(of([](Plan&, Step& i) { i.inputs = {1}; }), "branch 0 has 1 inputs and 1 outputs");
  EXPECT_EQ(of([](Plan& p, Step&) { p.bodies[1].inputs.clear(); }), "branch 1 has 0 inputs and 1 outputs");
  EXPECT_EQ(of([](Plan& p, Step&) { p.bodies[1].outputs.clear(); }), "branch 1 has 1 inputs and 0 outputs");
  EXPECT_EQ(of([](Plan& p, Step&) { p.bodies[1].symbols = {{1, 0, 0, -1}}; }), "branch 1 has 1 inputs and 1 outputs");
  EXPECT_EQ(of([](Plan& p, Step&) { p.bodies[1].inputs[0].dtype = DType::kI32; }),
            "input 0 of a body is i32 of rank 1, and the step has f32 of rank 1");
  EXPECT_EQ(of([](Plan& p, Step&) { p.bodies[0].outputs[0].extents.push_back(constant(1)); }),
            "output 0 of a body is f32 of rank 2, and the step has f32 of rank 1");
  EXPECT_EQ(of([](Plan&, Step& i) { i.inputs[0] = 0; }), "the condition is f32 of rank 1");
  EXPECT_EQ(of([](Plan&, Step& i) { i.inputs[0] = 4; }),
            "input 0 of a step of kind 'if' is absent, and it takes none that is");
  EXPECT_EQ(of([](Plan&, Step& i) { i.sizes.clear(); }), "1 axes are decided, and the step has 0 sizes");
}
TEST(PlanBodies, FieldsOfLoopsAreWithinTheirTensors) {
  const auto of = [](auto change) {
    const std::string text = problem([&](Plan& p, Step&, Step& l) {
      steps::Loop loop = *l.step.as<steps::Loop>();
      change(p, l, loop);
      l.step = loop;
    });
    const std::string_view prefix = "profile 0: step 1 'loop': ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : "not of the loop: " + text;
  };
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) { loop.carried = 1000; }), "1000 values are carried");
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) { loop.carried = -1; }), "-1 values are carried");
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) {
              loop.scans = {1, 1};
            }),
            "a loop with 1 carried and 2 scanned values has 3 inputs");
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) { loop.stacks = {1}; }),
            "a loop with 1 carried and 1 stacked values has 1 outputs");
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) { loop.carried = 0, loop.stacks = {2}; }),
            "a direction is neither 1 nor -1");
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) {
              loop.decided = {{1, 0}};
            }),
            "an axis of output 1 of 1 is decided");
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) { loop.decided = {{0, 1}}; }), "axis 1 of rank 1 is decided");
  EXPECT_EQ(of([](Plan&, Step&, steps::Loop& loop) { loop.tests = true; }), "an iteration has 1 outputs");
  const auto in_reverse = [](Plan& p, Step& l, steps::Loop& loop) {
    loop.stacks = {-1};
    p.profiles[0].tensors.push_back(tensor("stack", DType::kF32, {constant(3), symbol(2)}, Place::kArena, -1));
    p.profiles[0].arena_bytes = 1024, p.profiles[0].tensors.back().offset_bytes = 512;
    l.outputs.push_back(static_cast<int>(p.profiles[0].tensors.size()) - 1);
    p.bodies[2].outputs.push_back(p.bodies[2].outputs[0]);
  };
  EXPECT_EQ(of([&](Plan& p, Step& l, steps::Loop& loop) { in_reverse(p, l, loop), loop.tests = true; }),
            "it stacks in reverse, and a condition may end it before its count");
  EXPECT_EQ(of([](Plan&, Step& l, steps::Loop&) { l.inputs = {4}; }),
            "a step of kind 'loop' has 1 inputs and 1 outputs, which it does not take");
  EXPECT_EQ(of([](Plan&, Step& l, steps::Loop&) { l.inputs[2] = 4; }), "input 2 is not there");
  EXPECT_EQ(of([](Plan&, Step& l, steps::Loop&) { l.params.push_back(constant(1)); }), "a loop has 2 parameters");
  EXPECT_EQ(of([](Plan& p, Step&, steps::Loop&) { p.bodies[2].inputs.pop_back(); }), "an iteration has 1 inputs");
  EXPECT_EQ(of([](Plan& p, Step&, steps::Loop&) { p.bodies[2].inputs[0].dtype = DType::kI32; }),
            "the iteration's number is i32 of rank 0");
  EXPECT_EQ(of([](Plan& p, Step&, steps::Loop&) { p.bodies[2].inputs[1].dtype = DType::kF16; }),
            "input 1 of a body is f16 of rank 1, and the step has f32 of rank 1");
}
TEST(PlanBodies, SymbolsThatRunsBindAnew) {
  const auto of = [](auto change) { return problem([&](Plan& p, Step&, Step&) { change(p.bodies[2].symbols[0]); }); };
  EXPECT_EQ(of([](BodySymbol& s) { s.symbol = 3; }), "body 2: symbol 3 of 3");
  EXPECT_EQ(of([](BodySymbol& s) { s.symbol = 0; }), "body 2: symbol 0 is one of the network's inputs");
  EXPECT_EQ(of([](BodySymbol& s) { s.input = 2; }), "body 2: input 2 of 2");
  EXPECT_EQ(of([](BodySymbol& s) { s.axis = 1; }), "body 2: axis 1 of 1");
  EXPECT_EQ(of([](BodySymbol& s) { s.element = 0; }),
            "body 2: axis 0 or element 0: one of them binds a symbol, the other is -1");
  EXPECT_EQ(of([](BodySymbol& s) { s.axis = -1, s.element = 0; }), "body 2: element 0 of f32 of rank 1 binds a symbol");
  EXPECT_EQ(of([](BodySymbol& s) { s.input = 0, s.axis = -1, s.element = 1; }),
            "body 2: element 1 of i64 of rank 0 binds a symbol");
  const auto of_list = [](int element) {
    return problem([&](Plan& p, Step&, Step& l) {
      p.profiles[0].tensors.push_back(tensor("list", DType::kI64, {symbol(0)}, Place::kArena, -1));
      p.profiles[0].tensors.back().offset_bytes = 512, p.profiles[0].arena_bytes = 1024;
      l.inputs.push_back(static_cast<int>(p.profiles[0].tensors.size()) - 1);
      p.bodies[2].inputs.push_back(io("list", DType::kI64, {symbol(0)}));
      p.bodies[2].symbols[0] = {.symbol = 2, .input = 2, .element = element};
    });
  };
  EXPECT_EQ(of_list(8), "body 2: element 8 of i64 of rank 1 binds a symbol");
  EXPECT_EQ(of_list(-2), "body 2: element -2 of i64 of rank 1 binds a symbol");
  // The loop tells the extents of what it decides, and of no other input.
  const auto axis_of = [](auto change) {
    return problem([&](Plan& p, Step&, Step& l) {
      steps::Loop loop = *l.step.as<steps::Loop>();
      p.profiles[0].tensors.push_back(p.profiles[0].tensors[0]);
      l.inputs.push_back(static_cast<int>(p.profiles[0].tensors.size()) - 1);
      p.bodies[2].inputs.push_back(io("captured", DType::kF32, {symbol(0)}));
      change(p, l, loop);
      l.step = loop;
    });
  };
  EXPECT_EQ(axis_of([](Plan&, Step&, steps::Loop&) {}), "valid");
  EXPECT_EQ(axis_of([](Plan& p, Step&, steps::Loop&) { p.bodies[2].symbols[0].input = 2; }),
            "profile 0: step 1 'loop': body 2 binds symbol 'k' by axis 0 of input 2, whose extent the loop does not "
            "decide");
  EXPECT_EQ(axis_of([](Plan& p, Step& l, steps::Loop& loop) {
              loop.decided.clear(), l.sizes.clear();
              p.profiles[0].tensors[3].extents = {symbol(0)};
            }),
            "profile 0: step 1 'loop': body 2 binds symbol 'k' by axis 0 of input 1, whose extent the loop does not "
            "decide");
  EXPECT_EQ(of([](BodySymbol& s) { s.symbol = 1; }),
            "profile 0: step 1 'loop': body 2 binds symbol 'm', which is bound around it");
  EXPECT_EQ(problem([](Plan& p, Step&, Step& l) { p.bodies[2].symbols.clear(), l.sizes[0].symbol = 1; }),
            "profile 0: step 1 'loop': body 2: step 0 'softmax': symbol 'k' is read, and nothing before binds it");
}
TEST(PlanBodies, MemoryOfBodiesCanBeAddedUp) {
  EXPECT_EQ(problem([](Plan& p, Step&, Step&) { p.bodies[1].workspace_bytes = INT64_MAX; }),
            "profile 0: step 0 'if': its bodies have memory of 9223372036854775807 bytes");
}
TEST(PlanBodies, TensorsOfBodiesAreChecked) {
  EXPECT_EQ(problem([](Plan& p, Step&, Step&) { p.bodies[1].tensors[0].index = 1; }),
            "body 1: tensor 0 'in': input 1 of 1");
  EXPECT_EQ(problem([](Plan& p, Step&, Step&) { p.bodies[1].steps[0].outputs[0] = 0; }),
            "body 1: step 0 'softmax': output tensor 0 is in place 'input', which no step may write");
  EXPECT_EQ(problem([](Plan& p, Step&, Step&) { p.bodies[1].workspace_bytes = -1; }),
            "profile 0: step 0 'if': its bodies have memory of -1 bytes");
  EXPECT_EQ(problem([](Plan& p, Step&, Step&) { p.bodies[1].inputs[0].is_shape = true; }),
            "body 1: input 'x': format linear, or a shape tensor");
}

}  // namespace
}  // namespace kiln::plan
