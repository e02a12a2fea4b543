/// A plan: everything an engine needs, as data. Built by builder/, written and read by writer.h and reader.h. What is
/// written of each struct is what its `reflect` names (base/field.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/record.h"
#include "ops/field_types.h"
#include "steps/executor.h"
#include "sym/assumption.h"
#include "sym/program.h"
#include "tensor/format.h"
#include "tensor/host_tensor.h"

namespace kiln::plan {

/// The place of a tensor's memory.
enum class Place : uint8_t {
  kInput,   ///< `index` into Plan::inputs; the caller's address
  kOutput,  ///< `index` into Plan::outputs; the caller's address
  kWeight,  ///< `index` into Plan::weights; an engine brings its elements into the tensor's format
  kArena,   ///< `offset_bytes` in the context's memory
  kView,    ///< the memory of tensor `index`, `offset` bytes on
  kAbsent,  ///< an optional input that is not there
  kGrowing  ///< memory of its own, as much as its extents take when they are known: nothing bounds them
};
std::span<const std::string_view> enum_names(Place);  ///< "input", "arena", ...
inline std::string_view name_of(Place place) { return enum_names(place)[static_cast<size_t>(place)]; }

inline constexpr int64_t kNoBound = -1;  ///< a size in bytes of which no bound is known

/// A tensor of one profile's step list.
struct Tensor {
  std::string name;
  DType dtype = DType::kF32;
  Format format;
  std::vector<sym::Program> extents;
  Place place = Place::kAbsent;
  int index = -1;
  int64_t offset_bytes = 0;    ///< kArena
  int64_t size_bytes_max = 0;  ///< at the profile's maximum; or kNoBound
  sym::Program offset;         ///< kView, in bytes

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("dtype", self.dtype), f("format", self.format), f("extents", self.extents);
    f("place", self.place), f("index", self.index), f("offset_bytes", self.offset_bytes);
    f("size_bytes_max", self.size_bytes_max), f("offset", self.offset);
  }
};

/// Information about an alternative, for people.
struct AlternativeInfo {
  std::string variant;
  std::string shapes;                   ///< that it is for: "n = 1; n = 64"
  double time_us = 0, replaced_us = 0;  ///< its time there, and that of the step itself

  static void reflect(auto& self, auto f) {
    f("variant", self.variant), f("shapes", self.shapes), f("time_us", self.time_us);
    f("replaced_us", self.replaced_us);
  }
};

/// Another way to run a step, by the same executor on the same tensors, for shapes far from the optimum.
struct Alternative {
  std::vector<int> tunings;  ///< of the profile, ascending: where this runs instead
  AnyStep step;
  Record tuning;
  int binary = -1;
  std::vector<sym::Program> params;
  AlternativeInfo info;

  static void reflect(auto& self, auto f) {
    f("tunings", self.tunings), f("step", self.step), f("tuning", self.tuning), f("binary", self.binary);
    f("params", self.params), f("info", self.info);
  }
};

/// Information about a step, for people.
struct StepInfo {
  std::string ops;  ///< that it computes, joined by " + "
  std::string tactic, variant;
  double time_us = 0;                   ///< 0: not timed
  std::vector<std::string> candidates;  ///< a line for each way to run it that was looked at

  static void reflect(auto& self, auto f) {
    f("ops", self.ops), f("tactic", self.tactic), f("variant", self.variant), f("time_us", self.time_us);
    f("candidates", self.candidates);
  }
};

/// A size that the run of a step decides.
struct DecidedSize {
  int symbol = -1;    ///< of Plan::symbols
  sym::Program most;  ///< its upper bound, of symbols that are bound before the step runs
  int64_t least = 0;
  bool is_open = false;  ///< whether `most` is no bound that memory could be planned for
  int64_t typical = 0;   ///< of an open size: what stands for it until it is decided

  static void reflect(auto& self, auto f) {
    f("symbol", self.symbol), f("most", self.most), f("least", self.least);
    f("is_open", self.is_open), f("typical", self.typical);
  }
};

/// One entry of a step list.
struct Step {
  std::string name;                  ///< of the layers it came from, joined by " + "
  std::string executor;              ///< "cpu"
  AnyStep step;                      ///< what it computes
  Record tuning;                     ///< what the backend chose for it
  std::vector<int> inputs, outputs;  ///< tensors of the profile
  int binary = -1;                   ///< of Plan::binaries: code for the device; -1: none
  std::vector<sym::Program> params;  ///< evaluated at bind
  std::vector<DecidedSize> sizes;    ///< in the order in which runs tell them; its outputs have room for the largest
  std::vector<int> bodies;           ///< of Plan::bodies: of a control step, whose bodies are its alone
  int64_t workspace_bytes = 0;       ///< at the profile's maximum
  int stream = 0;                    ///< 0: the enqueue's; else an auxiliary one, beside which others may run
  std::vector<std::string> provenance;
  StepInfo info;
  std::vector<Alternative> alternatives;  ///< no two for one tuning

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("executor", self.executor), f("step", self.step), f("tuning", self.tuning);
    f("inputs", self.inputs), f("outputs", self.outputs), f("binary", self.binary), f("params", self.params);
    f("sizes", self.sizes), f("bodies", self.bodies), f("workspace_bytes", self.workspace_bytes);
    f("stream", self.stream), f("provenance", self.provenance);
    f("info", self.info), f("alternatives", self.alternatives);
  }
};

