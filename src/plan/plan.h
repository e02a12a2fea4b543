/// A plan: everything an engine needs, as data. Built by builder/, written and read by writer.h and reader.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/record.h"
#include "steps/executor.h"
#include "sym/assumption.h"
#include "sym/program.h"
#include "tensor/format.h"
#include "tensor/host_tensor.h"

namespace kiln::plan {

/// Where a tensor's memory is.
enum class Place : uint8_t {
  kInput,   ///< `index` into Plan::inputs; the caller's address
  kOutput,  ///< `index` into Plan::outputs; the caller's address
  kWeight,  ///< `index` into Plan::weights; an engine brings its elements into the tensor's format
  kArena,   ///< `offset_bytes` in the context's memory
  kView,    ///< the memory of tensor `index`, `offset` bytes on
  kAbsent   ///< an optional input that is not there
};

/// A tensor of one profile's step list.
struct Tensor {
  std::string name;
  DType dtype = DType::kF32;
  Format format;
  std::vector<sym::Program> extents;
  Place place = Place::kAbsent;
  int index = -1;
  int64_t offset_bytes = 0;    ///< kArena
  int64_t size_bytes_max = 0;  ///< at the profile's maximum
  sym::Program offset;         ///< kView, in bytes
};

/// Another way to run a step, by the same executor on the same tensors, for shapes far from the optimum.
struct Alternative {
  std::vector<int> tunings;  ///< of the profile, ascending: where this runs instead
  std::string kernel;
  Record payload, tuning;
  int binary = -1;
  std::vector<sym::Program> params;
  Record info;  ///< for the inspector: variant, its time, and that of the step itself
};

/// One entry of a step list. Steps nest: a Loop's or If's bodies are step lists of their own.
struct Step {
  std::string name;                  ///< of the layers it came from, joined by " + "
  std::string executor;              ///< "cpu"
  std::string kernel;                ///< the name of its kind
  Record payload;                    ///< its fields
  Record tuning;                     ///< what the backend chose for it
  std::vector<int> inputs, outputs;  ///< tensors of the profile
  int binary = -1;                   ///< of Plan::binaries: code for the device; -1: none
  std::vector<sym::Program> params;  ///< evaluated at bind
  int64_t workspace_bytes = 0;       ///< at the profile's maximum
  int stream = 0;                    ///< 0: the enqueue's; else an auxiliary one, beside which others may run
  std::vector<std::string> provenance;
  Record info;                            ///< for the inspector: ops, tactic, variant, time, candidates
  std::vector<Alternative> alternatives;  ///< no two for one tuning
  std::vector<std::vector<Step>> bodies;
};

/// What binds a symbol: an axis of an input, or an element of a shape input.
struct Symbol {
  std::string name;
  int input = -1;    ///< of Plan::inputs
  int axis = -1;     ///< >= 0: its extent along this axis
  int element = -1;  ///< >= 0: its element, read on the host
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
};

/// min, opt, max of one input, extents or (of a shape input) values.
struct InputRange {
  Extents min, opt, max;
};

inline constexpr int kMaxAuxStreams = 7;

struct Profile {
  std::vector<InputRange> ranges;        ///< by input: extents
  std::vector<InputRange> value_ranges;  ///< by input: values of shape inputs, else empty
  std::vector<sym::Guard> guards;        ///< assumptions of its steps beyond the plan's, checked at bind
  std::vector<Tensor> tensors;
  std::vector<Step> steps;
  /// Values of all symbols that steps were tuned for, the optimum's first; none if for the optimum alone.
  std::vector<Extents> tunings;
  int64_t arena_bytes = 0;      ///< tensors at the profile's maximum
  int64_t workspace_bytes = 0;  ///< the largest of its steps
};

/// Elements in canonical (linear) order, borrowed from the plan's bytes where it was read from some. A binary is a list
/// of u8: code in the form that the device's driver takes.
struct Weight {
  std::string name;
  HostTensor value;
};

struct Plan {
  std::string network_name;
  std::string device_kind;      ///< "cpu" or "cuda"
  std::string device_identity;  ///< of the machine that built it; what it needs is in `requirements`
  Record requirements;          ///< instruction set or compute capability, libraries with versions
  Record build;                 ///< flags, versions, times: for the inspector
  std::vector<Symbol> symbols;
  std::vector<sym::Guard> guards;  ///< assumptions of the network, checked at bind
  std::vector<IoTensor> inputs, outputs;
  std::vector<Weight> weights;
  std::vector<Weight> binaries;
  std::vector<Profile> profiles;
};

}  // namespace kiln::plan
