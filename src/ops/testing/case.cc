#include "ops/testing/case.h"

#include <cmath>
#include <random>

#include "base/hash.h"
#include "ops/infer_context.h"
#include "ops/reference_context.h"

namespace kiln {

std::vector<Case>& all_cases() {
  static std::vector<Case> cases;
  return cases;
}

namespace {
double draw_float(const CaseInput& input, std::mt19937_64& random) {
  const double normal = std::normal_distribution<double>()(random);
  switch (input.fill) {
    case Fill::kPositive: return std::uniform_real_distribution<double>(0.1, 2)(random);
    case Fill::kHuge: return normal * (input.dtype == DType::kF16 ? 3e3 : 1e4);
    case Fill::kSpecial: {
      constexpr double kSpecials[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0};
      return random() % 4 ? normal : kSpecials[random() % 5];
    }
    default: return normal;
  }
}
int64_t draw_integer(const CaseInput& input, std::mt19937_64& random) {
  const auto uniform = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  if (input.dtype == DType::kBool) return uniform(0, 1);
  if (input.fill == Fill::kIndex) return uniform(-input.count, input.count - 1);
  if (input.fill == Fill::kPositive) return uniform(1, 5);
  return uniform(input.dtype == DType::kU8 ? 0 : -5, 5);
}
}  // namespace

HostTensor fill_input(const Case& c, int input) {
  const CaseInput& spec = c.inputs[static_cast<size_t>(input)];
  if (!spec.literal.empty()) return HostTensor::of(spec.dtype, spec.extents, spec.literal);
  std::mt19937_64 random(hash128(str(c.name, '#', input)).low);
  const auto count = static_cast<size_t>(volume(spec.extents));
  if (is_float(spec.dtype)) {
    std::vector<double> values(count);
    for (double& value : values) value = draw_float(spec, random);
    return HostTensor::of(spec.dtype, spec.extents, values);
  }
  std::vector<int64_t> values(count);
  for (int64_t& value : values) value = draw_integer(spec, random);
  return HostTensor::of_ints(spec.dtype, spec.extents, values);
}

std::vector<double> run_reference_numbers(const Op& op, const std::vector<CaseInput>& inputs) {
  const Case c{"known answer", op, inputs};
  std::vector<HostTensor> tensors(inputs.size());
  std::vector<const HostTensor*> pointers(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].absent) continue;
    tensors[i] = fill_input(c, static_cast<int>(i));
    pointers[i] = &tensors[i];
  }
  const auto outputs = run_reference(op, pointers);
  if (!outputs) throw CheckFailed{outputs.error().message};
  const View y((*outputs)[0]);
  std::vector<double> numbers(static_cast<size_t>(y.volume()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = y[static_cast<int64_t>(i)];
  return numbers;
}

std::string infer_error(const Op& op, const std::vector<CaseInput>& inputs) {
  sym::Table table;
  const Case c{"infer", op, inputs};
  std::vector<HostTensor> tensors(inputs.size());
  std::vector<TensorType> types(inputs.size());
  std::vector<InferInput> infer_inputs(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].absent) continue;
    types[i] = tensor_type(inputs[i].dtype, inputs[i].extents);
    if (!inputs[i].literal.empty()) {
      tensors[i] = fill_input(c, static_cast<int>(i));
      types[i] = type_of(tensors[i]);
      infer_inputs[i].constant = &tensors[i];
    }
    infer_inputs[i].type = &types[i];
  }
  const auto inferred = infer_types(op, infer_inputs, table);
  return inferred ? std::string() : inferred.error().message;
}

}  // namespace kiln
