#include "steps/step.h"

#include <algorithm>

namespace kiln {
namespace steps {
#define STEP(name) struct name;
#include "steps/steps.def"
#undef STEP
}  // namespace steps

namespace {

/// A step that does not take its fields or tensors is a damaged one, whoever made it.
Status corrupt(Status status) {
  if (status || status.error().code != Code::kInvalidArgument) return status;
  return error(Code::kCorrupt, status.error().message);
}

}  // namespace

Status AnyStep::check(const StepTypes& types) const {
  TRY(corrupt(kind_->tensors.check(kind_->name, types)));
  return corrupt(kind_->check_types(data_.get(), types));
}
Status AnyStep::check(const StepTypes& types, const StepShapes& shapes) const {
  return corrupt(kind_->check_shapes(data_.get(), types, shapes));
}

void append(std::string& out, const AnyStep& step) { append(out, str(step.name(), step.to_record())); }

std::span<const StepKind* const> all_step_kinds() {
  static const StepKind* const kAll[] = {
#define STEP(name) &step_kind<steps::name>(),
#include "steps/steps.def"
#undef STEP
  };
  return kAll;
}

const StepKind* find_step_kind(std::string_view name) {
  const auto all = all_step_kinds();
  const auto found = std::ranges::find(all, name, &StepKind::name);
  return found == all.end() ? nullptr : *found;
}

Result<AnyStep> step_from_record(const StepKind& kind, const Record& record) {
  const std::shared_ptr<void> data = kind.make_default();
  TRY(in_context(set_all_fields(kind.fields, data.get(), record), [&] { return str("step kind '", kind.name, "'"); }));
  TRY(corrupt(kind.check_fields(data.get())));
  return AnyStep(kind, data);
}

namespace {

struct WrittenStep {
  std::string kind;
  int version = 1;
  Record fields;
  static void reflect(auto& self, auto f) {
    f("kind", self.kind), f("version", self.version), f("fields", self.fields);
  }
};

Result<AnyStep> read(const WrittenStep& written) {
  const StepKind* kind = find_step_kind(written.kind);
  if (!kind) return error(Code::kVersion, "this Kiln has no kind of step that is called '", written.kind, "'");
  if (kind->version != written.version)
    return error(Code::kVersion, "this plan has ", kind->name, " of version ", written.version, ", this Kiln reads ",
                 kind->version, ": build the network again");
  return step_from_record(*kind, written.fields);
}

}  // namespace

const FieldType& field_type(Tag<AnyStep>) {
  static const ConvertedFieldType<AnyStep, WrittenStep> type(
      [](const AnyStep& step) {
        return WrittenStep{std::string(step.name()), step.kind().version, step.to_record()};
      },
      read);
  return type;
}

}  // namespace kiln
