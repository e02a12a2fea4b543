#include "builder/workspaces.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/mapped_pages.h"
#include "builder/corners.h"
#include "plan/control.h"
#include "plan/decided_sizes.h"
#include "runtime/step_loader.h"
#include "sym/program_words.h"

namespace kiln {
namespace {

/// Whether all extents are valid. At some shapes of a profile, cropping or slicing would give a negative extent.
bool are_extents(std::span<const Extents> tensors) {
  return std::ranges::all_of(tensors, [](const Extents& extents) {
    return std::ranges::all_of(extents, [](int64_t extent) { return extent >= 0; });
  });
}

/// Values of a profile's symbols, and what extents its tensors have there.
struct Shapes {
  std::vector<int64_t> symbols;
  std::vector<Extents> extents;
};

/// The shapes at which the steps of a block are bound.
struct BlockShapes {
  std::vector<Shapes> ends;    ///< where extents are largest, the optimum and the minimum, as far as they can be
  std::vector<int64_t> first;  ///< the symbols of the end at which every step has to work
  std::vector<Shapes> tuned;   ///< by tuning
  bool is_open = false;        ///< whether sizes without a bound are typical ones here, which need not fit each other
};

bool has_open_sizes(const plan::Block& block) {
  return std::ranges::any_of(
      block.steps, [](const plan::Step& step) { return std::ranges::any_of(step.sizes, &plan::DecidedSize::is_open); });
}

Result<BlockShapes> shapes_of(const plan::Plan& plan, const plan::Profile& profile) {
  std::vector<std::vector<int64_t>> points = largest_symbols(plan, profile);
  const size_t num_largest = points.size();
  for (const auto end : {&plan::InputRange::opt, &plan::InputRange::min}) {
    std::vector<int64_t> symbols = symbols_at(plan, profile, end);
    if (agrees(plan, profile, symbols)) points.push_back(std::move(symbols));
  }
  BlockShapes result{.ends = {}, .first = points[0], .tuned = {}, .is_open = has_open_sizes(profile)};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i >= num_largest && std::ranges::count(points, points[i]) > 1) continue;
    auto extents = runtime::tensor_extents(profile, points[i]);
    if (i == 0 && !extents) return std::unexpected(extents.error());
    if (extents && are_extents(*extents)) result.ends.push_back({points[i], *std::move(extents)});
  }
  for (const Extents& symbols : profile.tunings)
    result.tuned.push_back({symbols, TRY(runtime::tensor_extents(profile, symbols))});
  return result;
}

/// Gives sizes that a body's steps decide, and that an assumption ties to a number, that number.
void obey(const plan::Body& body, std::span<const sym::Guard> guards, std::vector<int64_t>& symbols) {
  const auto settle = [&](const sym::Guard& guard, const sym::Program& size, const sym::Program& number) {
    for (const plan::Step& step : body.steps)
      for (const plan::DecidedSize& decided : step.sizes) {
        int64_t& symbol = symbols[static_cast<size_t>(decided.symbol)];
        const auto wanted = number.run(symbols);
        if (!wanted || sym::operands_of(size).symbols != std::vector{decided.symbol}) continue;
        const int64_t was = std::exchange(symbol, *wanted);
        if (*wanted < 0 || *wanted > was || !guard.check(symbols)) symbol = was;
      }
  };
  for (const sym::Guard& guard : guards) {
    if (guard.relation != sym::Relation::kEqual || guard.check(symbols)) continue;
    settle(guard, guard.lhs, guard.rhs);
    if (!guard.check(symbols)) settle(guard, guard.rhs, guard.lhs);
  }
}

/// The shapes of a body whose step is bound at those of `around`: the sizes that its own steps decide are the largest
/// possible there. A body that some of the shapes make impossible runs at others, of which the largest count.
BlockShapes shapes_within(const plan::Plan& plan, const plan::Profile& profile, const plan::Body& body,
                          std::span<const sym::Guard> guards, const BlockShapes& around) {
  std::vector<std::vector<int64_t>> points;
  for (const Shapes& end : around.ends) points.push_back(end.symbols);
  const auto is_possible = [&](const std::vector<int64_t>& symbols) { return agrees(plan, profile, symbols, guards); };
  const size_t num_ends = points.size();
  if (!std::ranges::all_of(points, is_possible))
    for (std::vector<int64_t>& point : largest_symbols(plan, profile, guards))
      if (is_possible(point)) points.push_back(std::move(point));
  if (points.size() > num_ends) std::erase_if(points, [&](const auto& point) { return !is_possible(point); });
  BlockShapes result{.ends = {}, .first = around.first, .tuned = {}, .is_open = around.is_open || has_open_sizes(body)};
  for (const std::vector<int64_t>& point : points) {
    Shapes inside{point, {}};
    if (!plan::set_largest_sizes(body, inside.symbols)) continue;
    obey(body, guards, inside.symbols);
    auto extents = runtime::tensor_extents(body, inside.symbols);
    if (!extents || !are_extents(*extents)) continue;
    inside.extents = *std::move(extents);
    if (point == around.first) result.first = inside.symbols;
    result.ends.push_back(std::move(inside));
  }
  return result;
}

/// A kernel of a step: its own, or an alternative's.
struct Use {
  size_t block, step;
  int kernel;
};

class Measurer {
 public:
  Measurer(plan::Plan& plan, Device& device, Allocator* memory)
      : plan_(plan), weights_(plan), loader_(plan, weights_, device, memory) {}

