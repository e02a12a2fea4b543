#include "plan/validate.h"

#include <gtest/gtest.h>

#include "plan/testing/sample_plan.h"

namespace kiln::plan {
namespace {

/// The answer of `validate` for the sample after a change.
template <class Change>
std::string problem(Change change) {
  Plan plan = sample_plan();
  change(plan, plan.profiles[1]);
  const Status status = validate(plan);
  return status ? "valid" : status.error().message;
}
template <class Change>
std::string problem_of_profile(Change change) {
  const std::string text = problem([&](Plan&, Profile& p) { change(p); });
  const std::string_view prefix = "profile 1: ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : "not of the profile: " + text;
}
sym::Program symbol(int id) {
  return *sym::Program::from_words(std::vector<int64_t>{static_cast<int64_t>(sym::Kind::kSymbol), id}, id + 1);
}

TEST(PlanValidate, TheSampleIsValid) {
  EXPECT_EQ(problem([](Plan&, Profile&) {}), "valid");
}

TEST(PlanValidate, OriginsOfWeights) {
  const auto of = [](auto change) { return problem([&](Plan& p, Profile&) { change(p); }); };
  EXPECT_EQ(of([](Plan& p) { p.weights[0].from.source = 2; }), "weight 0 'w': source 2 of 2");
  EXPECT_EQ(of([](Plan& p) { p.weights[0].from.source = 1; }), "weight 0 'w': f32[6, 5] made of f16[6, 5]");
  EXPECT_EQ(of([](Plan& p) { p.weights[0].from.derived = 0; }), "weight 0 'w': a source, an op and a weight at once");
  EXPECT_EQ(of([](Plan& p) { p.weights[0].from = {.weight = 0}; }), "weight 0 'w': made of weight 0 alone");
  EXPECT_EQ(of([](Plan& p) { p.weights[3].from.derived = 2; }), "weight 3 'twin': earlier op 2 of 2");
  EXPECT_EQ(of([](Plan& p) { p.sources[1].name = std::string("w"); }), "two sources are called 'w'");
  EXPECT_EQ(of([](Plan& p) { p.sources[1].extents = {-1}; }), "source 'v': extent -1 of [-1] is negative");
  EXPECT_EQ(of([](Plan& p) { p.derived[0].op = {}; }), "derived elements 0: no op");
  EXPECT_EQ(of([](Plan& p) { p.derived[0].output = 1; }), "derived elements 0: output 1 of 1");
  EXPECT_EQ(of([](Plan& p) { p.derived[0].inputs[0] = {.derived = 0}; }), "derived elements 0: earlier op 0 of 0");
  EXPECT_EQ(of([](Plan& p) { p.derived[1].inputs[1].weight = 4; }), "derived elements 1: weight 4 of 4");
  EXPECT_EQ(of([](Plan& p) { p.derived[1].inputs[1].weight = 0; }),
            "derived elements 1: reads weight 0, which is made of sources itself");
  EXPECT_EQ(of([](Plan& p) { p.derived[0].inputs.clear(); }), "derived elements 0: no first input");
}
TEST(PlanValidate, SharedElements) {
  const auto of = [](auto change) { return problem([&](Plan& p, Profile&) { change(p); }); };
  EXPECT_EQ(of([](Plan& p) { p.weights[3].same_as = 3; }), "entry 3 'twin': the same as earlier entry 3 of 3");
  EXPECT_EQ(of([](Plan& p) { p.weights[3].same_as = 1; }), "entry 3 'twin': f32[6, 5], the same as entry 1, i4[3]");
  EXPECT_EQ(of([](Plan& p) { p.weights.push_back(p.weights[3]), p.weights[4].same_as = 3; }),
            "entry 4 'twin': the same as entry 3, which has no elements of its own");
}

TEST(PlanValidate, SizesThatDataDecides) {
  const auto of = [](auto change) { return problem_of_profile(change); };
  EXPECT_EQ(of([](Profile& p) { p.steps[1].sizes[0].symbol = 4; }), "step 1 'relu': symbol 4 of 4");
  EXPECT_EQ(of([](Profile& p) { p.steps[1].sizes[0].most = symbol(4); }),
            "step 1 'relu': the bound of a size reads symbol 4 of 4");
  EXPECT_EQ(of([](Profile& p) { p.steps[1].sizes[0].symbol = 0; }),
            "step 1 'relu': output tensor 5 is the program's, and the step decides its size");
  EXPECT_EQ(of([](Profile& p) { p.steps[0].params[0] = symbol(2); }),
            "step 0 'matmul': symbol 'found' is read, and nothing before binds it");
  EXPECT_EQ(of([](Profile& p) { p.known_sizes[0].symbol = 1; }), "symbol 1 is known twice");
  EXPECT_EQ(of([](Profile& p) { p.known_sizes.push_back(p.known_sizes[0]); }), "symbol 3 is known twice");
  EXPECT_EQ(of([](Profile& p) { p.known_sizes[0].value = symbol(3); }),
            "known size 3 is made of 3, which is not known yet");
  EXPECT_EQ(of([](Profile& p) { p.debug_tensors[0].tensor = 6; }), "debug tensor 6 of 6");
  EXPECT_EQ(of([](Profile& p) { p.debug_tensors.push_back(p.debug_tensors[0]); }),
            "two debug tensors are called 'a tap', or it has no name");
}

TEST(PlanValidate, Symbols) {
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.symbols[0].input = 2; }), "symbol 0 'batch': input 2 of 2");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.symbols[0].axis = 2; }), "symbol 0 'batch': axis 2 of 2");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.symbols[0].element = 0; }),
            "symbol 0 'batch': axis 0 and element 0: one of them binds a symbol, the other is -1");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.symbols[1].element = 1; }),
            "profile 0: input 'k': symbol 'k' is element 1; there may be 1");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.symbols[1].element = 64; }), "symbol 1 'k': element 64 of 64");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.guards[0].rhs = symbol(4); }),
            "assumption 0: an assumption reads symbol 4 of 4");
  EXPECT_EQ(problem([](Plan&, Profile& p) { p.guards[0].lhs = symbol(4); }),
            "profile 1: assumption 0: an assumption reads symbol 4 of 4");
}

