#include "plan/metadata.h"

#include "sym/field_types.h"
#include "tensor/field_types.h"

namespace kiln::plan {

std::span<const std::string_view> enum_names(Place) {
  static constexpr std::string_view kNames[] = {"input", "output", "weight", "arena", "view", "absent", "growing"};
  return kNames;
}

namespace {

/// A weight without its elements.
struct WrittenWeight {
  std::string name;
  DType dtype = DType::kF32;
  Extents extents;
  std::optional<DataRef> from;
  std::optional<int> same_as;
  static void reflect(auto& self, auto f) {
    f("name", self.name), f("dtype", self.dtype), f("extents", self.extents), f("from", self.from);
    f("same_as", self.same_as);
  }
};

}  // namespace

const FieldType& field_type(Tag<Weight>) {
  static const ConvertedFieldType<Weight, WrittenWeight> type(
      [](const Weight& weight) {
        return WrittenWeight{weight.name, weight.value.dtype(), weight.value.extents(),
                             weight.from.is_none() ? std::nullopt : std::optional(weight.from),
                             weight.same_as < 0 ? std::nullopt : std::optional(weight.same_as)};
      },
      [](const WrittenWeight& written) -> Result<Weight> {
        return Weight{written.name, HostTensor(written.dtype, written.extents, {}, nullptr),
                      written.from.value_or(DataRef{}), written.same_as.value_or(-1)};
      });
  return type;
}

Record to_record(const Plan& plan) { return kiln::to_record(plan); }
Result<Plan> plan_from_record(const Record& record) { return from_record<Plan>(record); }

}  // namespace kiln::plan
