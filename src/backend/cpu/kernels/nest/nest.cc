#include "backend/cpu/kernels/nest/nest.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "backend/cpu/kernels/nest/byte_table.h"

namespace kiln::cpu {
namespace {
constexpr int64_t kScratchBytes = 64 << 10;
constexpr int64_t kRegisterBytes = 24 << 10;  // half of L1 at least stays for operands that are read where they lie
constexpr int64_t kLongestTile = 1024, kShortestTile = 64;
constexpr int64_t kElementsOfPart = 32 << 10;  // some microseconds of work: several times what a fork and join takes

int memory_size(DType type) { return bits_of(type) / 8; }
int register_size(DType type) { return memory_size(register_type(type)); }

/// Whether elements fill their memory.
bool is_dense(std::span<const int64_t> extents, const NestStrides& strides) {
  int64_t reach = 1, all = 1;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] != 1 && strides.at[axis] <= 0) return false;
    reach += (extents[axis] - 1) * strides.at[axis];
    all *= extents[axis];
  }
  return reach == all;
}
}  // namespace

Result<Nest> Nest::make(NestProgram program) {
  TRY(validate(program));
  TRY(require(program.code.size() <= kMaxCode, "a nest of ", program.code.size(), " instructions; at most ", kMaxCode,
              " are possible"));
  TRY(require(program.inputs.size() <= kMaxNestInputs && program.outputs.size() <= kMaxNestOutputs, "a nest of ",
              program.inputs.size(), " inputs and ", program.outputs.size(), " outputs; at most ", kMaxNestInputs,
              " and ", kMaxNestOutputs, " are possible"));
  Nest nest;
  nest.program_ = std::move(program);
  TRY(nest.build());
  nest.assign_slots();
  nest.find_direct_outputs();
  const int64_t slots = static_cast<int64_t>(nest.program_.inputs.size()) + nest.num_slots_ + 1;
  nest.tile_ =
      std::clamp(kRegisterBytes / (slots * nest.width_) / kShortestTile * kShortestTile, kShortestTile, kLongestTile);
  CHECK(slots * nest.width_ * nest.tile_ <= kScratchBytes);
  return nest;
}

namespace {
NestKernel kernel_of(const NestInstruction& i) {
  switch (i.fn) {
    case ScalarFn::kSelect: return find_nest_select(i.type);
    case ScalarFn::kCast: return i.type == i.result ? nullptr : find_nest_cast(i.type, i.result);
    case ScalarFn::kIdentity: return nullptr;
    default: return find_nest_kernel(i.fn, i.type);
  }
}
/// A cast between types that are held alike moves nothing: f16 to f32, i8 to i32, bool to an integer.
bool is_free(const NestInstruction& i) {
  if (i.fn == ScalarFn::kIdentity) return true;
  if (i.fn != ScalarFn::kCast || register_type(i.type) != register_type(i.result)) return false;
  return i.result == i.type || i.result == DType::kF32 || i.result == DType::kI32 ||
         (i.type == DType::kBool && i.result != DType::kI64);
}
/// The instruction whose function gates code[at], x * fn(x), and has no other reader; -1 if it is no such product.
int gate_of(const NestProgram& program, size_t at) {
  const NestInstruction& product = program.code[at];
  if (product.fn != ScalarFn::kProd || product.result != DType::kF32) return -1;
  for (int side = 0; side < 2; ++side) {
    const NestOperand gate = product.args[side];
    if (gate < 0) continue;
    const NestInstruction& i = program.code[static_cast<size_t>(gate)];
    if (i.type != DType::kF32 || !find_nest_gate(i.fn) || i.args[0] != product.args[1 - side]) continue;
    auto readers = std::ranges::count(program.output_regs, gate);
    for (const NestInstruction& reader : program.code) readers += std::ranges::count(reader.operands(), gate);
    if (readers == 1) return gate;
  }
  return -1;
}
}  // namespace