/// The source that binds a symbol: an axis of an input, or an element of a shape input. One without an input is bound
/// by the step of a profile that decides it (Step::sizes); where a profile has none, nothing of it reads the symbol.
struct Symbol {
  std::string name;
  int input = -1;    ///< of Plan::inputs
  int axis = -1;     ///< >= 0: its extent along this axis
  int element = -1;  ///< >= 0: its element, read on the host

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("input", self.input), f("axis", self.axis), f("element", self.element);
  }
};

/// A network's surface tensor.
struct IoTensor {
  std::string name;
  DType dtype = DType::kF32;
  Format format;
  std::vector<sym::Program> extents;
  std::vector<std::string> axis_names;  ///< empty text: unnamed
  bool is_shape = false;                ///< a shape tensor: its address is the host's
  std::vector<sym::Program> values;     ///< its elements, of an output that is one: no step writes it

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("dtype", self.dtype), f("format", self.format), f("extents", self.extents);
    f("axis_names", self.axis_names), f("is_shape", self.is_shape), f("values", self.values);
  }
};

/// min, opt, max of one input, extents or (of a shape input) values.
struct InputRange {
  Extents min, opt, max;

  static void reflect(auto& self, auto f) { f("min", self.min), f("opt", self.opt), f("max", self.max); }
};

inline constexpr int kMaxAuxStreams = 7;

/// A symbol that steps of the network decide and none of the profile's does, and what it always is here: its node was
/// folded, or became one with another.
struct KnownSize {
  int symbol = -1;
  sym::Program value;  ///< of other symbols, and of known sizes before this one

  static void reflect(auto& self, auto f) { f("symbol", self.symbol), f("value", self.value); }
};

/// A tensor that programs may watch (runtime/value_observer.h) under a name that they gave it: a debug tensor of the
/// API.
struct DebugTensor {
  std::string name;
  int tensor = -1;  ///< of the block: what a step writes, an input, a weight, or a view of one of these

  static void reflect(auto& self, auto f) { f("name", self.name), f("tensor", self.tensor); }
};

/// Steps, one behind the other, and the tensors that they read and write.
struct Block {
  std::vector<KnownSize> known_sizes;
  std::vector<Tensor> tensors;
  std::vector<Step> steps;
  /// Values of all symbols that steps were tuned for, the optimum's first; none if for the optimum alone.
  std::vector<Extents> tunings;
  int64_t arena_bytes = 0;      ///< tensors at the profile's maximum
  int64_t workspace_bytes = 0;  ///< the largest of its steps
  std::vector<DebugTensor> debug_tensors;

  static void reflect(auto& self, auto f) {
    f("known_sizes", self.known_sizes), f("tensors", self.tensors), f("steps", self.steps);
    f("tunings", self.tunings);
    f("arena_bytes", self.arena_bytes), f("workspace_bytes", self.workspace_bytes);
    f("debug_tensors", self.debug_tensors);
  }
};

/// What binds a symbol each time a body runs: an extent of one of its inputs, or an element.
struct BodySymbol {
  int symbol = -1;   ///< of Plan::symbols
  int input = -1;    ///< of Body::inputs
  int axis = -1;     ///< >= 0: its extent along this axis
  int element = -1;  ///< >= 0: its element

  static void reflect(auto& self, auto f) {
    f("symbol", self.symbol), f("input", self.input), f("axis", self.axis), f("element", self.element);
  }
};

/// A block that a step runs: a branch, or a loop's iteration. Its tensors' inputs and outputs are its own, row-major.
struct Body : Block {
  std::string name;
  std::vector<IoTensor> inputs, outputs;
  std::vector<BodySymbol> symbols;  ///< that each of its runs binds anew; others are those of the steps around it
  std::vector<sym::Guard> guards;   ///< its assumptions, checked when it is bound

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("inputs", self.inputs), f("outputs", self.outputs), f("symbols", self.symbols);
    f("guards", self.guards);
    Block::reflect(self, f);
  }
};

