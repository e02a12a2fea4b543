/// An op: a meaning with attributes, as a value. Each kind of op is a struct in namespace kiln::ops (see softmax.h for
/// the shape of one) with a row in ops.def; `Op` holds any of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/field.h"
#include "ops/scalar.h"
#include "sym/field_types.h"
#include "tensor/field_types.h"
#include "tensor/tensor_type.h"

namespace kiln {

class InferContext;
class ReferenceContext;

/// Facts that passes and tactics may know of an op without naming it. A set of bits.
enum class Trait : uint32_t {
  kNone = 0,
  kPointwise = 1 << 0,  ///< a function of elements at the same index, inputs broadcast
  kMovement = 1 << 1,   ///< elements only move, repeat or vanish
  kReduction = 1 << 2,
  kContraction = 1 << 3,      ///< sums of products
  kAlias = 1 << 4,            ///< the output has the input's elements in their order
  kDecomposed = 1 << 5,       ///< a convenience that passes/decompose replaces; needs no backend code
  kNondeterministic = 1 << 6  ///< equal inputs may give other outputs (random fills): never merged or folded
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr bool has(Trait set, Trait bit) { return (static_cast<uint32_t>(set) & static_cast<uint32_t>(bit)) != 0; }

/// One kind of op: the functions behind its struct. Made once an op by ops/define.h.
struct OpInfo {
  std::string_view name;
  Trait traits;
  int min_inputs, max_inputs;  ///< max -1: any number
  uint32_t host_inputs;        ///< bit i: input i must be known on the host before the op runs (a shape, a count)
  uint32_t fed_back;           ///< bit i: input i comes from below the node, for the next iteration; it is no edge
  std::span<const Field> fields;
  Status (*infer)(const void* op, InferContext&);
  Status (*reference)(const void* op, ReferenceContext&);
  /// Non-null exactly for those of kPointwise that are one function (Quantize and Dequantize are several).
  Scalar (*scalar)(const void* op);
  int (*num_outputs)(const void* op);
  std::shared_ptr<void> (*make_default)();
  std::shared_ptr<void> (*clone)(const void* op);

  bool has(Trait trait) const { return kiln::has(traits, trait); }
  bool reads_on_host(size_t input) const { return input < 32 && (host_inputs >> input & 1) != 0; }
  bool is_fed_back(size_t input) const { return input < 32 && (fed_back >> input & 1) != 0; }
};

/// The info of op struct T; instantiated once, in the op's own file, by ops/define.h.
template <class T>
const OpInfo& op_info();

/// Any op with its attributes; immutable, cheap to copy.
class Op {
 public:
  Op() = default;
  template <class T>
  requires requires { T::name; }
  Op(T op) : info_(&op_info<T>()), data_(std::make_shared<const T>(std::move(op))) {}
  Op(const OpInfo& info, std::shared_ptr<const void> data) : info_(&info), data_(std::move(data)) {}

  explicit operator bool() const { return info_ != nullptr; }
  const OpInfo& info() const { return *info_; }
  std::string_view name() const { return info_->name; }
  bool has(Trait trait) const { return info_->has(trait); }
  int num_outputs() const { return info_->num_outputs(data_.get()); }
  const void* data() const { return data_.get(); }

  /// The op as a T, or null if it is another kind.
  template <class T>
  const T* as() const {
    return info_ == &op_info<T>() ? static_cast<const T*>(data_.get()) : nullptr;
  }

  Status infer(InferContext& cx) const { return info_->infer(data_.get(), cx); }
  Status reference(ReferenceContext& cx) const { return info_->reference(data_.get(), cx); }
  Scalar scalar() const { return info_->scalar(data_.get()); }

  bool operator==(const Op& other) const {
    return info_ == other.info_ &&
           (data_ == other.data_ || fields_equal(info_->fields, data_.get(), other.data_.get()));
  }

 private:
  const OpInfo* info_ = nullptr;
  std::shared_ptr<const void> data_;
};
void append(std::string& out, const Op& op);  ///< "Softmax{axis=1}"
/// The op with symbols replaced in the expressions that its attributes hold; itself if it has none.
Op substitute(const Op& op, std::span<const std::pair<sym::Expr, sym::Expr>> replacements);
/// Appends the symbols in the expressions that its attributes hold and `out` lacks.
void collect_symbols(const Op& op, std::vector<sym::Expr>& out);
Hash128 hash128(const Op& op);
Record to_record(const Op& op);  ///< {op, attributes}
Result<Op> op_from_record(const Record& record);

/// Every op of ops.def, in its order.
std::span<const OpInfo* const> all_ops();
const OpInfo* find_op(std::string_view name);  ///< null if there is none

}  // namespace kiln