TEST(PlanValidate, InputsAndOutputs) {
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.inputs[0].axis_names.pop_back(); }), "input 'x': 1 names for 2 axes");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.outputs[0].dtype = DType::kF64; }),
            "output 'y': f64 cannot be the type of an input or output");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.outputs[0].name = std::string("x"); }),
            "two inputs or outputs are called 'x'");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.inputs[1].dtype = DType::kBool; }),
            "input 'k': a shape tensor is bool of rank 1; i32, i64 or a float of rank 0 or 1 needed");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.inputs[0].format = Format::channels_last(4); }),
            "input 'x': format [0, 2, 3, 1] is not of rank 2");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.inputs[0].format = Format().blocked(2, 16); }),
            "input 'x': format []:2/16 blocks an axis beyond rank 2");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.outputs[0].extents[0] = symbol(9); }),
            "output 'y': an extent reads symbol 9 of 4");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.build.cache_inputs = {0}; }), "1 inputs of caches for 2 outputs");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.build.cache_inputs = {-1, 2}; }), "a cache is input 2 of 2");
  EXPECT_EQ(problem([](Plan& p, Profile&) { p.build.cache_inputs = {-2, 0}; }), "a cache is input -2 of 2");
}

TEST(PlanValidate, Alternatives) {
  const auto of = [](auto change) {
    const std::string text = problem_of_profile([&](Profile& p) { change(p.steps[1].alternatives[0]); });
    const std::string_view prefix = "step 1 'relu': alternative 0: ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : "not of the alternative: " + text;
  };
  EXPECT_EQ(of([](Alternative& a) { a.tunings.push_back(2); }), "tuning 2 of 2");
  EXPECT_EQ(of([](Alternative& a) { a.step = {}; }), "it has no step");
  EXPECT_EQ(of([](Alternative& a) { a.binary = 1; }), "binary 1 of 1");
  EXPECT_EQ(of([](Alternative& a) { a.params.push_back(symbol(4)); }), "a parameter reads symbol 4 of 4");
  EXPECT_EQ(problem_of_profile([](Profile& p) { p.tunings[1] = {1}; }), "a tuning has 1 values for 4 symbols");
}