struct Profile : Block {
  std::vector<InputRange> ranges;        ///< by input: extents
  std::vector<InputRange> value_ranges;  ///< by input: values of shape inputs, else empty
  std::vector<sym::Guard> guards;        ///< assumptions of its steps beyond the plan's, checked at bind

  static void reflect(auto& self, auto f) {
    f("ranges", self.ranges), f("value_ranges", self.value_ranges), f("guards", self.guards);
    Block::reflect(self, f);
  }
};

/// Elements that an engine derives anew where weights are replaced: of a source, made by an op, or a weight that no
/// source decides. At most one is set; none: an input that is absent.
struct DataRef {
  int source = -1;   ///< of Plan::sources
  int derived = -1;  ///< of Plan::derived
  int weight = -1;   ///< of Plan::weights; its elements are what they are

  bool is_none() const { return source < 0 && derived < 0 && weight < 0; }
  static void reflect(auto& self, auto f) {
    f("source", self.source), f("derived", self.derived), f("weight", self.weight);
  }
};

/// A constant of the network by its name. Its elements stand in the plan only where a weight is made of it alone.
struct WeightSource {
  std::string name;
  DType dtype = DType::kF32;
  Extents extents;
  std::string fixed;     ///< why it cannot be replaced by other elements; empty: it can
  std::string checksum;  ///< of the elements of one that is fixed; empty: not known

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("dtype", self.dtype), f("extents", self.extents), f("fixed", self.fixed);
    f("checksum", self.checksum);
  }
};

/// What an op makes of sources.
struct Derived {
  Op op;
  int output = 0;               ///< of the op
  std::vector<DataRef> inputs;  ///< derived ones stand before this one
  DType dtype = DType::kF32;
  Extents extents;

  static void reflect(auto& self, auto f) {
    f("op", self.op), f("output", self.output), f("inputs", self.inputs), f("dtype", self.dtype);
    f("extents", self.extents);
  }
};

/// Elements in canonical (linear) order, borrowed from the plan's bytes where it was read from some. A binary is a list
/// of u8: code in the form that the device's driver takes.
struct Weight {
  std::string name;
  HostTensor value;
  DataRef from;      ///< a source or derived; none: of no source
  int same_as = -1;  ///< an earlier weight of the same type, extents and elements, which are stored once
};

/// Facts that the API's build adds for the engine's getters; numbers are those of the API's enums and masks.
struct BuildInfo {
  std::string compute_capability;  ///< of the GPU that it was built on: it runs on no other
  int profiling_verbosity = 0, tactic_sources = 0;
  bool debugs_unfused = false;    ///< whether programs may watch all tensors that steps write
  std::vector<int> cache_inputs;  ///< by output: of an updated cache the input that was updated, else -1; or empty

  static void reflect(auto& self, auto f) {
    f("compute_capability", self.compute_capability), f("profiling_verbosity", self.profiling_verbosity);
    f("tactic_sources", self.tactic_sources), f("debugs_unfused", self.debugs_unfused);
    f("cache_inputs", self.cache_inputs);
  }
};

struct Plan {
  std::string network_name;
  std::string device_kind;      ///< "cpu" or "cuda"
  std::string device_identity;  ///< of the machine that built it
  Record libraries;             ///< that steps call: versions by names
  BuildInfo build;
  std::vector<Symbol> symbols;
  std::vector<sym::Guard> guards;  ///< assumptions of the network, checked at bind
  std::vector<IoTensor> inputs, outputs;
  std::vector<Weight> weights;
  std::vector<Weight> binaries;
  std::vector<Weight> plugin_libraries;  ///< shared objects that bring creators of its plugins, by the names of files
  std::vector<WeightSource> sources;
  std::vector<Derived> derived;
  std::vector<Profile> profiles;
  std::vector<Body> bodies;  ///< each of one step, which stands in a profile or in a body before it

  static void reflect(auto& self, auto f) {
    f("network_name", self.network_name), f("device_kind", self.device_kind);
    f("device_identity", self.device_identity), f("libraries", self.libraries), f("build", self.build);
    f("symbols", self.symbols), f("guards", self.guards), f("inputs", self.inputs), f("outputs", self.outputs);
    f("weights", self.weights), f("binaries", self.binaries), f("plugin_libraries", self.plugin_libraries);
    f("sources", self.sources), f("derived", self.derived), f("profiles", self.profiles), f("bodies", self.bodies);
  }
};

/// The lists of bytes that a file has beside the metadata, in the order of their sections.
auto stored_lists(auto& plan) { return std::array{&plan.weights, &plan.binaries, &plan.plugin_libraries}; }

/// All blocks of a plan: its profiles, then its bodies.
std::vector<const Block*> blocks_of(const Plan& plan);

}  // namespace kiln::plan
