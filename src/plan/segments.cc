#include "plan/segments.h"

#include <algorithm>

#include "plan/decided_sizes.h"
#include "plan/programs.h"
#include "steps/loop.h"
#include "sym/program_words.h"

namespace kiln::plan {
namespace {

constexpr int kNobody = -2, kBeforeAll = -1;

/// Appends all symbols that a body's programs read, and those of the bodies of its steps.
void collect_symbols(const Plan& plan, const Body& body, std::vector<int>& out) {
  for_each_program(body, [&](const sym::Program& program) {
    const std::vector<int> symbols = sym::operands_of(program).symbols;
    out.insert(out.end(), symbols.begin(), symbols.end());
  });
  for (const Step& step : body.steps)
    for (const int inner : step.bodies) collect_symbols(plan, plan.bodies[static_cast<size_t>(inner)], out);
}

/// Goes through the steps of a block, and through the bodies of each.
class Walk {
 public:
  /// `binders` are the segments that bind the plan's symbols, by symbol; for a body, those around it are before all.
  Walk(const Plan& plan, const Block& block, std::vector<int> binders, Segments& segments)
      : plan_(plan), block_(block), binders_(std::move(binders)), all_(segments) {
    bind_known_sizes();
  }

  Result<std::vector<Segment>> run(std::span<const IoTensor> outputs) {
    for (size_t s = 0; s < block_.steps.size(); ++s) {
      const Step& step = block_.steps[s];
      const auto where = [&] { return str("step ", s, " '", step.name, "'"); };
      if (TRY(in_context(needs_new_segment(step), where))) {
        segments_.back().end = s;
        segments_.push_back({s, s});
        has_decided_ = false;
      }
      for (const int body : step.bodies) TRY(in_context(walk_body(step, body), where));
      for (const DecidedSize& size : step.sizes) TRY(in_context(bind(size), where));
    }
    segments_.back().end = block_.steps.size();
    // What the last steps decide has to be taken, too: outputs and assumptions read it.
    if (has_decided_) segments_.push_back({block_.steps.size(), block_.steps.size()});
    for (const IoTensor& output : outputs)
      for (const auto* programs : {&output.extents, &output.values})
        for (const sym::Program& program : *programs)
          TRY(in_context(read(program), [&] { return str("output '", output.name, "'"); }));
    return std::move(segments_);
  }

 private:
  /// The last segment in which a symbol of the program is bound, or kBeforeAll.
  Result<int> read(const sym::Program& program) const {
    int last = kBeforeAll;
    for (const int symbol : sym::operands_of(program).symbols) {
      const int binder = binders_[static_cast<size_t>(symbol)];
      if (binder == kNobody)
        return error(Code::kCorrupt, "symbol '", plan_.symbols[static_cast<size_t>(symbol)].name,
                     "' is read, and nothing before binds it");
      last = std::max(last, binder);
    }
    return last;
  }

  Result<bool> needs_new_segment(const Step& step) const {
    int last = kBeforeAll;
    const auto look = [&](const std::vector<sym::Program>& programs) -> Status {
      for (const sym::Program& program : programs) last = std::max(last, TRY(read(program)));
      return {};
    };
    for (const int id : step.inputs) TRY(look_at_tensor(id, look));
    for (const int id : step.outputs)
      if (step.sizes.empty()) TRY(look_at_tensor(id, look));
    TRY(look(step.params));
    for (const Alternative& other : step.alternatives) TRY(look(other.params));
    for (const DecidedSize& size : step.sizes) last = std::max(last, TRY(read(size.most)));
    std::vector<int> inside;
    for (const int body : step.bodies) collect_symbols(plan_, plan_.bodies[static_cast<size_t>(body)], inside);
    for (const int symbol : inside) last = std::max(last, binders_[static_cast<size_t>(symbol)]);
    return last == std::ssize(segments_) - 1;
  }

  /// Requires an axis that binds a symbol to be one that the loop decides: it tells its body the extents of those
  /// alone.
  Status check_binder(const Step& step, int body, const BodySymbol& anew) const {
    if (anew.axis < 0) return {};
    const auto* loop = step.step.as<steps::Loop>();
    const int carried = anew.input - 1;  // behind the iteration's number
    const auto is_axis = [&](const DecidedAxis& d) { return d.output == carried && d.axis == anew.axis; };
    if (loop && carried < loop->carried && std::ranges::any_of(loop->decided, is_axis)) return {};
    return error(Code::kCorrupt, "body ", body, " binds symbol '", plan_.symbols[static_cast<size_t>(anew.symbol)].name,
                 "' by axis ", anew.axis, " of input ", anew.input, ", whose extent the loop does not decide");
  }

