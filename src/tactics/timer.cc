#include "tactics/timer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>

#include "base/mapped_pages.h"
#include "device/allocator.h"
#include "ops/slice.h"
#include "sym/program.h"
#include "tactics/patience.h"
#include "tactics/region.h"
#include "tactics/spec.h"
#include "tensor/memory_order.h"
#include "tensor/view.h"

namespace kiln {
namespace {

constexpr int64_t kNearBytes = 512 << 10, kFarBytes = 32 << 20;  // a core's own cache, and all caches of a CPU
constexpr int64_t kMostlyWeights =
    8;  // a region has mostly weights if they are so many times all else that it reads and writes
constexpr int kKernelVersion = 1;  // raised when a kernel changes speed, so that old timings are not believed

/// Constants in the formats that candidates read them in: one copy for all that want it.
class OrderedConstants {
 public:
  Result<Ref<const HostTensor>> in(const Format& format, const HostTensor& constant) {
    const std::pair key(&constant, format.text());
    if (const auto known = ordered_.find(key); known != ordered_.end()) return std::cref(known->second);
    return std::cref(ordered_.emplace(key, TRY(in_memory_order(format, constant))).first->second);
  }

 private:
  std::map<std::pair<const HostTensor*, std::string>, HostTensor> ordered_;  // looked up, never iterated
};

/// Memory of inputs, outputs and workspaces: one of a size for all candidates, of which one runs at a time.
class SharedMemory {
 public:
  SharedMemory(Device& device, Allocator* memory) : device_(device), memory_(memory) {}
  enum class Use : uint8_t { kInput, kOutput, kWorkspace };
  struct Place {
    std::byte* data;
    bool is_new;
  };
  /// For the tensor `index` of a region.
  Result<Place> of(Use use, size_t index, DType dtype, int64_t size_bytes) {
    const auto [at, is_new] = buffers_.try_emplace({use, index, dtype, size_bytes});
    if (is_new) {
      auto made = memory_ ? memory_->allocate(size_bytes) : device_.allocate(size_bytes);
      if (!made) {
        buffers_.erase(at);
        return std::unexpected(made.error());
      }
      at->second = std::move(*made);
    }
    return Place{at->second.data(), is_new};
  }

 private:
  Device& device_;
  Allocator* memory_;
  std::map<std::tuple<Use, size_t, DType, int64_t>, Buffer> buffers_;
};

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The type of a region's output at the optimum, with the largest of the sizes that the region decides: nobody knows
/// how many the timer's data makes.
TensorType with_largest_sizes(const ir::Graph& graph, const Region& region, TensorType type) {
  std::vector<std::pair<sym::Expr, sym::Expr>> largest;
  for (const ir::NodeId id : region.nodes)
    for (const DecidedSize& size : graph.node(id).sizes)
      largest.emplace_back(size.symbol, std::max<int64_t>(size.most.opt(), 0));
  if (!largest.empty())
    for (sym::Expr& extent : type.shape) extent = sym::substitute(extent, largest);
  return type;
}

/// A candidate's step, loaded and bound at the optimum shapes.
struct LoadedCandidate {
  std::vector<const HostTensor*> constants;  ///< by input of the region; null: no constant
  std::unique_ptr<LoadedStep> loaded;
  std::unique_ptr<BoundStep> bound;
  int num_sizes = 0;
};

Result<LoadedCandidate> load_candidate(const TacticContext& cx, const Region& region, const Candidate& candidate,
                                       OrderedConstants& ordered, Allocator* memory) {
  StepSpec spec = spec_of(cx.graph, region, candidate.variant, candidate.draft);
  spec.memory = memory;
  LoadedCandidate result;
  result.constants.assign(region.inputs.size(), nullptr);
  result.num_sizes = spec.num_sizes;
  std::vector<Extents> input_extents, output_extents;
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const ir::ValueId id = region.inputs[i];
    input_extents.push_back(id == ir::ValueId::kNone ? Extents{} : cx.graph.type(id).opt_extents());
    const bool is_aliased = std::ranges::count(candidate.draft.aliased_inputs, static_cast<int>(i)) > 0;
    if (id == ir::ValueId::kNone || is_aliased) continue;  // a plan has a copy of an aliased constant to change
    if (const HostTensor* constant = cx.graph.constant(id))
      result.constants[i] = &TRY(ordered.in(candidate.variant.inputs[i], *constant)).get();
  }
  for (const ir::ValueId output : region.outputs)
    output_extents.push_back(with_largest_sizes(cx.graph, region, cx.graph.type(output)).opt_extents());
  std::vector<int64_t> params;
  for (const sym::Expr& param : candidate.draft.params) params.push_back(param.opt());
  Executor& executor = TRY(cx.device.executor(candidate.draft.executor));
  result.loaded = TRY(executor.load(spec, result.constants));
  result.bound = TRY(result.loaded->bind({input_extents, output_extents, params}));
  return result;
}

/// A region loaded and bound at the optimum shapes, over random inputs.
class Rig {
 public:
  static Result<std::unique_ptr<Rig>> make(const TacticContext& cx, const Region& region, const Candidate& candidate,
                                           OrderedConstants& ordered, SharedMemory& shared, Allocator* memory,
                                           double limit_us);
  double first_us() const { return first_us_; }  ///< that the first run took
  static Status run(void* rig, Stream* stream) {
    Rig& self = *static_cast<Rig*>(rig);
    int64_t* const sizes = stream ? nullptr : self.sizes_.data();
    return self.candidate_.bound->run({self.inputs_.data(), self.outputs_.data(), self.workspace_, stream, sizes});
  }