TEST(PlanValidate, OutputsForShapes) {
  const auto shape = [](auto change) { return problem([&](Plan& p, Profile&) { change(p.outputs[1]); }); };
  EXPECT_EQ(shape([](IoTensor& t) { t.values.pop_back(); }),
            "output 'shape of y': 1 values for a shape tensor of 2 elements; at most 8192 are possible");
  EXPECT_EQ(shape([](IoTensor& t) { t.is_shape = false; }),
            "output 'shape of y': it has values, but is not a shape tensor");
  EXPECT_EQ(shape([](IoTensor& t) { t.dtype = DType::kF32; }),
            "output 'shape of y': a shape tensor is f32; i32 or i64 needed");
  EXPECT_EQ(shape([](IoTensor& t) { t.extents[0] = symbol(0); }),
            "output 'shape of y': a shape tensor's extent is not a constant");
  EXPECT_EQ(shape([](IoTensor& t) { t.values[0] = symbol(9); }), "output 'shape of y': a value reads symbol 9 of 4");
  EXPECT_EQ(problem([](Plan&, Profile& p) { p.tensors[5].index = 1; }),
            "profile 1: tensor 5 'y': output 1 is a shape tensor, which no step may write");
}

TEST(PlanValidate, Weights) {
  EXPECT_EQ(problem([](Plan& p, Profile&) {
              const HostTensor& w = p.weights[0].value;
              p.weights[0].value = HostTensor(DType::kF32, {6, 6}, w.bytes(), w.owner());
            }),
            "weight 0 'w': 120 bytes for f32[6, 6], which takes 144");
  EXPECT_EQ(problem([](Plan& p, Profile&) {
              p.weights[2].value = HostTensor(DType::kF32, {INT64_MAX, 4}, {}, nullptr);
            }),
            "weight 2 'empty': the volume of [9223372036854775807, 4] exceeds 2^63 - 1");
  EXPECT_EQ(problem([](Plan& p, Profile&) {
              p.weights.pop_back();
              p.weights[0] = {"w", HostTensor::of(DType::kF16, {6, 5}, std::vector<double>(30))};
            }),
            "profile 0: tensor 1 'w': f32 of rank 2 at weight 0, which is f16[6, 5]");
  EXPECT_EQ(problem_of_profile([](Profile& p) { std::swap(p.tensors[1].extents[0], p.tensors[1].extents[1]); }),
            "tensor 1 'w': axis 0 is not that of weight 0, which is f32[6, 5]");
  EXPECT_EQ(problem_of_profile([](Profile& p) { p.tensors[1].format = Format().blocked(1, 4); }),
            "tensor 1 'w': a weight has format []:1/4, which only copies write");
}

// Where a step's tensor and the program's are not alike, nothing would bring the one into the order of the other.
TEST(PlanValidate, InputsAndOutputsAreThePrograms) {
  const Format other = Format::permuted(std::vector<int>{1, 0});
  EXPECT_EQ(problem_of_profile([&](Profile& p) { p.tensors[0].format = other; }),
            "tensor 0 'x': f32 of rank 2 in format [1, 0] at 'x', which is f32 of rank 2 in format linear");
  EXPECT_EQ(problem_of_profile([&](Profile& p) { p.tensors[0].dtype = DType::kF16; }),
            "tensor 0 'x': f16 of rank 2 in format linear at 'x', which is f32 of rank 2 in format linear");
  EXPECT_EQ(problem_of_profile([&](Profile& p) { p.tensors[5].format = other; }),
            "f32 of rank 2 in format [1, 0] at 'y', which is f32 of rank 2 in format linear");
}

TEST(PlanValidate, ViewsReadBitsAsAnotherTypeOfTheSameWidth) {
  const auto with = [](DType whole, DType view) {
    return problem([&](Plan&, Profile& p) {
      p.tensors[3].dtype = whole;
      p.tensors[4].dtype = view;
    });
  };
  EXPECT_EQ(with(DType::kF32, DType::kI32), "valid");
  EXPECT_EQ(with(DType::kU8, DType::kI8), "valid");
  EXPECT_NE(with(DType::kU8, DType::kBool), "valid");
  EXPECT_NE(with(DType::kF16, DType::kF32), "valid");
}
TEST(PlanValidate, Views) {
  EXPECT_EQ(problem_of_profile([](Profile& p) {
              p.tensors[3].format = Format::permuted(std::vector<int>{1, 0});
            }),
            "tensor 4 'xw flat': a view of 'xw', which is f32 in format [1, 0], as f32 in format linear: its elements "
            "are in another order");
  EXPECT_EQ(problem_of_profile([](Profile& p) { p.tensors[4].dtype = DType::kI64; }),
            "tensor 4 'xw flat': a view of 'xw', which is f32 in format linear, as i64 in format linear: its elements "
            "are in another order");
  EXPECT_EQ(problem([](Plan&, Profile& p) {  // the same order of what is there
              p.tensors[3].format = Format::permuted(std::vector<int>{1, 0});
              p.tensors[4].extents = {sym::Program::constant(1), p.tensors[3].extents[1], p.tensors[3].extents[0]};
            }),
            "valid");
}

