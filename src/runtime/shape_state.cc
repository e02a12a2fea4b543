#include "runtime/shape_state.h"

#include <algorithm>
#include <cmath>

#include "plan/decided_sizes.h"
#include "sym/program_words.h"
#include "tensor/view.h"

namespace kiln::runtime {
namespace {

std::vector<int> shape_tensors_of(std::span<const plan::IoTensor> tensors) {
  std::vector<int> result;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].is_shape) result.push_back(static_cast<int>(i));
  return result;
}

Status require_whole(double value, size_t element, std::string_view input) {
  return require(std::trunc(value) == value && std::abs(value) <= 0x1p53, "shape input '", input, "': element ",
                 element, " is ", value, "; shapes are made of it, so it must be a whole number");
}

}  // namespace

ShapeState::ShapeState(const plan::Plan& plan)
    : plan_(plan),
      input_extents_(plan.inputs.size()),
      extents_set_(plan.inputs.size(), false),
      shape_inputs_(shape_tensors_of(plan.inputs)),
      shape_outputs_(shape_tensors_of(plan.outputs)),
      input_values_(plan.inputs.size()),
      symbols_(plan.symbols.size(), 0),
      of_data_(plan.symbols.size(), false),
      undecided_(plan.symbols.size(), false) {}

void ShapeState::changed() {
  ++version_;
  symbols_known_ = false;
}

void ShapeState::select_profile(int index, const FixedSymbols& fixed) {
  profile_ = index;
  fixed_ = &fixed;
  changed();
  std::fill(extents_set_.begin(), extents_set_.end(), false);
  for (size_t i = 0; i < extents_set_.size(); ++i) {
    Extents only = fixed.extents(plan_.inputs[i].extents);
    if (std::ranges::find(only, -1) != only.end()) continue;
    input_extents_[i] = std::move(only);
    extents_set_[i] = true;
  }
  num_extents_unset_ = std::ranges::count(extents_set_, false);
  sort_guards();
}

/// Guards of sizes wait for them. Those of symbols that nothing of the profile binds are of nodes that it has not.
void ShapeState::sort_guards() {
  guards_.clear();
  later_guards_.clear();
  has_data_sizes_ = false;
  std::fill(of_data_.begin(), of_data_.end(), false);
  for (const plan::Step& step : profile().steps)
    for (const plan::DecidedSize& size : step.sizes)
      of_data_[static_cast<size_t>(size.symbol)] = has_data_sizes_ = true;
  mark_known_sizes(of_data_);
  std::vector<bool> is_bound(plan_.symbols.size());
  for (size_t s = 0; s < is_bound.size(); ++s) is_bound[s] = plan_.symbols[s].input >= 0;
  for (const plan::KnownSize& size : profile().known_sizes) is_bound[static_cast<size_t>(size.symbol)] = true;
  for (const auto* guards : {&plan_.guards, &profile().guards})
    for (const sym::Guard& guard : *guards) {
      if (std::ranges::count(is_bound, false) == 0) {
        guards_.push_back(&guard);
        continue;
      }
      std::vector<int> later;
      bool has_all = true;
      for (const sym::Program* side : {&guard.lhs, &guard.rhs})
        for (const int symbol : sym::operands_of(*side).symbols) {
          if (of_data_[static_cast<size_t>(symbol)])
            later.push_back(symbol);
          else
            has_all &= is_bound[static_cast<size_t>(symbol)];
        }
      if (has_all && later.empty()) guards_.push_back(&guard);
      if (has_all && !later.empty()) later_guards_.push_back({&guard, std::move(later)});
    }
}

Status ShapeState::begin_run() {
  if (!has_data_sizes_) return {};
  forget_decided();
  return plan::set_largest_sizes(profile(), symbols_);
}

void ShapeState::forget_decided() {
  undecided_ = of_data_;
  for (LaterGuard& guard : later_guards_) guard.is_checked = false;
}

/// Whether known sizes are undecided follows from what they are made of.
void ShapeState::mark_known_sizes(std::vector<bool>& symbols) const {
  for (const plan::KnownSize& size : profile().known_sizes)
    symbols[static_cast<size_t>(size.symbol)] = reads_any(size.value, symbols);
}

Status ShapeState::decide(size_t first, size_t end, std::span<const int64_t> sizes, const IoAddresses& addresses) {
  TRY(plan::take_decided_sizes(plan_, profile(), profile().guards, {first, end}, sizes, symbols_));
  for (size_t s = first; s < end; ++s)
    for (const plan::DecidedSize& size : profile().steps[s].sizes) undecided_[static_cast<size_t>(size.symbol)] = false;
  mark_known_sizes(undecided_);
  TRY(plan::set_largest_sizes(profile(), symbols_, &undecided_));
  TRY(check_later_guards());
  return write_shape_outputs(addresses);
}

Status ShapeState::check_later_guards() {
  for (LaterGuard& later : later_guards_) {
    const bool is_known =
        std::ranges::none_of(later.symbols, [&](int symbol) { return undecided_[static_cast<size_t>(symbol)]; });
    if (later.is_checked || !is_known) continue;
    TRY(later.guard->check(symbols_));
    later.is_checked = true;
  }
  return {};
}

