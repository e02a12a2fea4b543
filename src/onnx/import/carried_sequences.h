/// Sequences and optionals that a Loop carries, as tensors that its op carries and stacks.
#pragma once

#include "onnx/import/loops.h"
#include "onnx/import/sequences.h"

namespace kiln::onnx {

/// Most loops add an element to the end of a sequence in each iteration: the elements are a stacked output. Their body
/// sees a sequence of which only the length and, as carried values, the last elements are known. Elements that
/// differ along one axis are joined along it as they come. Where a body does more, it carries all elements as one
/// tensor, which grows.
class CarriedSequences {
 public:
  /// `num_symbols` are those that the table had before the loop.
  CarriedSequences(ImportContext& cx, const GraphDef& body, size_t num_symbols)
      : cx_(cx), body_(body), num_symbols_(num_symbols) {}

  /// Adds what the op carries for carried value c, which is a sequence or an optional, and its initial values.
  Status add(size_t c, const Sequence& initial, ir::LoopDraft& loop, LoopBody& body, Values& inputs);
  /// Adds the stacked outputs, behind those of the node.
  void add_stacks(ir::LoopDraft& loop);
  /// What the body sees.
  Result<Sequences> within(ir::Graph& graph);
  /// What the body gives, with that of the carried tensors and the stacked outputs.
  Result<std::vector<LoopResult>> results(ImportedBody& imported, size_t num_carried);
  /// Fails where elements have other shapes in other iterations, or how many there are is not known as it was thought.
  Status accept(const ir::LoopDraft& loop) const;
  /// The sequence behind the loop, whose op gave these outputs.
  Result<Sequence> after(size_t c, std::span<const ValueId> outputs, const ir::LoopDraft& loop) const;

 private:
  struct Entry {
    size_t c;
    Sequence initial;
    CarriedSequence& how;
    CarriedSequence before;  ///< `how` when the try began
    int first_carried = 0, num_carried = 0;
    int stack = -1;            ///< the stacked output: elements, or the numbers of iterations where they are joined
    bool adds_stacks = false;  ///< an iteration adds a stack and not one element
    std::vector<SequencePart> inside = {};  ///< what the body was given
  };
  std::optional<DType> dtype_of(Parts parts) const;
  Status add_to_carry(const Entry& entry, Values& values);
  Result<ValueId> nothing_joined(const CarriedSequence& how);
  Status accept_added(ImportContext& inside, Entry& entry, Parts added);
  Status join(ImportContext& inside, const Entry& entry, Parts added, std::vector<LoopResult>& carried,
              std::vector<LoopResult>& stacks);
  Status results_of(Entry& entry, ImportedBody& imported, std::vector<LoopResult>& carried,
                    std::vector<LoopResult>& stacks);
  std::string name_of(const Entry& entry) const { return std::string(body_.inputs[2 + entry.c].name); }

  ImportContext& cx_;
  const GraphDef& body_;
  size_t num_symbols_;
  std::vector<Entry> entries_;
};

}  // namespace kiln::onnx
