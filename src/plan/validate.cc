#include "plan/validate.h"

#include <algorithm>
#include <set>

#include "ops/movement.h"
#include "plan/control.h"
#include "plan/decided_sizes.h"
#include "plan/segments.h"
#include "sym/program_words.h"

namespace kiln::plan {
namespace {

template <class... Parts>
Status demand(bool holds, const Parts&... parts) {
  if (holds) [[likely]]
    return {};
  return error(Code::kCorrupt, parts...);
}

Status validate_index(int64_t index, size_t count, std::string_view what) {
  return demand(index >= 0 && static_cast<uint64_t>(index) < count, what, " ", index, " of ", count);
}

/// Programs that were not read from bytes may be of another table.
Status validate(const sym::Program& program, const Plan& plan, std::string_view what) {
  return demand(static_cast<size_t>(program.num_symbols()) <= plan.symbols.size(), what, " reads symbol ",
                program.num_symbols() - 1, " of ", plan.symbols.size());
}

Status validate(std::span<const sym::Program> extents, const Format& format, const Plan& plan) {
  const auto rank = static_cast<int>(extents.size());
  TRY(demand(rank <= kMaxRank, "rank ", rank, " exceeds ", kMaxRank));
  for (const sym::Program& extent : extents) TRY(validate(extent, plan, "an extent"));
  TRY(demand(format.rank() == 0 || format.rank() == rank, "format ", format, " is not of rank ", rank));
  return demand(!format.is_blocked() || format.block_axis() < rank, "format ", format, " blocks an axis beyond rank ",
                rank);
}

Status validate(const IoTensor& io, const Plan& plan) {
  TRY(validate(io.extents, io.format, plan));
  TRY(demand(io.axis_names.size() == io.extents.size(), io.axis_names.size(), " names for ", io.extents.size(),
             " axes"));
  TRY(demand(io.dtype != DType::kF64, "f64 cannot be the type of an input or output"));
  for (const sym::Program& value : io.values) TRY(validate(value, plan, "a value"));
  const bool counts = is_index(io.dtype) || is_float(io.dtype);  // floats that are whole numbers
  return demand(!io.is_shape || (counts && io.extents.size() <= 1), "a shape tensor is ", io.dtype, " of rank ",
                io.extents.size(), "; i32, i64 or a float of rank 0 or 1 needed");
}

/// Checks an output's values. A context writes one element a program, and the output's memory has room for its extents
/// only.
Status validate_values(const IoTensor& output) {
  if (!output.is_shape) return demand(output.values.empty(), "it has values, but is not a shape tensor");
  TRY(demand(is_index(output.dtype), "a shape tensor is ", output.dtype, "; i32 or i64 needed"));
  int64_t count = 1;
  for (const sym::Program& extent : output.extents) {
    TRY(demand(extent.is_constant(), "a shape tensor's extent is not a constant"));
    count = *extent.constant();
  }
  return demand(count == std::ssize(output.values) && count <= kMostFollowedValues, output.values.size(),
                " values for a shape tensor of ", count, " elements; at most ", kMostFollowedValues, " are possible");
}

Status validate(const Symbol& symbol, const Plan& plan) {
  if (symbol.input == -1)
    return demand(symbol.axis == -1 && symbol.element == -1, "axis ", symbol.axis, " or element ", symbol.element,
                  " is given, but no input");
  TRY(validate_index(symbol.input, plan.inputs.size(), "input"));
  TRY(demand((symbol.axis == -1) != (symbol.element == -1), "axis ", symbol.axis, " and element ", symbol.element,
             ": one of them binds a symbol, the other is -1"));
  if (symbol.element == -1)
    return validate_index(symbol.axis, plan.inputs[static_cast<size_t>(symbol.input)].extents.size(), "axis");
  return validate_index(symbol.element, kMaxShapeElements, "element");
}

Status validate(const HostTensor& value) {
  const Result<int64_t> count = checked_volume(value.extents());
  if (!count) return error(Code::kCorrupt, count.error().message);
  TRY(demand(*count <= kMaxElements, *count, " elements; at most ", kMaxElements, " are possible"));
  const int64_t bytes = size_bytes(value.dtype(), *count);
  return demand(static_cast<uint64_t>(bytes) == value.bytes().size(), value.bytes().size(), " bytes for ",
                value.dtype(), value.extents(), ", which takes ", bytes);
}

Status validate_order(const InputRange& range, size_t count, int64_t least) {
  for (const Extents* list : {&range.min, &range.opt, &range.max})
    TRY(demand(list->size() == count, "min, opt and max have ", range.min.size(), ", ", range.opt.size(), " and ",
               range.max.size(), " numbers; ", count, " needed"));
  for (size_t i = 0; i < count; ++i)
    TRY(demand(least <= range.min[i] && range.min[i] <= range.opt[i] && range.opt[i] <= range.max[i], "number ", i,
               ": min ", range.min[i], ", opt ", range.opt[i], ", max ", range.max[i], " are not in order"));
  return {};
}

Status validate_ranges(const Profile& profile, const Plan& plan, size_t input) {
  const InputRange& range = profile.ranges[input];
  const IoTensor& io = plan.inputs[input];
  TRY(validate_order(range, io.extents.size(), 0));
  const Result<int64_t> most = checked_volume(range.max);
  TRY(demand(most && *most <= kMaxElements, "maximum ", range.max, " has more than ", kMaxElements, " elements"));
  // A context takes constant extents as they are, without a look at the range.
  for (size_t axis = 0; axis < io.extents.size(); ++axis)
    if (const auto fixed = io.extents[axis].constant())
      TRY(demand(range.min[axis] <= *fixed && *fixed <= range.max[axis], "axis ", axis, " is always ", *fixed,
                 ", outside [", range.min[axis], ", ", range.max[axis], "]"));
  const InputRange& values = profile.value_ranges[input];
  TRY(demand(values.min.size() <= kMaxShapeElements, values.min.size(), " values; at most ", kMaxShapeElements,
             " are possible"));
  TRY(in_context(validate_order(values, values.min.size(), INT64_MIN), [] { return "values"; }));
  if (!io.is_shape) return {};
  TRY(demand(*most <= static_cast<int64_t>(kMaxShapeElements), "a shape tensor of up to ", *most, " elements; at most ",
             kMaxShapeElements, " are possible"));
  const int64_t least = volume(range.min);
  for (const Symbol& symbol : plan.symbols)
    if (symbol.input == static_cast<int>(input) && symbol.element >= 0)
      TRY(demand(symbol.element < least, "symbol '", symbol.name, "' is element ", symbol.element, "; there may be ",
                 least));
  return {};
}

Status validate_weight_place(const Tensor& tensor, const Plan& plan) {
  TRY(validate_index(tensor.index, plan.weights.size(), "weight"));
  const HostTensor& value = plan.weights[static_cast<size_t>(tensor.index)].value;
  TRY(demand(value.dtype() == tensor.dtype && value.extents().size() == tensor.extents.size(), tensor.dtype,
             " of rank ", tensor.extents.size(), " at weight ", tensor.index, ", which is ", value.dtype(),
             value.extents()));
  for (size_t axis = 0; axis < tensor.extents.size(); ++axis)
    TRY(demand(tensor.extents[axis].constant() == value.extents()[axis], "axis ", axis, " is not that of weight ",
               tensor.index, ", which is ", value.dtype(), value.extents()));
  return demand(!tensor.format.is_blocked(), "a weight has format ", tensor.format, ", which only copies write");
}

/// Steps write and read in a tensor's type and format; a program in the input's or output's.
Status validate_surface_place(const Tensor& tensor, const IoTensor& io) {
  return demand(tensor.dtype == io.dtype && tensor.format == io.format && tensor.extents.size() == io.extents.size(),
                tensor.dtype, " of rank ", tensor.extents.size(), " in format ", tensor.format, " at '", io.name,
                "', which is ", io.dtype, " of rank ", io.extents.size(), " in format ", io.format);
}

/// Extents in memory order without those that are always 1. Two tensors with the same list have the same layout.
std::vector<sym::Program> layout_of(const Tensor& tensor) {
  std::vector<sym::Program> layout;
  for (size_t i = 0; i < tensor.extents.size(); ++i) {
    const sym::Program& extent = tensor.extents[static_cast<size_t>(tensor.format.axis_at(static_cast<int>(i)))];
    if (extent.constant() != 1) layout.push_back(extent);
  }
  return layout;
}

/// Checks a view that no step writes: it shows the elements of `whole`. A view may cut rows in another way, and read
/// them as another type of the same width, but it cannot show axes in another order without a copy.
Status validate_view(const Tensor& view, const Tensor& whole) {
  const bool unblocked = !view.format.is_blocked() && !whole.format.is_blocked();
  const bool rows = view.format.is_linear() && whole.format.is_linear();
  const bool alike = rows || ((unblocked || view.format == whole.format) && layout_of(view) == layout_of(whole));
  const bool is_bit_cast = rows && bits_of(view.dtype) == bits_of(whole.dtype) && view.dtype != DType::kBool;
  return demand((view.dtype == whole.dtype || is_bit_cast) && alike, "a view of '", whole.name, "', which is ",
                whole.dtype, " in format ", whole.format, ", as ", view.dtype, " in format ", view.format,
                ": its elements are in another order");
}

/// A block as its validators see it: with what its steps read and write from outside.
struct BlockView {
  const Block& block;
  std::span<const IoTensor> inputs, outputs;
};

Status validate(const Tensor& tensor, const BlockView& view, const Plan& plan) {
  TRY(validate(tensor.extents, tensor.format, plan));
  TRY(validate(tensor.offset, plan, "the offset"));
  const bool may_grow = tensor.place != Place::kArena && tensor.place != Place::kWeight;
  TRY(demand(tensor.size_bytes_max >= (may_grow ? kNoBound : 0), "size ", tensor.size_bytes_max));
  switch (tensor.place) {
    case Place::kInput:
      TRY(validate_index(tensor.index, view.inputs.size(), "input"));
      return validate_surface_place(tensor, view.inputs[static_cast<size_t>(tensor.index)]);
    case Place::kOutput:
      TRY(validate_index(tensor.index, view.outputs.size(), "output"));
      return demand(!view.outputs[static_cast<size_t>(tensor.index)].is_shape, "output ", tensor.index,
                    " is a shape tensor, which no step may write");
    case Place::kWeight: return validate_weight_place(tensor, plan);
    case Place::kView: return validate_index(tensor.index, view.block.tensors.size(), "viewed tensor");
    case Place::kAbsent:
    case Place::kGrowing: return {};
    case Place::kArena:
      TRY(demand(tensor.offset_bytes >= 0 && tensor.offset_bytes % 64 == 0, "offset ", tensor.offset_bytes,
                 " is not a multiple of 64"));
      return demand(tensor.offset_bytes <= view.block.arena_bytes &&
                        tensor.size_bytes_max <= view.block.arena_bytes - tensor.offset_bytes,
                    "offset ", tensor.offset_bytes, " + size ", tensor.size_bytes_max, " exceeds the arena's ",
                    view.block.arena_bytes, " bytes");
  }
  return error(Code::kCorrupt, "place ", static_cast<int>(tensor.place), " is unknown");
}

/// The tensor at the end of every chain of views. Views have been checked to lead to tensors.
Result<std::vector<int>> roots_of(std::span<const Tensor> tensors) {
  constexpr int kUnknown = -1, kOnPath = -2;
  std::vector<int> roots(tensors.size(), kUnknown);
  std::vector<size_t> path;
  for (size_t start = 0; start < tensors.size(); ++start) {
    size_t at = start;
    while (roots[at] == kUnknown && tensors[at].place == Place::kView) {
      roots[at] = kOnPath;
      path.push_back(at);
      at = static_cast<size_t>(tensors[at].index);
    }
    if (roots[at] == kOnPath) return error(Code::kCorrupt, "tensor ", at, " is a view of itself");
    if (roots[at] == kUnknown) roots[at] = static_cast<int>(at);
    for (const size_t view : path) roots[view] = roots[at];
    path.clear();
  }
  return roots;
}

Status validate_guards(std::span<const sym::Guard> guards, const Plan& plan) {
  for (size_t g = 0; g < guards.size(); ++g)
    for (const sym::Program* side : {&guards[g].lhs, &guards[g].rhs})
      TRY(in_context(validate(*side, plan, "an assumption"), [&] { return str("assumption ", g); }));
  return {};
}

class BlockValidator {
 public:
  BlockValidator(const BlockView& view, const Plan& plan) : view_(view), block_(view.block), plan_(plan) {}
  Status run();