Status Nest::build() {
  std::vector<NestOperand> moved(program_.code.size());  // by instruction: the step, or input, that has its result
  const auto resolve = [&](NestOperand operand) { return operand < 0 ? operand : moved[static_cast<size_t>(operand)]; };
  for (size_t at = 0; at < program_.code.size(); ++at) {
    const NestInstruction& i = program_.code[at];
    if (is_free(i)) {
      moved[at] = resolve(i.args[0]);
      continue;
    }
    if (const int gate = gate_of(program_, at); gate >= 0) {
      moved[at] = moved[static_cast<size_t>(gate)];
      steps_[static_cast<size_t>(moved[at])].kernel = find_nest_gate(program_.code[static_cast<size_t>(gate)].fn);
      continue;
    }
    Step step{};
    step.kernel = kernel_of(i);
    CHECK(step.kernel != nullptr);
    const bool exact = i.fn == ScalarFn::kCast || i.fn == ScalarFn::kSelect;  // casts round by themselves
    step.round = exact ? nullptr : find_nest_round(i.result);
    step.num_args = arity(i.fn);
    for (int a = 0; a < step.num_args; ++a) step.args[a] = resolve(i.args[a]);
    step.output = -1;
    step.alpha = i.alpha;
    step.beta = i.beta;
    moved[at] = static_cast<int>(steps_.size());
    steps_.push_back(step);
    width_ = std::max(width_, register_size(i.result));
  }
  for (const NestOperand operand : program_.output_regs) results_.push_back(resolve(operand));
  for (const DType type : program_.inputs) {
    loads_.push_back(find_nest_load(type));
    width_ = std::max(width_, register_size(type));
  }
  for (const DType type : program_.outputs) stores_.push_back(find_nest_store(type));
  return {};
}

void Nest::assign_slots() {
  const int count = static_cast<int>(steps_.size());
  std::vector<int> last_use(steps_.size(), -1);
  for (int at = 0; at < count; ++at)
    for (int a = 0; a < steps_[static_cast<size_t>(at)].num_args; ++a)
      if (const NestOperand arg = steps_[static_cast<size_t>(at)].args[a]; arg >= 0)
        last_use[static_cast<size_t>(arg)] = at;
  for (const NestOperand result : results_)
    if (result >= 0) last_use[static_cast<size_t>(result)] = count;
  std::vector<int> free;
  for (int at = 0; at < count; ++at) {
    Step& step = steps_[static_cast<size_t>(at)];
    if (free.empty()) free.push_back(num_slots_++);
    step.slot = free.back();
    free.pop_back();
    // freed after the result has its slot: kernels that change the type must not write where they read
    for (int earlier = 0; earlier < at; ++earlier)
      if (last_use[static_cast<size_t>(earlier)] == at) free.push_back(steps_[static_cast<size_t>(earlier)].slot);
  }
}

/// Finds outputs that their step may write directly. An output may share memory with an input, so no later step may
/// read an input.
void Nest::find_direct_outputs() {
  for (const NestOperand result : results_)
    if (result < 0) return;
  int last_reader = -1;
  for (size_t at = 0; at < steps_.size(); ++at)
    for (int a = 0; a < steps_[at].num_args; ++a)
      if (steps_[at].args[a] < 0) last_reader = static_cast<int>(at);
  for (size_t o = 0; o < results_.size(); ++o) {
    Step& step = steps_[static_cast<size_t>(results_[o])];
    if (results_[o] >= last_reader && !stores_[o] && step.output < 0) step.output = static_cast<int>(o);
  }
}

/// Runs tiles one after another, and keeps what the next tile can use again.
class Nest::Run {
 public:
  Run(const Nest& nest, const NestWalk& walk, const void* const* inputs, void* const* outputs)
      : nest_(nest),
        walk_(walk),
        inputs_(inputs),
        outputs_(outputs),
        num_inputs_(static_cast<int>(nest.program_.inputs.size())),
        num_outputs_(static_cast<int>(nest.program_.outputs.size())) {
    for (int i = 0; i < num_inputs_ + num_outputs_; ++i) dense_[i] = walk.is_dense(i);
  }

  void run(int64_t first, int64_t last) {
    int64_t index[kMaxRank];  // of the axes before `split`, then the block along it
    int64_t rest = first;
    const int64_t blocks = walk_.tiles_of_split();
    index[walk_.split] = rest % blocks;
    rest /= blocks;
    for (int axis = walk_.split; axis-- > 0; rest /= walk_.extents[axis]) index[axis] = rest % walk_.extents[axis];
    for (int64_t tile = first; tile < last; ++tile) {
      run_tile(index);
      int axis = walk_.split;
      if (++index[axis] < blocks) continue;
      index[axis] = 0;
      while (axis-- > 0 && ++index[axis] == walk_.extents[axis]) index[axis] = 0;
    }
  }

 private:
  std::byte* slot(int number) { return scratch_ + number * nest_.tile_ * nest_.width_; }
  std::byte* raw_slot() { return slot(num_inputs_ + nest_.num_slots_); }
  const void* location(NestOperand operand) const { return operand < 0 ? input_at_[~operand] : step_at_[operand]; }
  int64_t offset(int operand, const int64_t* index) const {
    const int64_t* strides = walk_.strides[operand].at;
    int64_t result = index[walk_.split] * walk_.step * strides[walk_.split];
    for (int axis = 0; axis < walk_.split; ++axis) result += index[axis] * strides[axis];
    return result;
  }

