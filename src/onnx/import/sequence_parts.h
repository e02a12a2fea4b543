/// Sequences and optionals as the importer knows them: lists of tensors, which are no values of a graph.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kiln::onnx {

/// Why all elements of a sequence are needed.
struct WholeReason {
  std::string text;
  bool names_node = false;  ///< the text begins with the node that needs them
};

/// The way in which a loop carries a sequence. Importing the loop's body shows which one is needed; then the body is
/// imported again.
struct CarriedSequence {
  static constexpr int kLongestTail = 16;
  sym::Expr initial = 0;         ///< elements before the loop
  int tail = 0;                  ///< how many of its last elements the body reads: each is a carried value of its own
  int given_tail = 0;            ///< how many the body has in this try
  sym::Expr appended = 1;        ///< elements that an iteration adds
  bool is_whole = false;         ///< the body needs all elements: they are one carried value, which grows
  WholeReason why_whole;         ///< what needs them
  std::optional<DType> dtype{};  ///< of the elements before the loop, if there are any
  std::optional<int> joined_axis{};  ///< the elements that it adds differ along this axis: they are joined as they come
  bool counts = false;               ///< how many iterations there are is an output of the loop
  std::optional<TensorType> element;  ///< type of the elements that the body adds, as the last try has found it
  std::optional<TensorType> seen;     ///< the same, as this try finds it

  /// Whether this try has found other elements than the last one.
  bool is_element_new() const {
    return seen && (!element || seen->dtype != element->dtype || seen->shape != element->shape);
  }
  /// Whether a try that began with `before` has found another way, which the next one is to take.
  bool take_findings(const CarriedSequence& before) {
    const bool is_new = is_whole && is_element_new();
    if (seen) element = seen;
    return tail != before.tail || is_whole != before.is_whole || appended != before.appended ||
           joined_axis != before.joined_axis || counts != before.counts || is_new;
  }
};

/// A run of neighbours in a sequence.
struct SequencePart {
  enum class Kind : uint8_t {
    kElement,   ///< `value` is one element
    kStack,     ///< `value` has as many elements as axis 0 has slices
    kGathered,  ///< `count` elements that a loop around has gathered in the iterations before: they are nowhere yet
    kJoined,    ///< `value` has `count` elements one behind the other along `axis`, in which they differ
  };
  Kind kind = Kind::kElement;
  ir::ValueId value = ir::ValueId::kNone;
  CarriedSequence* loop = nullptr;  ///< that gathers them, within its body
  sym::Expr count = 0;
  int axis = 0;
  bool operator==(const SequencePart&) const = default;
};

/// A sequence, or an optional, which is a sequence of one or none, or has a sequence.
struct Sequence {
  enum class Kind : uint8_t { kSequence, kEmptyOptional, kOptionalTensor, kOptionalSequence };
  std::vector<SequencePart> parts;
  Kind kind = Kind::kSequence;

  void append(ir::ValueId element) { parts.push_back({SequencePart::Kind::kElement, element}); }
  void append_stack(ir::ValueId stack) { parts.push_back({SequencePart::Kind::kStack, stack}); }
  bool operator==(const Sequence&) const = default;
};

using Sequences = std::map<std::string, Sequence, std::less<>>;  ///< by name in the model

}  // namespace kiln::onnx