TEST(PlanValidate, Ranges) {
  const auto x = [](auto change) { return problem_of_profile([&](Profile& p) { change(p.ranges[0]); }); };
  EXPECT_EQ(x([](InputRange& r) { r.opt[0] = 5; }), "input 'x': number 0: min 1, opt 5, max 4 are not in order");
  EXPECT_EQ(x([](InputRange& r) { r.min[0] = -1; }), "input 'x': number 0: min -1, opt 2, max 4 are not in order");
  EXPECT_EQ(x([](InputRange& r) { r.max.pop_back(); }),
            "input 'x': min, opt and max have 2, 2 and 1 numbers; 2 needed");
  EXPECT_EQ(x([](InputRange& r) { r.max[0] = INT64_MAX; }),
            "input 'x': maximum [9223372036854775807, 6] has more than 70368744177664 elements");
  EXPECT_EQ(x([](InputRange& r) { r.min[1] = r.opt[1] = r.max[1] = 7; }),
            "input 'x': axis 1 is always 6, outside [7, 7]");
  EXPECT_EQ(problem_of_profile([](Profile& p) { p.value_ranges[1].max.clear(); }),
            "input 'k': values: min, opt and max have 1, 1 and 0 numbers; 1 needed");
  EXPECT_EQ(problem_of_profile([](Profile& p) { p.ranges.pop_back(); }),
            "1 ranges of extents and 2 of values for 2 inputs");
}

TEST(PlanValidate, Tensors) {
  const auto tensor = [](size_t t, auto change) {
    return problem_of_profile([&](Profile& p) { change(p.tensors[t]); });
  };
  EXPECT_EQ(tensor(0, [](Tensor& t) { t.index = -1; }), "tensor 0 'x': input -1 of 2");
  EXPECT_EQ(tensor(5, [](Tensor& t) { t.index = 2; }), "tensor 5 'y': output 2 of 2");
  EXPECT_EQ(tensor(1, [](Tensor& t) { t.index = 4; }), "tensor 1 'w': weight 4 of 4");
  EXPECT_EQ(tensor(3, [](Tensor& t) { t.offset_bytes = 512; }),
            "tensor 3 'xw': offset 512 + size 80 exceeds the arena's 512 bytes");
  EXPECT_EQ(tensor(3, [](Tensor& t) { t.size_bytes_max = INT64_MAX; }),
            "tensor 3 'xw': offset 256 + size 9223372036854775807 exceeds the arena's 512 bytes");
  EXPECT_EQ(tensor(3, [](Tensor& t) { t.offset_bytes = 8; }), "tensor 3 'xw': offset 8 is not a multiple of 64");
  EXPECT_EQ(tensor(4, [](Tensor& t) { t.index = 6; }), "tensor 4 'xw flat': viewed tensor 6 of 6");
  EXPECT_EQ(tensor(4, [](Tensor& t) { t.index = 4; }), "tensor 4 is a view of itself");
  EXPECT_EQ(tensor(4, [](Tensor& t) { t.index = 2; }), "tensor 4 is a view of an absent tensor");
  EXPECT_EQ(tensor(4, [](Tensor& t) { t.offset = symbol(5); }), "tensor 4 'xw flat': the offset reads symbol 5 of 4");
  EXPECT_EQ(tensor(0, [](Tensor& t) { t.extents.resize(9); }), "tensor 0 'x': rank 9 exceeds 8");
  EXPECT_EQ(problem_of_profile([](Profile& p) {
              p.tensors[0].place = p.tensors[1].place = Place::kView;
              p.tensors[0].index = 1, p.tensors[1].index = 0;
            }),
            "tensor 0 is a view of itself");
  EXPECT_EQ(problem_of_profile([](Profile& p) { p.arena_bytes = -1; }), "memory of -1 bytes");
}