 private:
  Result<void*> input(Device& device, SharedMemory& shared, size_t index, const TensorType& type, const Format& format);

  std::unique_ptr<Stream> stream_;  // null on a host device
  double first_us_ = 0;
  LoadedCandidate candidate_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::byte* workspace_ = nullptr;
  std::vector<int64_t> sizes_;  // that runs on a host device decide; nobody reads them
};

/// Small positive numbers in every type: no denormals, no overflow, indices in range of anything with two elements.
void fill(DType dtype, std::byte* data, int64_t count) {
  if (dtype == DType::kF32) {
    auto* values = reinterpret_cast<float*>(data);
    for (int64_t i = 0; i < count; ++i) values[i] = 0.25f + static_cast<float>((i * 2654435761u >> 16) & 255) / 512.f;
    return;
  }
  if (!is_float(dtype)) return void(std::memset(data, 0, static_cast<size_t>(size_bytes(dtype, count))));
  // One number in all elements; the first bytes are doubled until they are everybody's.
  constexpr int64_t kFirst = 8;
  for (int64_t i = 0; i < std::min(count, kFirst); ++i) store_number(dtype, data, i, 0.5);
  const auto size = static_cast<size_t>(size_bytes(dtype, count));
  for (auto done = static_cast<size_t>(size_bytes(dtype, std::min(count, kFirst))); done < size;) {
    const size_t more = std::min(done, size - done);
    std::memcpy(data + done, data, more);
    done += more;
  }
}

int64_t bytes_of(const TensorType& type, const Format& format) {
  return std::max<int64_t>(size_bytes(type.dtype, format.storage_volume(type.opt_extents())), 1);
}

Result<void*> Rig::input(Device& device, SharedMemory& shared, size_t index, const TensorType& type,
                         const Format& format) {
  const int64_t bytes = bytes_of(type, format), count = format.storage_volume(type.opt_extents());
  const auto [data, is_new] = TRY(shared.of(SharedMemory::Use::kInput, index, type.dtype, bytes));
  if (!is_new) return static_cast<void*>(data);
  if (device.is_host()) {
    fill(type.dtype, data, count);
  } else {
    std::vector<std::byte> host(static_cast<size_t>(bytes));
    fill(type.dtype, host.data(), count);
    TRY(device.copy_from_host(data, host.data(), bytes, *stream_));
    TRY(stream_->synchronize());
  }
  return static_cast<void*>(data);
}

Result<std::unique_ptr<Rig>> Rig::make(const TacticContext& cx, const Region& region, const Candidate& candidate,
                                       OrderedConstants& ordered, SharedMemory& shared, Allocator* memory,
                                       double limit_us) {
  using Use = SharedMemory::Use;
  auto rig = std::make_unique<Rig>();
  if (!cx.device.is_host()) rig->stream_ = TRY(cx.device.create_stream());
  rig->candidate_ = TRY(load_candidate(cx, region, candidate, ordered, memory));
  for (size_t i = 0; i < region.inputs.size(); ++i) {
    const ir::ValueId id = region.inputs[i];
    rig->inputs_.push_back(nullptr);
    if (id == ir::ValueId::kNone) continue;
    if (const HostTensor* constant = rig->candidate_.constants[i]) {
      if (cx.device.is_host()) rig->inputs_[i] = constant->bytes().data();
    } else {
      rig->inputs_[i] = TRY(rig->input(cx.device, shared, i, cx.graph.type(id), candidate.variant.inputs[i]));
    }
  }
  for (size_t i = 0; i < region.outputs.size(); ++i) {
    const TensorType type = with_largest_sizes(cx.graph, region, cx.graph.type(region.outputs[i]));
    const int64_t bytes = bytes_of(type, candidate.variant.outputs[i]);
    const std::vector<int>& aliased = candidate.draft.aliased_inputs;
    const int same = i < aliased.size() ? aliased[i] : -1;
    rig->outputs_.push_back(same >= 0 ? const_cast<void*>(rig->inputs_[static_cast<size_t>(same)])
                                      : TRY(shared.of(Use::kOutput, i, type.dtype, bytes)).data);
  }
  const int64_t workspace_bytes = std::max<int64_t>(rig->candidate_.bound->workspace_bytes(), 1);
  rig->sizes_.resize(static_cast<size_t>(rig->candidate_.num_sizes));
  rig->workspace_ = TRY(shared.of(Use::kWorkspace, 0, DType::kI8, workspace_bytes)).data;
  const double start = now_us();
  TRY(run(rig.get(), rig->stream_.get()));
  if (rig->stream_) TRY(rig->stream_->synchronize_within(limit_us));
  rig->first_us_ = now_us() - start;
  return rig;
}

// With fewer turns the least time is chance, so slow candidates may take several budgets for them.
constexpr int kLeastTurns = 6;
constexpr double kMostBudgets = 12;

/// Whether a run of the network finds this region's weights in memory instead of a cache, because the network has more
/// weights than caches hold. Repeated timings would find them in a cache, and a variant that reads more weights would
/// look better than it is.
bool finds_weights_far(const TacticContext& cx, const Region& region) {
  if (!cx.device.is_host()) return false;
  const auto bytes_of = [&](ir::ValueId id) {
    const HostTensor* constant = id == ir::ValueId::kNone ? nullptr : cx.graph.constant(id);
    return constant ? std::ssize(constant->bytes()) : 0;
  };
  int64_t mine = 0, moving = 0, all = 0;
  for (const auto* values : {&region.inputs, &region.outputs})
    for (const ir::ValueId id : *values) {
      mine += bytes_of(id);
      if (id != ir::ValueId::kNone && !cx.graph.constant(id))
        moving += size_bytes(cx.graph.type(id).dtype, volume(cx.graph.type(id).opt_extents()));
    }
  if (mine < kNearBytes || mine < kMostlyWeights * moving) return false;
  for (int i = 0; i < cx.graph.num_nodes(); ++i)
    if (const auto id = static_cast<ir::NodeId>(i); cx.graph.alive(id))
      for (const ir::ValueId output : cx.graph.node(id).outputs)
        if ((all += bytes_of(output)) >= kFarBytes) return true;
  return false;
}

/// Reads so much other memory that caches keep nothing from before.
void forget_caches() {
  static const std::vector<uint64_t> others(kFarBytes / sizeof(uint64_t), 1);
  static volatile uint64_t sink;
  sink = std::accumulate(others.begin(), others.end(), uint64_t{0});
  static_cast<void>(sink);
}

std::string layer_of(const TacticContext& cx, const Region& region) {
  std::string names = names_of(cx.graph, region);
  return names.empty() ? std::string(cx.graph.node(region.nodes.back()).op.name()) : names;
}

/// The op without what does not change its time. A slice's start matters only for alignment, so that the thousand parts
/// into which a tensor may be cut are not all timed.
Op op_to_time(const Op& op) {
  constexpr int64_t kAligned = 64;  // bytes, of which an element is one at least
  const auto* slice = op.as<ops::Slice>();
  if (!slice || slice->mode != SliceMode::kStrictBounds) return op;
  ops::Slice alike = *slice;
  for (int64_t& start : alike.starts)
    if (start >= 0) start %= kAligned;
  return alike;
}

}  // namespace