 private:
  Status validate_alternative(const Alternative& alternative) const;
  Status validate_decided_output(const Step& step, int id) const;
  Status validate_step(const Step& step) const;
  Status validate_known_sizes() const;
  Status validate_tensors();
  Status validate_views() const;
  Status validate_outputs() const;
  Status validate_debug_tensors() const;

  const BlockView view_;
  const Block& block_;
  const Plan& plan_;
  std::vector<int> roots_;
};

Status BlockValidator::validate_alternative(const Alternative& alternative) const {
  for (const int tuning : alternative.tunings) TRY(validate_index(tuning, block_.tunings.size(), "tuning"));
  TRY(demand(!!alternative.step, "it has no step"));
  if (alternative.binary != -1) TRY(validate_index(alternative.binary, plan_.binaries.size(), "binary"));
  for (const sym::Program& param : alternative.params) TRY(validate(param, plan_, "a parameter"));
  return {};
}

/// Nobody can have given memory of a size that the step itself decides.
Status BlockValidator::validate_decided_output(const Step& step, int id) const {
  const Tensor& output = block_.tensors[static_cast<size_t>(id)];
  TRY(demand(is_control(step) || !decides_open_extent(step, output), "output tensor ", id,
             " has an extent without a bound that the step itself decides"));
  if (block_.tensors[static_cast<size_t>(roots_[static_cast<size_t>(id)])].place != Place::kOutput) return {};
  return demand(!decides_extent(step, block_.tensors[static_cast<size_t>(id)]), "output tensor ", id,
                " is the program's, and the step decides its size");
}

Status BlockValidator::validate_step(const Step& step) const {
  TRY(demand(!step.executor.empty() && step.step, "it has no executor or no step"));
  for (const int id : step.inputs) TRY(validate_index(id, block_.tensors.size(), "input tensor"));
  for (const int id : step.outputs) {
    TRY(validate_index(id, block_.tensors.size(), "output tensor"));
    const Place place = block_.tensors[static_cast<size_t>(roots_[static_cast<size_t>(id)])].place;
    TRY(demand(place == Place::kArena || place == Place::kOutput || place == Place::kGrowing, "output tensor ", id,
               " is in place '", name_of(place), "', which no step may write"));
  }
  for (const int body : step.bodies) TRY(validate_index(body, plan_.bodies.size(), "body"));
  TRY(validate_control(plan_, block_, step));
  if (step.binary != -1) TRY(validate_index(step.binary, plan_.binaries.size(), "binary"));
  for (const sym::Program& param : step.params) TRY(validate(param, plan_, "a parameter"));
  for (const DecidedSize& size : step.sizes) {
    TRY(validate_index(size.symbol, plan_.symbols.size(), "symbol"));
    TRY(validate(size.most, plan_, "the bound of a size"));
    TRY(demand(!size.is_open || size.least <= size.typical, "an open size of at least ", size.least, " is typically ",
               size.typical));
  }
  for (const int id : step.outputs) TRY(validate_decided_output(step, id));
  TRY(demand(step.workspace_bytes >= 0 && step.workspace_bytes <= block_.workspace_bytes, "a workspace of ",
             step.workspace_bytes, " bytes; the profile's is ", block_.workspace_bytes));
  TRY(demand(step.stream >= 0 && step.stream <= kMaxAuxStreams, "stream ", step.stream, "; there are at most ",
             kMaxAuxStreams, " auxiliary ones"));
  for (size_t a = 0; a < step.alternatives.size(); ++a)
    TRY(in_context(validate_alternative(step.alternatives[a]), [&] { return str("alternative ", a); }));
  return {};
}

/// A view that a step writes takes over memory, not elements.
Status BlockValidator::validate_views() const {
  std::vector<bool> written(block_.tensors.size(), false);
  for (const Step& step : block_.steps)
    for (const int id : step.outputs) written[static_cast<size_t>(id)] = true;
  for (size_t t = 0; t < block_.tensors.size(); ++t) {
    const Tensor& tensor = block_.tensors[t];
    if (tensor.place == Place::kView && !written[t])
      TRY(in_context(validate_view(tensor, block_.tensors[static_cast<size_t>(tensor.index)]),
                     [&] { return str("tensor ", t, " '", tensor.name, "'"); }));
  }
  return {};
}

/// Checks that what is written into an output's memory, or a view of it, is the output as the program reads it.
Status BlockValidator::validate_outputs() const {
  std::vector<Status> outputs(view_.outputs.size());
  std::vector<bool> found(view_.outputs.size(), false);
  for (size_t t = 0; t < block_.tensors.size(); ++t) {
    const Tensor& root = block_.tensors[static_cast<size_t>(roots_[t])];
    if (root.place != Place::kOutput || found[static_cast<size_t>(root.index)]) continue;
    Status& output = outputs[static_cast<size_t>(root.index)];
    output = validate_surface_place(block_.tensors[t], view_.outputs[static_cast<size_t>(root.index)]);
    found[static_cast<size_t>(root.index)] = output.has_value();
  }
  for (Status& output : outputs) TRY(std::move(output));
  return {};
}

Status BlockValidator::validate_debug_tensors() const {
  std::set<std::string_view> names;
  for (const DebugTensor& debug : block_.debug_tensors) {
    TRY(validate_index(debug.tensor, block_.tensors.size(), "debug tensor"));
    TRY(demand(block_.tensors[static_cast<size_t>(debug.tensor)].place != Place::kAbsent, "debug tensor '", debug.name,
               "' is absent"));
    TRY(demand(!debug.name.empty() && names.insert(debug.name).second, "two debug tensors are called '", debug.name,
               "', or it has no name"));
  }
  return {};
}

/// Each reads only those before it, so that none is made of itself.
Status BlockValidator::validate_known_sizes() const {
  std::set<int> open;
  for (const KnownSize& size : block_.known_sizes) {
    TRY(validate_index(size.symbol, plan_.symbols.size(), "symbol"));
    TRY(demand(open.insert(size.symbol).second && plan_.symbols[static_cast<size_t>(size.symbol)].input < 0, "symbol ",
               size.symbol, " is known twice"));
  }
  for (const KnownSize& size : block_.known_sizes) {
    TRY(validate(size.value, plan_, "a known size"));
    for (const int symbol : sym::operands_of(size.value).symbols)
      TRY(demand(!open.contains(symbol), "known size ", size.symbol, " is made of ", symbol,
                 ", which is not known yet"));
    open.erase(size.symbol);
  }
  return {};
}

Status BlockValidator::validate_tensors() {
  for (size_t t = 0; t < block_.tensors.size(); ++t)
    TRY(in_context(validate(block_.tensors[t], view_, plan_),
                   [&] { return str("tensor ", t, " '", block_.tensors[t].name, "'"); }));
  roots_ = TRY(roots_of(block_.tensors));
  for (size_t t = 0; t < roots_.size(); ++t)
    TRY(demand(block_.tensors[t].place != Place::kView ||
                   block_.tensors[static_cast<size_t>(roots_[t])].place != Place::kAbsent,
               "tensor ", t, " is a view of an absent tensor"));
  return {};
}

Status BlockValidator::run() {
  for (const int64_t bytes : {block_.arena_bytes, block_.workspace_bytes})
    TRY(demand(bytes >= 0 && bytes <= kMaxMemoryBytes, "memory of ", bytes, " bytes"));
  TRY(validate_known_sizes());
  TRY(validate_tensors());
  for (const Extents& values : block_.tunings)
    TRY(demand(values.size() == plan_.symbols.size(), "a tuning has ", values.size(), " values for ",
               plan_.symbols.size(), " symbols"));
  for (size_t s = 0; s < block_.steps.size(); ++s)
    TRY(in_context(validate_step(block_.steps[s]), [&] { return str("step ", s, " '", block_.steps[s].name, "'"); }));
  TRY(validate_views());
  TRY(validate_debug_tensors());
  return validate_outputs();
}

Status validate(const Profile& profile, const Plan& plan) {
  TRY(demand(profile.ranges.size() == plan.inputs.size() && profile.value_ranges.size() == plan.inputs.size(),
             profile.ranges.size(), " ranges of extents and ", profile.value_ranges.size(), " of values for ",
             plan.inputs.size(), " inputs"));
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    TRY(in_context(validate_ranges(profile, plan, i), [&] { return str("input '", plan.inputs[i].name, "'"); }));
  TRY(validate_guards(profile.guards, plan));
  return BlockValidator({profile, plan.inputs, plan.outputs}, plan).run();
}

Status validate(const BodySymbol& symbol, const Body& body, const Plan& plan) {
  TRY(validate_index(symbol.symbol, plan.symbols.size(), "symbol"));
  TRY(demand(plan.symbols[static_cast<size_t>(symbol.symbol)].input < 0, "symbol ", symbol.symbol,
             " is one of the network's inputs"));
  TRY(validate_index(symbol.input, body.inputs.size(), "input"));
  const IoTensor& input = body.inputs[static_cast<size_t>(symbol.input)];
  TRY(demand((symbol.axis == -1) != (symbol.element == -1), "axis ", symbol.axis, " or element ", symbol.element,
             ": one of them binds a symbol, the other is -1"));
  if (symbol.element == -1) return validate_index(symbol.axis, input.extents.size(), "axis");
  const bool is_there = symbol.element == 0 || (input.extents.size() == 1 && symbol.element < kMaxRank);
  return demand(symbol.element >= 0 && is_there && input.extents.size() <= 1 && is_index(input.dtype), "element ",
                symbol.element, " of ", input.dtype, " of rank ", input.extents.size(), " binds a symbol");
}

Status validate(const Body& body, const Plan& plan) {
  for (const auto* ios : {&body.inputs, &body.outputs})
    for (const IoTensor& io : *ios) {
      const auto where = [&] { return str(ios == &body.inputs ? "input '" : "output '", io.name, "'"); };
      TRY(in_context(validate(io.extents, io.format, plan), where));
      TRY(in_context(demand(io.format.is_linear() && !io.is_shape && io.values.empty(), "format ", io.format,
                            ", or a shape tensor"),
                     where));
    }
  for (const BodySymbol& symbol : body.symbols) TRY(validate(symbol, body, plan));
  TRY(validate_guards(body.guards, plan));
  return BlockValidator({body, body.inputs, body.outputs}, plan).run();
}

Status validate(const DataRef& from, const Plan& plan, size_t num_derived) {
  TRY(demand((from.source >= 0) + (from.derived >= 0) + (from.weight >= 0) <= 1,
             "a source, an op and a weight at once"));
  if (from.source >= 0) return validate_index(from.source, plan.sources.size(), "source");
  if (from.derived >= 0) return validate_index(from.derived, num_derived, "earlier op");
  return from.weight < 0 ? Status() : validate_index(from.weight, plan.weights.size(), "weight");
}

Status validate_extents(const Extents& extents) {
  const Result<int64_t> count = checked_volume(extents);
  if (!count) return error(Code::kCorrupt, count.error().message);
  return demand(*count <= kMaxElements, *count, " elements; at most ", kMaxElements, " are possible");
}

/// The type that elements of a source, or derived ones, have: so that weights may be made of them.
Status validate_origin(const Weight& weight, const Plan& plan) {
  const DataRef& from = weight.from;
  TRY(validate(from, plan, plan.derived.size()));
  TRY(demand(from.weight < 0, "made of weight ", from.weight, " alone"));
  if (from.is_none()) return {};
  const auto has = [&](DType dtype, const Extents& extents) {
    return demand(dtype == weight.value.dtype() && extents == weight.value.extents(), weight.value.dtype(),
                  weight.value.extents(), " made of ", dtype, extents);
  };
  if (from.source < 0)
    return has(plan.derived[static_cast<size_t>(from.derived)].dtype,
               plan.derived[static_cast<size_t>(from.derived)].extents);
  return has(plan.sources[static_cast<size_t>(from.source)].dtype,
             plan.sources[static_cast<size_t>(from.source)].extents);
}

Status validate_weights(const Plan& plan) {
  for (size_t w = 0; w < plan.weights.size(); ++w) {
    const auto where = [&] { return str("weight ", w, " '", plan.weights[w].name, "'"); };
    TRY(in_context(validate(plan.weights[w].value), where));
    TRY(in_context(validate_origin(plan.weights[w], plan), where));
  }
  TRY(validate_shared(plan.weights));
  std::set<std::string_view> names;
  for (const WeightSource& source : plan.sources) {
    TRY(demand(names.insert(source.name).second, "two sources are called '", source.name, "'"));
    TRY(in_context(validate_extents(source.extents), [&] { return str("source '", source.name, "'"); }));
  }
  for (size_t d = 0; d < plan.derived.size(); ++d) {
    const Derived& derived = plan.derived[d];
    const auto where = [&] { return str("derived elements ", d); };
    TRY(in_context(demand(static_cast<bool>(derived.op), "no op"), where));
    TRY(in_context(validate_index(derived.output, static_cast<size_t>(derived.op.num_outputs()), "output"), where));
    TRY(in_context(validate_extents(derived.extents), where));
    const bool has_first = !derived.inputs.empty() && !derived.inputs[0].is_none();
    TRY(in_context(demand(has_first || derived.op.info().min_inputs == 0, "no first input"), where));
    for (const DataRef& input : derived.inputs) {
      TRY(in_context(validate(input, plan, d), where));
      const bool is_made = input.weight >= 0 && !plan.weights[static_cast<size_t>(input.weight)].from.is_none();
      TRY(in_context(demand(!is_made, "reads weight ", input.weight, ", which is made of sources itself"), where));
    }
  }
  return {};
}

/// Entries that are bytes of files: code of one kind or another.
Status validate_files(const char* what, std::span<const Weight> files) {
  TRY(validate_shared(files));
  for (size_t i = 0; i < files.size(); ++i) {
    const HostTensor& value = files[i].value;
    const auto where = [&] { return str(what, " ", i, " '", files[i].name, "'"); };
    TRY(in_context(validate(value), where));
    TRY(in_context(demand(value.dtype() == DType::kU8 && value.extents().size() == 1, value.dtype(), value.extents(),
                          "; a list of u8 needed"),
                   where));
  }
  return {};
}

Status validate_cache_inputs(const Plan& plan) {
  const std::vector<int>& inputs = plan.build.cache_inputs;
  TRY(demand(inputs.empty() || inputs.size() == plan.outputs.size(), inputs.size(), " inputs of caches for ",
             plan.outputs.size(), " outputs"));
  for (const int input : inputs)
    if (input != -1) TRY(validate_index(input, plan.inputs.size(), "a cache is input"));
  return {};
}

Status validate_names(const Plan& plan) {
  std::set<std::string_view> names;
  for (const auto* ios : {&plan.inputs, &plan.outputs})
    for (const IoTensor& io : *ios)
      TRY(demand(names.insert(io.name).second, "two inputs or outputs are called '", io.name, "'"));
  return {};
}

}  // namespace

Status validate_shared(std::span<const Weight> weights) {
  for (size_t w = 0; w < weights.size(); ++w) {
    const int same = weights[w].same_as;
    if (same < 0) continue;
    const auto where = [&] { return str("entry ", w, " '", weights[w].name, "'"); };
    TRY(in_context(validate_index(same, w, "the same as earlier entry"), where));
    const Weight& first = weights[static_cast<size_t>(same)];
    TRY(in_context(demand(first.same_as < 0, "the same as entry ", same, ", which has no elements of its own"), where));
    const HostTensor &a = weights[w].value, &b = first.value;
    TRY(in_context(demand(a.dtype() == b.dtype() && a.extents() == b.extents(), a.dtype(), a.extents(),
                          ", the same as entry ", same, ", ", b.dtype(), b.extents()),
                   where));
  }
  return {};
}

Status validate(const Plan& plan) {
  for (size_t s = 0; s < plan.symbols.size(); ++s)
    TRY(in_context(validate(plan.symbols[s], plan),
                   [&] { return str("symbol ", s, " '", plan.symbols[s].name, "'"); }));
  TRY(validate_guards(plan.guards, plan));
  TRY(validate_names(plan));
  for (const IoTensor& io : plan.inputs)
    TRY(in_context(validate(io, plan), [&] { return str("input '", io.name, "'"); }));
  for (const IoTensor& io : plan.outputs) {
    const auto where = [&] { return str("output '", io.name, "'"); };
    TRY(in_context(validate(io, plan), where));
    TRY(in_context(validate_values(io), where));
  }
  TRY(validate_cache_inputs(plan));
  TRY(validate_weights(plan));
  TRY(validate_files("binary", plan.binaries));
  TRY(validate_files("plugin library", plan.plugin_libraries));
  for (size_t p = 0; p < plan.profiles.size(); ++p)
    TRY(in_context(validate(plan.profiles[p], plan), [&] { return str("profile ", p); }));
  for (size_t b = 0; b < plan.bodies.size(); ++b)
    TRY(in_context(validate(plan.bodies[b], plan), [&] { return str("body ", b); }));
  TRY(segments_of(plan));
  return {};
}

}  // namespace kiln::plan