TEST(PlanValidate, Steps) {
  const auto step = [](auto change) { return problem_of_profile([&](Profile& p) { change(p.steps[0]); }); };
  EXPECT_EQ(step([](Step& s) { s.inputs[2] = 6; }), "step 0 'matmul': input tensor 6 of 6");
  for (const int stream : {-1, 8})
    EXPECT_EQ(step([&](Step& s) { s.stream = stream; }),
              str("step 0 'matmul': stream ", stream, "; there are at most 7 auxiliary ones"));
  EXPECT_EQ(step([](Step& s) { s.outputs[0] = -1; }), "step 0 'matmul': output tensor -1 of 6");
  EXPECT_EQ(step([](Step& s) { s.outputs[0] = 1; }),
            "step 0 'matmul': output tensor 1 is in place 'weight', which no step may write");
  EXPECT_EQ(step([](Step& s) { s.params[0] = symbol(4); }), "step 0 'matmul': a parameter reads symbol 4 of 4");
  EXPECT_EQ(step([](Step& s) { s.workspace_bytes = 1001; }),
            "step 0 'matmul': a workspace of 1001 bytes; the profile's is 1000");
  EXPECT_EQ(step([](Step& s) { s.step = {}; }), "step 0 'matmul': it has no executor or no step");
}

/// The answer of `validate_extents` for the sample at batch 4 after a change.
template <class Change>
std::string extents_problem(Change change) {
  Plan plan = sample_plan();
  const std::vector<int64_t> symbols = {4, 0};
  const std::vector<Extents> inputs = {{4, 6}, {1}};
  change(plan, plan.profiles[0]);
  std::vector<Extents> extents;
  for (const Tensor& tensor : plan.profiles[0].tensors) {
    Extents& at = extents.emplace_back();
    for (const sym::Program& extent : tensor.extents) at.push_back(*extent.run(symbols));
  }
  const Status status = validate_extents(plan, plan.profiles[0], {plan.inputs, plan.outputs, inputs}, symbols, extents);
  return status ? "valid" : status.error().message;
}

TEST(PlanValidateExtents, TensorsFitTheirPlaces) {
  const auto constant = [](int64_t value) { return sym::Program::constant(value); };
  EXPECT_EQ(extents_problem([](Plan&, Profile&) {}), "valid");
  EXPECT_EQ(extents_problem([&](Plan&, Profile& p) { p.tensors[3].size_bytes_max = 79; }),
            "tensor 'xw': shape [4, 5] takes 80 bytes at offset 0; its place, arena, has 79");
  EXPECT_EQ(extents_problem([&](Plan&, Profile& p) { p.tensors[0].extents[1] = constant(7); }),
            "tensor 'x': shape [4, 7] takes 112 bytes at offset 0; its place, input, has 96");
  EXPECT_EQ(extents_problem([&](Plan&, Profile& p) { p.tensors[1].extents[0] = constant(7); }),
            "tensor 'w': shape [7, 5] takes 140 bytes at offset 0; its place, weight, has 120");
  EXPECT_EQ(extents_problem([&](Plan&, Profile& p) { p.tensors[4].offset = constant(4); }),
            "tensor 'xw flat': shape [20] takes 80 bytes at offset 4; its place, arena, has 80");
  EXPECT_EQ(extents_problem([&](Plan&, Profile& p) { p.tensors[4].offset = constant(-4); }),
            "tensor 'xw flat': shape [20] takes 80 bytes at offset -4; its place, arena, has 80");
  EXPECT_EQ(extents_problem([&](Plan& p, Profile&) { p.outputs[0].extents[1] = constant(4); }),
            "tensor 'y': shape [4, 5] takes 80 bytes at offset 0; its place, output, has 64");
  EXPECT_EQ(extents_problem([&](Plan&, Profile& p) { p.tensors[5].extents[0] = constant(-4); }),
            "tensor 'y': extent -4 of [-4, 5] is negative");
  EXPECT_EQ(extents_problem([&](Plan&, Profile& p) { p.tensors[5].format = Format().blocked(1, 16); }),
            "tensor 'y': shape [4, 5] takes 256 bytes at offset 0; its place, output, has 80");
}

}  // namespace
}  // namespace kiln::plan