Result<int64_t> workspace_of(const TacticContext& cx, const Region& region, const Candidate& candidate) {
  if (candidate.draft.is_view()) return 0;
  OrderedConstants ordered;
  const LoadedCandidate loaded = TRY(load_candidate(cx, region, candidate, ordered, nullptr));
  return loaded.bound->workspace_bytes();
}

Hash128 timing_key(const TacticContext& cx, const Region& region, const Candidate& candidate) {
  std::string text =
      str(kKernelVersion, '|', cx.device.identity(), '|', candidate.draft.executor, '/', candidate.tactic->name(), '/',
          candidate.variant.name, '|', to_record(cx.numerics), finds_weights_far(cx, region) ? "|far" : "");
  const auto add = [&](ir::ValueId id, const Format& format) {
    if (id == ir::ValueId::kNone) return text += "|-", void();
    const TensorType& type = cx.graph.type(id);
    text += str('|', type.dtype, type.opt_extents(), type.max_extents(), format, cx.graph.constant(id) ? "c" : "");
  };
  for (size_t i = 0; i < region.inputs.size(); ++i) add(region.inputs[i], candidate.variant.inputs[i]);
  for (size_t i = 0; i < region.outputs.size(); ++i) add(region.outputs[i], candidate.variant.outputs[i]);
  for (const ir::NodeId id : region.nodes) text += str('|', op_to_time(cx.graph.node(id).op));
  const Hash128 step = combine(candidate.draft.step.hash(), hash128(candidate.draft.tuning));
  const Hash128 key = combine(hash128(std::string_view(text)), step);
  return candidate.draft.binary ? combine(key, hash128(std::span<const std::byte>(*candidate.draft.binary))) : key;
}