  void run_tile(const int64_t* index) {
    const int64_t count = std::min(walk_.step, walk_.extents[walk_.split] - index[walk_.split] * walk_.step);
    elements_ = count * walk_.inner;
    for (int i = 0; i < num_inputs_; ++i) {
      const int size = memory_size(nest_.program_.inputs[static_cast<size_t>(i)]);
      load_input(i, count, static_cast<const std::byte*>(inputs_[i]) + offset(i, index) * size);
    }
    std::byte* targets[kMaxNestOutputs];
    for (int o = 0; o < num_outputs_; ++o) {
      const int size = memory_size(nest_.program_.outputs[static_cast<size_t>(o)]);
      targets[o] = static_cast<std::byte*>(outputs_[o]) + offset(num_inputs_ + o, index) * size;
    }
    for (size_t at = 0; at < nest_.steps_.size(); ++at) run_step(static_cast<int>(at), targets);
    for (int o = 0; o < num_outputs_; ++o) store_output(o, count, targets[o]);
  }

  void load_input(int i, int64_t count, const std::byte* data) {
    const NestKernel load = nest_.loads_[static_cast<size_t>(i)];
    if (dense_[i] && !load) {
      input_at_[i] = data;
      return;
    }
    // an operand that repeats along `split` is the same in the next tile
    const bool repeats = walk_.strides[i].at[walk_.split] == 0;
    if (repeats && loaded_from_[i] == data && loaded_[i] >= elements_) return;
    std::byte* const to = slot(i);
    const void* dense = data;
    if (!dense_[i]) {
      std::byte* const gathered = load ? raw_slot() : to;
      gather_tile(walk_, i, count, memory_size(nest_.program_.inputs[static_cast<size_t>(i)]), data, gathered);
      dense = gathered;
    }
    if (load) load({{dense}, to, elements_, 0, 0});
    input_at_[i] = to;
    loaded_from_[i] = data;
    loaded_[i] = elements_;
  }

  void run_step(int at, std::byte* const* targets) {
    const Step& step = nest_.steps_[static_cast<size_t>(at)];
    const bool direct = step.output >= 0 && dense_[num_inputs_ + step.output];
    NestCall call{};
    for (int a = 0; a < step.num_args; ++a) call.in[a] = location(step.args[a]);
    call.out = direct ? targets[step.output] : slot(num_inputs_ + step.slot);
    call.count = elements_;
    call.alpha = step.alpha;
    call.beta = step.beta;
    step.kernel(call);
    if (step.round) step.round({{call.out}, call.out, elements_, 0, 0});
    step_at_[at] = call.out;
  }

  void store_output(int o, int64_t count, std::byte* target) {
    const NestOperand result = nest_.results_[static_cast<size_t>(o)];
    const void* value = location(result);
    if (value == target) return;
    const NestKernel store = nest_.stores_[static_cast<size_t>(o)];
    const int operand = num_inputs_ + o;
    const int size = memory_size(nest_.program_.outputs[static_cast<size_t>(o)]);
    if (!dense_[operand]) {
      if (store) {
        store({{value}, raw_slot(), elements_, 0, 0});
        value = raw_slot();
      }
      return scatter_tile(walk_, operand, count, size, value, target);
    }
    if (store) return store({{value}, target, elements_, 0, 0});
    std::memcpy(target, value, static_cast<size_t>(elements_ * size));
  }

  const Nest& nest_;
  const NestWalk& walk_;
  const void* const* inputs_;
  void* const* outputs_;
  const int num_inputs_, num_outputs_;
  int64_t elements_ = 0;  // of the tile at hand
  bool dense_[kMaxNestOperands];
  const void* input_at_[kMaxNestInputs];
  const void* step_at_[kMaxCode];
  const void* loaded_from_[kMaxNestInputs] = {};
  int64_t loaded_[kMaxNestInputs] = {};
  alignas(64) std::byte scratch_[kScratchBytes];
};

void Nest::run_tiles(const NestWalk& walk, int64_t first, int64_t last, const void* const* inputs,
                     void* const* outputs) const {
  Run(*this, walk, inputs, outputs).run(first, last);
}

BoundNest::BoundNest(const Nest& nest, std::span<const int64_t> extents, std::span<const NestStrides> strides)
    : walk_(make_walk(extents, strides, static_cast<int>(nest.program().outputs.size()), nest.tile())) {
  tiles_of_part_ = std::max<int64_t>(1, kElementsOfPart / (walk_.step * walk_.inner));
  find_table(nest, extents, strides);
}