bool ShapeState::reads_any(const sym::Program& program, const std::vector<bool>& symbols) const {
  return has_data_sizes_ && sym::reads_any(program, symbols);
}

Status ShapeState::set_input_extents(int input, std::span<const int64_t> extents) {
  const auto at = static_cast<size_t>(input);
  const plan::IoTensor& io = plan_.inputs[at];
  const plan::InputRange& range = profile().ranges[at];
  TRY(require(extents.size() == io.extents.size(), "input '", io.name, "': ", extents, " has rank ", extents.size(),
              "; the network's has ", io.extents.size()));
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const auto where = [&] { return str("input '", io.name, "': extent ", extents[axis], " of axis ", axis); };
    if (extents[axis] < range.min[axis])
      return error(Code::kInvalidArgument, where(), " is below profile ", profile_, "'s minimum ", range.min[axis]);
    if (extents[axis] > range.max[axis])
      return error(Code::kInvalidArgument, where(), " is above profile ", profile_, "'s maximum ", range.max[axis]);
  }
  if (extents_set_[at] && std::ranges::equal(extents, input_extents_[at])) return {};
  input_extents_[at].assign(extents.begin(), extents.end());
  if (!extents_set_[at]) --num_extents_unset_;
  extents_set_[at] = true;
  changed();
  return {};
}

Extents ShapeState::input_extents(int input) const {
  const auto at = static_cast<size_t>(input);
  return extents_set_[at] ? input_extents_[at] : fixed_->extents(plan_.inputs[at].extents);
}

Extents ShapeState::known_extents(std::span<const sym::Program> programs) const {
  if (!symbols_known_) return fixed_->extents(programs);
  Extents result;
  for (const sym::Program& extent : programs)
    result.push_back(is_of_data(extent) ? -1 : extent.try_run(symbols_).value_or(-1));
  return result;
}

Extents ShapeState::latest_extents(std::span<const sym::Program> programs) const {
  Extents result = known_extents(programs);
  for (size_t axis = 0; symbols_known_ && axis < result.size(); ++axis)
    if (is_of_data(programs[axis]) && !is_undecided(programs[axis]))
      result[axis] = programs[axis].try_run(symbols_).value_or(-1);
  return result;
}

/// Sums, products, maxima and minima of what is not negative grow with it. Known sizes may be anything.
bool ShapeState::only_grows(const sym::Program& program) const {
  if (!is_of_data(program)) return true;
  const sym::ProgramOperands operands = sym::operands_of(program);
  const auto is_known = [&](int symbol) {
    return std::ranges::count(profile().known_sizes, symbol, &plan::KnownSize::symbol) > 0;
  };
  return sym::only_adds(program) && std::ranges::none_of(operands.symbols, is_known) &&
         std::ranges::all_of(operands.constants, [](int64_t constant) { return constant >= 0; });
}

Extents ShapeState::largest_extents(std::span<const sym::Program> programs) const {
  std::vector<int64_t> symbols = symbols_;
  if (!plan::set_largest_sizes(profile(), symbols)) return Extents(programs.size(), -1);
  Extents result;
  for (const sym::Program& extent : programs) result.push_back(extent.try_run(symbols).value_or(-1));
  return result;
}

bool ShapeState::all_inputs_set(const IoAddresses& addresses) const {
  return num_extents_unset_ == 0 && std::ranges::all_of(shape_inputs_, [&](int input) {
           return addresses.input(static_cast<size_t>(input)) != nullptr;
         });
}

std::vector<int> ShapeState::unset_inputs(const IoAddresses& addresses) const {
  std::vector<int> result;
  for (size_t i = 0; i < extents_set_.size(); ++i)
    if (!extents_set_[i] || (plan_.inputs[i].is_shape && !addresses.input(i))) result.push_back(static_cast<int>(i));
  return result;
}

Status ShapeState::infer(const IoAddresses& addresses) {
  if (num_extents_unset_ > 0) {
    const auto first = std::ranges::find(extents_set_, false) - extents_set_.begin();
    return error(Code::kState, "the shape of input '", plan_.inputs[static_cast<size_t>(first)].name, "' is not set");
  }
  TRY(read_shape_values(addresses));
  if (!symbols_known_) TRY(bind_symbols());
  symbols_known_ = true;
  return write_shape_outputs(addresses);
}

Status ShapeState::read_shape_values(const IoAddresses& addresses) {
  for (const int input : shape_inputs_) {
    const auto i = static_cast<size_t>(input);
    const plan::IoTensor& io = plan_.inputs[i];
    if (!addresses.input(i)) return error(Code::kState, "shape input '", io.name, "' has no address");
    const View view(io.dtype, input_extents_[i], static_cast<const std::byte*>(addresses.input(i)));
    std::vector<int64_t>& known = input_values_[i];
    const auto count = static_cast<size_t>(view.volume());
    if (known.size() != count) known.assign(count, 0), changed();
    for (size_t k = 0; k < count; ++k) {
      if (is_float(io.dtype)) TRY(require_whole(view[static_cast<int64_t>(k)], k, io.name));
      const int64_t value = view.integer(static_cast<int64_t>(k));
      if (std::exchange(known[k], value) != value) changed();
    }
  }
  return {};
}

