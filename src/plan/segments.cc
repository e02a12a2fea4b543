#include "plan/segments.h"

#include <algorithm>

#include "plan/decided_sizes.h"
#include "sym/program_words.h"

namespace kiln::plan {
namespace {

class Walk {
 public:
  Walk(const Plan& plan, const Profile& profile)
      : plan_(plan), profile_(profile), binders_(plan.symbols.size(), kNobody) {
    for (size_t s = 0; s < plan.symbols.size(); ++s)
      if (plan.symbols[s].input >= 0) binders_[s] = kBeforeAll;
    bind_known_sizes();
  }

  Result<std::vector<Segment>> run() {
    for (size_t s = 0; s < profile_.steps.size(); ++s) {
      const Step& step = profile_.steps[s];
      const auto where = [&] { return str("step ", s, " '", step.name, "'"); };
      if (TRY(in_context(needs_new_segment(step), where))) {
        segments_.back().end = s;
        segments_.push_back({s, s});
        has_decided_ = false;
      }
      for (const DecidedSize& size : step.sizes) TRY(in_context(bind(size), where));
    }
    segments_.back().end = profile_.steps.size();
    // What the last steps decide has to be taken, too: outputs and assumptions read it.
    if (has_decided_) segments_.push_back({profile_.steps.size(), profile_.steps.size()});
    for (const IoTensor& output : plan_.outputs)
      for (const auto* programs : {&output.extents, &output.values})
        for (const sym::Program& program : *programs)
          TRY(in_context(read(program), [&] { return str("output '", output.name, "'"); }));
    return std::move(segments_);
  }

 private:
  static constexpr int kNobody = -2, kBeforeAll = -1;

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
    return last == std::ssize(segments_) - 1;
  }

  template <class Look>
  Status look_at_tensor(int id, const Look& look) const {
    const Tensor* tensor = &profile_.tensors[static_cast<size_t>(id)];
    TRY(look(tensor->extents));
    for (; tensor->place == Place::kView; tensor = &profile_.tensors[static_cast<size_t>(tensor->index)])
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
    for (const KnownSize& size : profile_.known_sizes) {
      int last = kBeforeAll;
      for (const int symbol : sym::operands_of(size.value).symbols) {
        const int binder = binders_[static_cast<size_t>(symbol)];
        last = binder == kNobody || last == kNobody ? kNobody : std::max(last, binder);
      }
      binders_[static_cast<size_t>(size.symbol)] = last;
    }
  }

  const Plan& plan_;
  const Profile& profile_;
  std::vector<int> binders_;  // by symbol: the segment that decides it
  std::vector<Segment> segments_{{}};
  bool has_decided_ = false;  // whether a step of the last segment has
};

}  // namespace

Result<std::vector<Segment>> segments_of(const Plan& plan, const Profile& profile) {
  const bool is_bound = profile.known_sizes.empty() &&
                        std::ranges::none_of(plan.symbols, [](const Symbol& symbol) { return symbol.input < 0; });
  if (!decides_sizes(profile) && is_bound) return std::vector{Segment{0, profile.steps.size()}};
  return Walk(plan, profile).run();
}

}  // namespace kiln::plan