  /// The steps of a body: what is bound around it, and by each of its runs, is known before they begin.
  Status walk_body(const Step& step, int body) {
    const Body& inner = plan_.bodies[static_cast<size_t>(body)];
    std::vector<int> binders = binders_;
    for (int& binder : binders) binder = binder == kNobody ? kNobody : kBeforeAll;
    for (const DecidedSize& size : step.sizes) {
      const auto is_anew = [&](const BodySymbol& anew) { return anew.symbol == size.symbol; };
      if (std::ranges::any_of(inner.symbols, is_anew)) binders[static_cast<size_t>(size.symbol)] = kBeforeAll;
    }
    for (const BodySymbol& anew : inner.symbols) {
      TRY(check_binder(step, body, anew));
      int& binder = binders[static_cast<size_t>(anew.symbol)];
      const bool is_size = std::ranges::count(step.sizes, anew.symbol, &DecidedSize::symbol) > 0;
      if (binder != kNobody && !is_size)
        return error(Code::kCorrupt, "body ", body, " binds symbol '",
                     plan_.symbols[static_cast<size_t>(anew.symbol)].name, "', which is bound around it");
      binder = kBeforeAll;
    }
    auto& segments = all_[plan_.profiles.size() + static_cast<size_t>(body)];
    segments = TRY(in_context(Walk(plan_, inner, std::move(binders), all_).run(inner.outputs),
                              [&] { return str("body ", body); }));
    return {};
  }

  template <class Look>
  Status look_at_tensor(int id, const Look& look) const {
    const Tensor* tensor = &block_.tensors[static_cast<size_t>(id)];
    TRY(look(tensor->extents));
    for (; tensor->place == Place::kView; tensor = &block_.tensors[static_cast<size_t>(tensor->index)])
      TRY(look({tensor->offset}));
    return {};
  }

  Status bind(const DecidedSize& size) {
    int& binder = binders_[static_cast<size_t>(size.symbol)];
    if (binder != kNobody)
      return error(Code::kCorrupt, "it decides symbol '", plan_.symbols[static_cast<size_t>(size.symbol)].name,
                   "', which is bound already");
    binder = static_cast<int>(std::ssize(segments_) - 1);
    has_decided_ = true;
    bind_known_sizes();
    return {};
  }

  /// A known size is there when all is that it is made of, which stands before it.
  void bind_known_sizes() {
    for (const KnownSize& size : block_.known_sizes) {
      int last = kBeforeAll;
      for (const int symbol : sym::operands_of(size.value).symbols) {
        const int binder = binders_[static_cast<size_t>(symbol)];
        last = binder == kNobody || last == kNobody ? kNobody : std::max(last, binder);
      }
      binders_[static_cast<size_t>(size.symbol)] = last;
    }
  }

  const Plan& plan_;
  const Block& block_;
  std::vector<int> binders_;  // by symbol: the segment that decides it
  Segments& all_;             // of bodies, where they were walked
  std::vector<Segment> segments_{{}};
  bool has_decided_ = false;  // whether a step of the last segment has
};

/// Each body is of one step, which stands before it: in a profile, or in an earlier body. So none is within itself.
Status check_bodies(const Plan& plan) {
  std::vector<bool> has_step(plan.bodies.size(), false);
  const auto check = [&](const Block& block, std::ptrdiff_t first) -> Status {
    for (const Step& step : block.steps)
      for (const int body : step.bodies) {
        if (body < first || body >= std::ssize(plan.bodies))
          return error(Code::kCorrupt, "step '", step.name, "' has body ", body, " of ", plan.bodies.size(),
                       "; the first that it may have is ", first);
        if (has_step[static_cast<size_t>(body)]) return error(Code::kCorrupt, "body ", body, " is of two steps");
        has_step[static_cast<size_t>(body)] = true;
      }
    return {};
  };
  for (const Profile& profile : plan.profiles) TRY(check(profile, 0));
  for (size_t b = 0; b < plan.bodies.size(); ++b)
    TRY(in_context(check(plan.bodies[b], static_cast<std::ptrdiff_t>(b) + 1), [&] { return str("body ", b); }));
  for (size_t b = 0; b < has_step.size(); ++b)
    if (!has_step[b]) return error(Code::kCorrupt, "body ", b, " is of no step");
  return {};
}

}  // namespace

std::vector<bool> tensors_of(const Block& block, const Segment& segment) {
  std::vector<bool> result(block.tensors.size(), false);
  for (size_t s = segment.first; s < segment.end; ++s)
    for (const auto* ids : {&block.steps[s].inputs, &block.steps[s].outputs})
      for (const int id : *ids) result[static_cast<size_t>(id)] = true;
  return result;
}

Result<Segments> segments_of(const Plan& plan) {
  TRY(check_bodies(plan));
  Segments result(plan.profiles.size() + plan.bodies.size(), {{}});
  std::vector<int> binders(plan.symbols.size(), kNobody);
  for (size_t s = 0; s < plan.symbols.size(); ++s)
    if (plan.symbols[s].input >= 0) binders[s] = kBeforeAll;
  for (size_t p = 0; p < plan.profiles.size(); ++p) {
    const Profile& profile = plan.profiles[p];
    const bool has_bodies = std::ranges::any_of(profile.steps, [](const Step& step) { return !step.bodies.empty(); });
    const bool is_bound = profile.known_sizes.empty() && std::ranges::count(binders, kNobody) == 0;
    if (!decides_sizes(profile) && is_bound && !has_bodies) {
      result[p] = {{0, profile.steps.size()}};
      continue;
    }
    result[p] =
        TRY(in_context(Walk(plan, profile, binders, result).run(plan.outputs), [&] { return str("profile ", p); }));
  }
  return result;
}

}  // namespace kiln::plan