Timer::Timer(Device& device, TimingCache& cache, TimerOptions options, Log& log)
    : device_(device), cache_(cache), options_(options), log_(log) {}

/// Candidates that share a key, one of them loaded.
struct Timer::Pending {
  Hash128 key;
  const Region& region;
  std::vector<Candidate*> candidates;
  std::unique_ptr<Rig> rig;
  std::unique_ptr<Measurement> measurement;
  bool far = false;
  double best_us = 1e30, spent_us = 0;
  int turns = 0;
  bool failed = false;
};

/// Candidates that are timed together.
struct Timer::Turns {
  OrderedConstants constants;  ///< outlive what was loaded with them, as the memory does
  SharedMemory memory;
  std::vector<Pending> pending;
  size_t num_finished = 0;  ///< of `pending`, in front: their turns are over, and they are not loaded any more
};

/// Skips a candidate that failed. Fails if the device cannot be used any more.
Status Timer::fail(const TacticContext& cx, Pending& pending, const Error& why) const {
  if (const Status left = device_.usable(); !left) {
    const Candidate& culprit = *pending.candidates[0];
    const std::string& lost = left.error().message;
    return error(Code::kDevice, "layer '", layer_of(cx, pending.region), "', while tactic '", culprit.tactic->name(),
                 "' (", culprit.variant.name,
                 ") was timed: ", lost.find(why.message) == lost.npos ? why.message + "; " : "", lost);
  }
  pending.failed = true;
  for (Candidate* candidate : pending.candidates) candidate->failure = why.message;
  return {};
}

void Timer::tell(const Pending& skipped) const {
  for (const Candidate* candidate : skipped.candidates)
    log_.verbose("  skipped ", candidate->tactic->name(), " (", candidate->variant.name, "): ", candidate->failure);
}

/// Loads a candidate unless its time is known, or the same is already loaded.
Status Timer::load(const TacticContext& cx, const Region& region, Candidate& candidate, Turns& turns) {
  std::vector<Pending>& pending = turns.pending;
  if (!candidate.failure.empty()) return {};
  candidate.time_us = 0;
  if (candidate.draft.is_view()) return {};  // takes no time
  const Hash128 key = timing_key(cx, region, candidate);
  const bool is_kept = !candidate.draft.is_timed_anew;
  if (const auto known = is_kept ? cache_.find(key) : std::nullopt) {
    candidate.time_us = *known;
    ++num_cached_;
    return {};
  }
  if (is_kept && options_.error_on_cache_miss)
    return error(Code::kState, "layer '", layer_of(cx, region), "': the timing cache has no entry for tactic '",
                 candidate.tactic->name(), "' (", candidate.variant.name, "), and kERROR_ON_TIMING_CACHE_MISS is set");
  if (const auto same = std::ranges::find(pending, key, &Pending::key); same != pending.end()) {
    if (same->failed) candidate.failure = same->candidates[0]->failure;
    same->candidates.push_back(&candidate);
    return {};
  }
  Pending& added = pending.emplace_back(Pending{key, region, {&candidate}, {}, {}, finds_weights_far(cx, region)});
  const double limit_us = std::max(options_.least_limit_us, options_.limit_of_estimate * candidate.variant.estimate_us);
  auto rig = Rig::make(cx, region, candidate, turns.constants, turns.memory, options_.memory, limit_us);
  auto measurement = rig ? cx.device.measure(&Rig::run, rig->get(), limit_us) : std::unexpected(rig.error());
  if (!measurement) {
    TRY(fail(cx, added, measurement.error()));
    return tell(added), Status();
  }
  added.rig = std::move(*rig);
  added.measurement = std::move(*measurement);
  return {};
}