  Status run() {
    TRY(weights_.order());
    for (const plan::Profile& profile : plan_.profiles) {
      shapes_.push_back(TRY(shapes_of(plan_, profile)));
      profile_of_.push_back(profile_of_.size());
      blocks_.push_back(&plan_.profiles[profile_of_.back()]);
    }
    for (plan::Body& body : plan_.bodies) blocks_.push_back(&body);
    add_body_shapes();
    for (const std::vector<Use>& uses : equal_kernels()) TRY(measure(uses));
    lay_out_bodies();
    return {};
  }

 private:
  /// A body stands behind the block of its step.
  void add_body_shapes() {
    shapes_.resize(blocks_.size());
    profile_of_.resize(blocks_.size());
    guards_.resize(blocks_.size());
    for (size_t b = 0; b < blocks_.size(); ++b)
      for (const plan::Step& step : blocks_[b]->steps)
        for (const int index : step.bodies) {
          const size_t inner = plan_.profiles.size() + static_cast<size_t>(index);
          const plan::Body& body = plan_.bodies[static_cast<size_t>(index)];
          profile_of_[inner] = profile_of_[b];
          guards_[inner] = guards_[b];
          guards_[inner].insert(guards_[inner].end(), body.guards.begin(), body.guards.end());
          shapes_[inner] = shapes_within(plan_, plan_.profiles[profile_of_[inner]], body, guards_[inner], shapes_[b]);
        }
  }

  /// A step with bodies has their memory within its workspace: inner ones are known first.
  void lay_out_bodies() {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
      for (plan::Step& step : (*block)->steps) {
        if (!plan::is_control(step)) continue;
        step.workspace_bytes = plan::layout_of(plan_, **block, step).total_bytes;
        (*block)->workspace_bytes = std::max((*block)->workspace_bytes, step.workspace_bytes);
      }
  }

  /// Groups kernels that can be loaded as one. Each group is loaded, measured and released before the next, so that
  /// only one step's weights are packed at a time.
  std::vector<std::vector<Use>> equal_kernels() const {
    std::vector<std::vector<Use>> result;
    std::map<Hash128, size_t> known;
    for (size_t b = 0; b < blocks_.size(); ++b)
      for (size_t s = 0; s < blocks_[b]->steps.size(); ++s) {
        const plan::Step& step = blocks_[b]->steps[s];
        if (plan::is_control(step)) continue;
        for (int kernel = runtime::kOwnKernel; kernel < static_cast<int>(step.alternatives.size()); ++kernel) {
          const auto [at, is_new] = known.emplace(loader_.key(*blocks_[b], step, kernel), result.size());
          if (is_new) result.emplace_back();
          result[at->second].push_back({b, s, kernel});
        }
      }
    return result;
  }

  Status measure(std::span<const Use> uses) {
    const plan::Block& block = *blocks_[uses[0].block];
    const plan::Step& first = block.steps[uses[0].step];
    const std::unique_ptr<const LoadedStep> loaded = TRY(loader_.load(block, first, uses[0].kernel));
    for (const Use& use : uses) TRY(measure(*loaded, use));
    for (const HostTensor* constant : loader_.constants(block, first))
      if (constant) release_pages(constant->bytes());
    return {};
  }

  Status measure(const LoadedStep& loaded, const Use& use) {
    const BlockShapes& shapes = shapes_[use.block];
    if (use.kernel == runtime::kOwnKernel) {
      return measure_ends(loaded, use, shapes);
    }
    const plan::Step& step = blocks_[use.block]->steps[use.step];
    for (const int tuning : step.alternatives[static_cast<size_t>(use.kernel)].tunings)
      TRY(measure(loaded, use, shapes.tuned[static_cast<size_t>(tuning)]));
    return {};
  }

  /// Measures the kernel at the ends of the profile. The first end must work. An error at another end shows when a
  /// context binds it, unless the step works at no end. If the guards allow none of the ends, nothing is known in
  /// between; where a size has no bound, a larger workspace is asked for while the network runs.
  Status measure_ends(const LoadedStep& loaded, const Use& use, const BlockShapes& shapes) {
    bool works = false;
    Status failed;
    for (const Shapes& end : shapes.ends) {
      Status measured = measure(loaded, use, end);
      works |= measured.has_value();
      if (measured || shapes.is_open) continue;
      if (!agrees(plan_, plan_.profiles[profile_of_[use.block]], end.symbols, guards_[use.block])) continue;
      if (end.symbols == shapes.first) return measured;
      failed = std::move(measured);
    }
    return works ? Status() : failed;
  }

  Status measure(const LoadedStep& loaded, const Use& use, const Shapes& shapes) {
    plan::Block& block = *blocks_[use.block];
    plan::Step& step = block.steps[use.step];
    const auto bound = TRY(runtime::bind(loaded, step, use.kernel, shapes.extents, shapes.symbols));
    step.workspace_bytes = std::max(step.workspace_bytes, bound->workspace_bytes());
    block.workspace_bytes = std::max(block.workspace_bytes, step.workspace_bytes);
    return {};
  }

  plan::Plan& plan_;
  runtime::OrderedWeights weights_;
  runtime::StepLoader loader_;
  std::vector<plan::Block*> blocks_;             // profiles, then bodies
  std::vector<BlockShapes> shapes_;              // by block
  std::vector<size_t> profile_of_;               // by block
  std::vector<std::vector<sym::Guard>> guards_;  // by block: of a body and those around it
};

}  // namespace

Status measure_workspaces(plan::Plan& plan, Device& device, Allocator* memory) {
  return Measurer(plan, device, memory).run();
}

}  // namespace kiln