Status ShapeState::bind_symbols() {
  for (size_t s = 0; s < plan_.symbols.size(); ++s) {
    const plan::Symbol& symbol = plan_.symbols[s];
    if (symbol.input < 0) continue;
    if (symbol.element < 0)
      symbols_[s] = input_extents_[static_cast<size_t>(symbol.input)][static_cast<size_t>(symbol.axis)];
    else if (plan_.inputs[static_cast<size_t>(symbol.input)].is_shape)  // else nothing reads it
      TRY(bind_value(s));
  }
  forget_decided();
  TRY(plan::set_largest_sizes(profile(), symbols_));
  return check_assumptions();
}

/// Binds a symbol that is an element of a shape input.
Status ShapeState::bind_value(size_t s) {
  const plan::Symbol& symbol = plan_.symbols[s];
  const auto input = static_cast<size_t>(symbol.input), element = static_cast<size_t>(symbol.element);
  const int64_t value = symbols_[s] = input_values_[input][element];
  const plan::InputRange& range = profile().value_ranges[input];
  if (element < range.min.size() && (value < range.min[element] || value > range.max[element]))
    return error(Code::kInvalidArgument, "shape input '", plan_.inputs[input].name, "': element ", element, " is ",
                 value, "; profile ", profile_, " allows [", range.min[element], ", ", range.max[element], "]");
  return {};
}

Status ShapeState::check_assumptions() const {
  for (size_t i = 0; i < plan_.inputs.size(); ++i)
    for (size_t axis = 0; axis < plan_.inputs[i].extents.size(); ++axis) {
      const int64_t wanted = TRY(plan_.inputs[i].extents[axis].run(symbols_));
      if (input_extents_[i][axis] != wanted) return wrong_extent(i, axis, wanted);
    }
  for (const sym::Guard* guard : guards_) TRY(guard->check(symbols_));
  return {};
}

/// The error of an extent that differs from another of its name.
std::unexpected<Error> ShapeState::wrong_extent(size_t input, size_t axis, int64_t wanted) const {
  const plan::IoTensor& io = plan_.inputs[input];
  const std::string found = str("input '", io.name, "': extent ", input_extents_[input][axis], " of axis ", axis);
  const std::vector<int> symbols = sym::operands_of(io.extents[axis]).symbols;
  if (symbols.empty()) return error(Code::kInvalidArgument, found, " must be ", wanted);
  const plan::Symbol& symbol = plan_.symbols[static_cast<size_t>(symbols[0])];
  const std::string& other = plan_.inputs[static_cast<size_t>(symbol.input)].name;
  const std::string place = symbol.axis >= 0 ? str("axis ", symbol.axis) : str("element ", symbol.element);
  return error(Code::kInvalidArgument, found, " must be ", wanted, ", as ", place, " of input '", other,
               "' is: both are dimension '", symbol.name, "'");
}

/// Writes shape outputs. Their memory is the host's on every device, and the host computes their values.
Status ShapeState::write_shape_outputs(const IoAddresses& addresses) const {
  for (const int index : shape_outputs_) {
    const plan::IoTensor& output = plan_.outputs[static_cast<size_t>(index)];
    void* const data = addresses.output(static_cast<size_t>(index));
    if (!data) continue;
    for (size_t k = 0; k < output.values.size(); ++k) {
      if (is_undecided(output.values[k])) continue;  // written when it is known
      const int64_t value = TRY(output.values[k].run(symbols_));
      if (output.dtype == DType::kI32)
        static_cast<int32_t*>(data)[k] = static_cast<int32_t>(value);
      else
        static_cast<int64_t*>(data)[k] = value;
    }
  }
  return {};
}

Status ShapeState::check_addresses(const IoAddresses& addresses) const {
  const auto has_none = [&](std::string_view kind, const plan::IoTensor& io, size_t binding, std::string_view more) {
    if (addresses.source == AddressSource::kByName)
      return error(Code::kState, kind, " '", io.name, "' has no address: call setTensorAddress");
    return error(Code::kState, kind, " '", io.name, "' has no address: binding ", binding, " is null", more);
  };
  const size_t num_inputs = plan_.inputs.size();
  for (size_t i = 0; i < num_inputs; ++i)
    if (!addresses.input(i) && volume(input_extents_[i]) > 0) return has_none("input", plan_.inputs[i], i, "");
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (addresses.output(i)) continue;
    int64_t count = 1;
    for (const sym::Program& extent : plan_.outputs[i].extents)
      count *= is_undecided(extent) ? 0 : extent.try_run(symbols_).value_or(1);
    if (count > 0)
      return has_none("output", plan_.outputs[i], num_inputs + i, ", and it has no allocator (setOutputAllocator)");
  }
  return {};
}

}  // namespace kiln::runtime