void BoundNest::find_table(const Nest& nest, std::span<const int64_t> extents, std::span<const NestStrides> strides) {
  constexpr int64_t kLeast = 4 * kBytes;  // elements that pay for a table
  const NestProgram& program = nest.program();
  volume_ = volume(extents);
  const auto is_byte = [](DType type) { return type == DType::kI8 || type == DType::kU8; };
  if (program.outputs.size() != 1 || !is_byte(program.outputs[0]) || volume_ < kLeast) return;
  const NestStrides& made = strides[program.inputs.size()];
  if (!is_dense(extents, made)) return;
  int found = -1;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    bool repeats = true, is_alike = true;
    for (size_t axis = 0; axis < extents.size(); ++axis)
      if (extents[axis] != 1) {
        repeats &= strides[i].at[axis] == 0;
        is_alike &= strides[i].at[axis] == made.at[axis];
      }
    if (repeats) continue;
    if (found >= 0 || !is_alike || !is_byte(program.inputs[i])) return;
    found = static_cast<int>(i);
  }
  if (found < 0) return;
  table_input_ = found;
  NestStrides of_table[kMaxNestOperands] = {};
  of_table[found].at[0] = of_table[program.inputs.size()].at[0] = 1;
  table_walk_ = make_walk(std::array{kBytes}, std::span(of_table, program.inputs.size() + 1), 1, nest.tile());
}

void BoundNest::run_table(const Nest& nest, Team& team, const void* const* inputs, void* output) const {
  constexpr int64_t kBytesOfPart = 1 << 15;
  alignas(64) uint8_t bytes[kBytes], table[kBytes];
  std::iota(std::begin(bytes), std::end(bytes), uint8_t{0});
  const void* of_table[kMaxNestInputs];
  std::copy_n(inputs, nest.program().inputs.size(), of_table);
  of_table[table_input_] = bytes;
  void* made = table;
  nest.run_tiles(table_walk_, 0, table_walk_.tiles, of_table, &made);
  const auto* const from = static_cast<const uint8_t*>(inputs[table_input_]);
  auto* const to = static_cast<uint8_t*>(output);
  const auto look_up_part = [&](int64_t part) {
    const int64_t first = part * kBytesOfPart;
    look_up(table, from + first, std::min(kBytesOfPart, volume_ - first), to + first);
  };
  const int64_t parts = (volume_ + kBytesOfPart - 1) / kBytesOfPart;
  if (parts == 1) return look_up_part(0);
  team.run(parts, [&](int64_t part, int) { look_up_part(part); });
}

void BoundNest::run(const Nest& nest, Team& team, const void* const* inputs, void* const* outputs) const {
  if (table_input_ >= 0) return run_table(nest, team, inputs, outputs[0]);
  const int64_t parts = (walk_.tiles + tiles_of_part_ - 1) / tiles_of_part_;
  if (parts <= 1) {
    if (parts) nest.run_tiles(walk_, 0, walk_.tiles, inputs, outputs);
    return;
  }
  team.run(parts, [&](int64_t part, int) {
    const int64_t first = part * tiles_of_part_;
    nest.run_tiles(walk_, first, std::min(first + tiles_of_part_, walk_.tiles), inputs, outputs);
  });
}

void NestTile::apply(const void* self, float* tile, int64_t rows, int64_t cols, ptrdiff_t ld, int64_t row0,
                     int64_t col0) {
  const NestTile& at = *static_cast<const NestTile*>(self);
  const size_t count = at.nest->program().inputs.size();
  const void* inputs[kMaxNestInputs];
  NestStrides strides[kMaxNestOperands];
  inputs[0] = tile;
  strides[0] = strides[count] = {{ld, 1}};
  for (size_t i = 1; i < count; ++i) {
    const Extra& extra = at.extras[i - 1];
    const int64_t offset = row0 * extra.row_stride + col0 * extra.col_stride;
    inputs[i] = static_cast<const std::byte*>(extra.data) + offset * memory_size(at.nest->program().inputs[i]);
    strides[i] = {{extra.row_stride, extra.col_stride}};
  }
  const int64_t extents[] = {rows, cols};
  const NestWalk walk = make_walk(extents, std::span(strides, count + 1), 1, at.nest->tile());
  void* output = tile;
  at.nest->run_tiles(walk, 0, walk.tiles, inputs, &output);
}

}  // namespace kiln::cpu