/// Loads the candidates whose times are wanted, and has them take their turns, as many at once as may be loaded.
Status Timer::measure(const TacticContext& cx, std::span<const Trial> trials, Turns& turns) {
  std::vector<Pending>& pending = turns.pending;
  const Patience patience(cx, options_.least_limit_us, cache_, log_);
  for (const Trial& trial : trials) {
    for (Candidate& candidate : trial.candidates) {
      if (!candidate.failure.empty() || patience.estimates(trial.region, candidate)) continue;
      if (patience.leaves_out(trial, candidate)) continue;
      if (pending.size() - turns.num_finished >= kMostLoaded) TRY(finish(cx, turns));
      TRY(load(cx, trial.region, candidate, turns));
      if (pending.empty() || !pending.back().rig || !patience.is_enough(pending.back().rig->first_us())) continue;
      Pending& slow = pending.back();
      candidate.time_us = slow.best_us = slow.rig->first_us();
      slow.measurement.reset();
      slow.rig.reset();
    }
  }
  return finish(cx, turns);
}

/// Has what is loaded take its turns, and unloads it.
Status Timer::finish(const TacticContext& cx, Turns& turns) const {
  const auto loaded = std::span(turns.pending).subspan(turns.num_finished);
  Status timed = take_turns(cx, loaded);
  for (Pending& p : loaded) {
    if (p.failed && p.measurement) tell(p);
    p.measurement.reset();
    p.rig.reset();
  }
  turns.num_finished = turns.pending.size();
  return timed;
}

Status Timer::time(const TacticContext& cx, std::span<const Trial> trials) {
  Turns turns{.memory = SharedMemory(device_, options_.memory)};
  const Status timed = measure(cx, trials, turns);
  for (const Trial& trial : trials)
    for (const ir::ValueId input : trial.region.inputs)
      if (const HostTensor* constant = input == ir::ValueId::kNone ? nullptr : cx.graph.constant(input))
        release_pages(constant->bytes());
  TRY(timed);
  for (const Pending& p : turns.pending) {
    if (p.failed) continue;
    for (Candidate* candidate : p.candidates) candidate->time_us = p.best_us;
    if (!p.candidates[0]->draft.is_timed_anew) cache_.insert(p.key, p.best_us);
    ++num_measured_;
  }
  return {};
}

/// Runs the candidates in turns, so that heat and other load affect all of them alike.
Status Timer::take_turns(const TacticContext& cx, std::span<Pending> pending) const {
  const double budget_us = options_.budget_us_per_candidate;
  const int least_turns = std::max(kLeastTurns, options_.least_turns);
  const auto is_done = [&](const Pending& p) {
    return p.failed || !p.measurement ||
           (p.spent_us >= budget_us && (p.turns >= least_turns || p.spent_us >= kMostBudgets * budget_us));
  };
  const std::lock_guard exclusive(device_.exclusive());
  for (bool busy = !pending.empty(); busy;) {
    busy = false;
    for (Pending& p : pending) {
      if (is_done(p)) continue;
      if (p.far) forget_caches();
      const double start = now_us();
      const Result<double> took = p.measurement->turn_us();
      if (!took) {
        TRY(fail(cx, p, took.error()));
        continue;
      }
      p.best_us = std::min(p.best_us, *took);
      p.spent_us += now_us() - start;
      ++p.turns;
      busy |= !is_done(p);
    }
  }
  return {};
}

}  // namespace kiln
