/// A step of a plan, as a value. Each kind of step is a struct in namespace kiln::steps (see softmax.h for the shape of
/// one) with a row in steps.def; `AnyStep` holds any of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/field.h"
#include "steps/step_tensors.h"
#include "steps/step_types.h"

namespace kiln {

/// One kind of step: the functions behind its struct. Made once a kind by steps/define.h.
struct StepKind {
  std::string_view name;
  int version = 1;  ///< of its fields, raised when what is computed for the same ones changes, or when they do
  StepTensors tensors;
  std::span<const Field> fields;
  Status (*check_fields)(const void* step);
  Status (*check_types)(const void* step, const StepTypes&);
  Status (*check_shapes)(const void* step, const StepTypes&, const StepShapes&);
  std::shared_ptr<void> (*make_default)();
};

/// The kind of struct T; instantiated once, in the kind's own file, by steps/define.h.
template <class T>
const StepKind& step_kind();

/// A step of any kind; immutable, cheap to copy.
class AnyStep {
 public:
  AnyStep() = default;
  template <class T>
  requires requires { T::name; }
  AnyStep(T step) : kind_(&step_kind<T>()), data_(std::make_shared<const T>(std::move(step))) {}
  AnyStep(const StepKind& kind, std::shared_ptr<const void> data) : kind_(&kind), data_(std::move(data)) {}

  explicit operator bool() const { return kind_ != nullptr; }
  const StepKind& kind() const { return *kind_; }
  std::string_view name() const { return kind_->name; }

  /// The step as a T, or null if it is of another kind.
  template <class T>
  const T* as() const {
    return kind_ == &step_kind<T>() ? static_cast<const T*>(data_.get()) : nullptr;
  }

  /// Fails (kCorrupt) unless a step of these fields takes tensors of these numbers, types and formats.
  Status check(const StepTypes& types) const;
  /// Fails (kCorrupt) unless it takes these extents and parameters. `check` of the types has passed.
  Status check(const StepTypes& types, const StepShapes& shapes) const;

  Hash128 hash() const { return kind_ ? combine(hash128(name()), fields_hash(kind_->fields, data_.get())) : Hash128(); }
  Record to_record() const { return fields_record(kind_->fields, data_.get()); }
  bool operator==(const AnyStep& other) const {
    return kind_ == other.kind_ &&
           (data_ == other.data_ || fields_equal(kind_->fields, data_.get(), other.data_.get()));
  }

 private:
  const StepKind* kind_ = nullptr;
  std::shared_ptr<const void> data_;
};
void append(std::string& out, const AnyStep& step);  ///< "softmax{axis=1}"

/// Every kind of steps.def, in its order.
std::span<const StepKind* const> all_step_kinds();
const StepKind* find_step_kind(std::string_view name);  ///< null if there is none
Result<AnyStep> step_from_record(const StepKind& kind, const Record& record);
/// {kind, version, fields}; reading another version of a kind, or a kind that is not there, is an error (kVersion).
const FieldType& field_type(Tag<AnyStep>);

}  // namespace kiln
