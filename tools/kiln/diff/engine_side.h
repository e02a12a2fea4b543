/// An engine whose steps are watched: what runs is not changed, so what a step keeps inside is not shown.
#pragma once

#include <memory>
#include <unordered_map>

#include "kiln/diff/side.h"
#include "kiln/session.h"
#include "plan/nested_steps.h"

namespace kiln::diff {

class EngineSide final : public Side {
 public:
  /// `session` has an engine and a context, of which profile `profile` is run. `least` is what is known of the
  /// precision beyond the types of tensors: weights in half leave no trace there.
  static Result<std::unique_ptr<EngineSide>> create(Session session, int profile, std::string name,
                                                    Precision least = Precision::kFloat);

  const std::string& description() const override { return description_; }
  Precision precision() const override { return precision_; }
  const std::vector<Spot>& spots() const override { return spots_; }
  Status run(const std::vector<HostTensor>& inputs, Watcher& watcher) override;

  const plan::Plan& plan() const { return session_.engine->plan(); }

 private:
  class Observer;
  /// What is asked of a block for each of its steps' outputs, found in one pass over it.
  struct BlockIndex {
    explicit BlockIndex(const plan::Block& block);
    /// The tensor whose numbers a tensor has: itself, or what it is a view of and that some step made.
    int source_of(const plan::Block& block, int tensor) const;

    std::vector<bool> made;               ///< by tensor: some step makes it, in place of what it is a view of, too
    std::vector<std::vector<int>> views;  ///< by tensor: of itself, with all its elements in their order, not made
    std::vector<const plan::Step*> byte_products;
  };
  explicit EngineSide(Session session) : session_(std::move(session)) {}
  void add_spots(const plan::NestedStep& nested, const BlockIndex& index);
  std::optional<ByteScale> scale_of(const plan::Block& block, const BlockIndex& index, int tensor) const;

  Session session_;
  int profile_ = 0;
  bool has_run_ = false;
  std::string description_;
  Precision precision_ = Precision::kFloat;
  std::vector<Spot> spots_;
  std::vector<std::optional<ByteScale>> scales_;  ///< by spot
  std::vector<bool> is_turned_;  ///< by spot: it has the elements as memory has them, not as its tensor's format says
  std::unordered_map<const plan::Step*, std::vector<size_t>> of_step_;  ///< spots, by output
  std::unordered_map<const plan::Tensor*, size_t> made_by_;             ///< of what has memory: the latest spot
};

}  // namespace kiln::diff
