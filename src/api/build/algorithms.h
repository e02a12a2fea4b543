/// IAlgorithmSelector's side of a build: what a program is shown of regions and tactics, and what it answers.
#pragma once

#include <NvInfer.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tactics/selector.h"

namespace kiln::api {

/// Asks a program's selector. Shows it regions as layers, and tactics with their variants as algorithms; those of a
/// profile live until its report.
class AlgorithmSelection final : public TacticSelector {
 public:
  /// `rejects_none` as BuilderFlag::kREJECT_EMPTY_ALGORITHMS has it.
  AlgorithmSelection(nvinfer1::IAlgorithmSelector& selector, bool rejects_none);
  ~AlgorithmSelection() override;

  Result<std::vector<size_t>> select(const TacticContext& cx, const std::string& name,
                                     std::span<const Algorithm> algorithms) override;
  void chose(std::span<const std::optional<size_t>> algorithms) override;
  void end_profile() override;

 private:
  struct Layer;
  std::string unique_name(const std::string& name);

  nvinfer1::IAlgorithmSelector& selector_;
  const bool rejects_none_;
  int profile_ = 0;
  std::vector<std::unique_ptr<Layer>> layers_;  ///< of the profile
  std::set<std::string> names_;                 ///< theirs
};

}  // namespace kiln::api
