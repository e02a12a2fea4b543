// Extents and numbers as large as int64 has them, in every case of every op: inference answers soon, with types or an
// error, and so does the reference where an extent of 0 leaves nothing to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/limits.h"

namespace kiln {
namespace {

constexpr int64_t kHuge[] = {0, int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62, INT64_MAX};
constexpr int64_t kLow[] = {-1, -(int64_t{1} << 62), INT64_MIN};
constexpr int64_t kMostElements = 1 << 12;  // that a reference is run on here

/// A case whose inputs are types, and constants where the host reads them.
struct Subject {
  Op op;
  std::vector<TensorType> types;
  std::vector<HostTensor> constants;
  std::vector<bool> absent, known;
  std::shared_ptr<sym::Table> table = std::make_shared<sym::Table>();  ///< of sizes that runs decide

  explicit Subject(const Case& c) : op(c.op) {
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const CaseInput& input = c.inputs[i];
      absent.push_back(input.absent);
      known.push_back(!input.absent && (input.constant || op.info().reads_on_host(i)));
      constants.push_back(known[i] ? fill_input(c, static_cast<int>(i)) : HostTensor());
      types.push_back(known[i] ? type_of(constants[i]) : tensor_type(input.dtype, input.extents));
    }
  }
  std::string text() const {
    std::string result = str(op, " of");
    for (size_t i = 0; i < types.size(); ++i) result += absent[i] ? " _" : str(" ", types[i]);
    return result;
  }
  Result<std::vector<TensorType>> infer() const {
    std::vector<InferInput> inputs(types.size());
    for (size_t i = 0; i < types.size(); ++i)
      if (!absent[i]) inputs[i] = {&types[i], known[i] ? &constants[i] : nullptr};
    return infer_types(op, inputs, *table);
  }
  void give(size_t input, HostTensor value) {
    types[input] = type_of(value);
    constants[input] = std::move(value);
  }
};

void look_at(const Subject& subject) {
  const auto types = subject.infer();
  if (!types) {
    EXPECT_NE(types.error().message, "") << Limits::current();
    return;
  }
  // Where all is small or empty, the reference runs.
  std::vector<HostTensor> made(subject.types.size());
  std::vector<const HostTensor*> inputs(subject.types.size(), nullptr);
  const auto is_small = [](const TensorType& type) {
    const auto extents = type.extents();
    const auto count = extents ? checked_volume(*extents) : Result<int64_t>(kMostElements + 1);
    return count && *count <= kMostElements;
  };
  if (!std::ranges::all_of(*types, is_small) || !std::ranges::all_of(subject.types, is_small)) return;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (subject.absent[i]) continue;
    if (!subject.known[i]) {
      auto fresh = HostTensor::make(subject.types[i].dtype, *subject.types[i].extents());
      ASSERT_TRUE(fresh);
      std::ranges::fill(fresh->data, std::byte{});
      made[i] = std::move(fresh->tensor);
    }
    inputs[i] = subject.known[i] ? &subject.constants[i] : &made[i];
  }
  static_cast<void>(run_reference(subject.op, inputs));  // an index may be outside, say
}

using Look = std::function<void(const Subject&)>;

/// Every extent of an input replaced by each number; and all of them, but for the last.
void replace_extents(const Subject& subject, const Look& look) {
  for (size_t i = 0; i < subject.types.size(); ++i) {
    if (subject.absent[i] || subject.known[i]) continue;
    for (size_t axis = 0; axis < subject.types[i].shape.size(); ++axis)
      for (const int64_t huge : kHuge) {
        Subject changed = subject;
        changed.types[i].shape[axis] = huge;
        look(changed);
      }
  }
  for (const int64_t huge : kHuge)
    for (const int64_t last : {huge, int64_t{0}, int64_t{1}}) {
      Subject changed = subject;
      for (size_t i = 0; i < changed.types.size(); ++i) {
        Shape& shape = changed.types[i].shape;
        if (changed.absent[i] || changed.known[i] || shape.empty()) continue;
        std::ranges::fill(shape, sym::Expr(huge));
        shape.back() = last;
      }
      look(changed);
    }
}

/// Every number of a small constant of integers replaced.
void replace_constants(const Subject& subject, const Look& look) {
  for (size_t i = 0; i < subject.types.size(); ++i) {
    if (!subject.known[i] || !is_index(subject.types[i].dtype) || subject.constants[i].volume() > 16) continue;
    const std::vector<int64_t> own = View(subject.constants[i]).integers();
    for (size_t k = 0; k < own.size(); ++k)
      for (const auto& numbers : {std::span<const int64_t>(kHuge), std::span<const int64_t>(kLow)})
        for (const int64_t number : numbers) {
          std::vector<int64_t> values = own;
          values[k] = number;
          Subject changed = subject;
          changed.give(i, HostTensor::of_ints(DType::kI64, subject.constants[i].extents(), values));
          look(changed);
        }
  }
}

/// Every number of an attribute replaced.
void replace_attributes(const Subject& subject, const Look& look) {
  for (const Field& field : subject.op.info().fields) {
    const auto change = [&](auto replace) {
      for (const auto& numbers : {std::span<const int64_t>(kHuge), std::span<const int64_t>(kLow)})
        for (const int64_t number : numbers) {
          const std::shared_ptr<void> data = subject.op.info().clone(subject.op.data());
          replace(field.in(data.get()), number);
          Subject changed = subject;
          changed.op = Op(subject.op.info(), data);
          look(changed);
        }
    };
    if (holds<int>(field)) {
      change([](void* at, int64_t number) { *static_cast<int*>(at) = static_cast<int>(number); });
    } else if (holds<int64_t>(field)) {
      change([](void* at, int64_t number) { *static_cast<int64_t*>(at) = number; });
    } else if (holds<std::vector<int64_t>>(field)) {
      const size_t size = static_cast<const std::vector<int64_t>*>(field.in(subject.op.data()))->size();
      for (size_t k = 0; k < size; ++k)
        change([&](void* at, int64_t number) { (*static_cast<std::vector<int64_t>*>(at))[k] = number; });
    }
  }
}

/// Ops with bodies, which a case cannot say, and the boundaries that become such.
bool is_of_bodies(std::string_view name) { return name.starts_with("If") || name.starts_with("Loop"); }

TEST(HugeExtents, EveryOpHasACase) {
  for (const OpInfo* info : all_ops())
    EXPECT_TRUE(std::ranges::any_of(all_cases(), [&](const Case& c) { return &c.op.info() == info; }) ||
                info->name == "Constant" || info->name == "Assertion" || info->name == "Plugin" ||
                is_of_bodies(info->name))
        << info->name;
}
TEST(HugeExtents, EveryOpAnswersSoon) {
  Limits limits(1);
  int64_t count = 0;
  const Look look = [&](const Subject& subject) {
    ++count;
    limits.run(subject.text(), [&] { look_at(subject); });
  };
  for (const Case& c : all_cases()) {
    const Subject subject(c);
    replace_extents(subject, look);
    replace_constants(subject, look);
    replace_attributes(subject, look);
  }
  EXPECT_GT(count, 5000);
}

}  // namespace
}  // namespace kiln
