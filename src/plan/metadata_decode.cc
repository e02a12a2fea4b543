#include <climits>

#include "plan/metadata.h"

namespace kiln::plan {
namespace {

/// Turns records back into the structs of plan.h. A function of one struct reads the entries that the encoder sets.
class Decoder {
 public:
  Result<Plan> plan(const Record& record);

 private:
  Result<int> integer(const Record& record, std::string_view name) const;
  Result<DType> dtype(const Record& record) const;
  Result<Format> format(const Record& record) const;
  Result<sym::Program> program(std::span<const int64_t> words) const {
    return sym::Program::from_words(words, num_symbols_);
  }
  Result<sym::Program> program(const Record& record, std::string_view name) const;
  Result<std::vector<sym::Program>> programs(const Record& record, std::string_view name) const;
  Result<std::vector<int>> indices(const Record& record, std::string_view name) const;
  Result<std::vector<std::string>> texts(const Record& record, std::string_view name) const;

  Result<Symbol> symbol(const Record& record);
  Result<sym::Guard> guard(const Record& record);
  Result<IoTensor> io(const Record& record);
  Result<Weight> weight(const Record& record);
  Result<InputRange> range(const Record& record);
  Result<Tensor> tensor(const Record& record);
  Result<Alternative> alternative(const Record& record);
  Result<Step> step(const Record& record);
  Result<std::vector<Extents>> tunings(const Record& record) const;
  Result<Profile> profile(const Record& record);

  template <class T>
  Result<std::vector<T>> list(const Datum::List& items, Result<T> (Decoder::*decode)(const Record&));
  template <class T>
  Result<std::vector<T>> list(const Record& record, std::string_view name, Result<T> (Decoder::*decode)(const Record&));

  int num_symbols_ = 0;
};

Result<int> Decoder::integer(const Record& record, std::string_view name) const {
  const int64_t value = TRY(record.get_int(name));
  if (value < INT_MIN || value > INT_MAX) return error(Code::kCorrupt, "'", name, "' is ", value, ", beyond 32 bits");
  return static_cast<int>(value);
}

Result<DType> Decoder::dtype(const Record& record) const {
  const std::string name = TRY(record.get_text("dtype"));
  if (const auto found = dtype_named(name)) return *found;
  return error(Code::kCorrupt, "'", name, "' is no element type");
}

Result<Format> Decoder::format(const Record& record) const { return Format::parse(TRY(record.get_text("format"))); }

Result<sym::Program> Decoder::program(const Record& record, std::string_view name) const {
  return in_context(program(TRY(record.get_ints(name))), [&] { return str("'", name, "'"); });
}

Result<std::vector<sym::Program>> Decoder::programs(const Record& record, std::string_view name) const {
  const Datum::List& items = TRY(record.get_list(name));
  std::vector<sym::Program> out;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto where = [&] { return str("'", name, "' ", i); };
    const auto* words = std::get_if<std::vector<int64_t>>(&items[i].variant());
    if (!words) return error(Code::kCorrupt, where(), " is no list of integers");
    out.push_back(TRY(in_context(program(*words), where)));
  }
  return out;
}

Result<std::vector<int>> Decoder::indices(const Record& record, std::string_view name) const {
  std::vector<int> out;
  for (const int64_t value : TRY(record.get_ints(name))) {
    if (value < 0 || value > INT_MAX) return error(Code::kCorrupt, "'", name, "' has ", value, ", which is no index");
    out.push_back(static_cast<int>(value));
  }
  return out;
}

Result<std::vector<std::string>> Decoder::texts(const Record& record, std::string_view name) const {
  const Datum::List& items = TRY(record.get_list(name));
  std::vector<std::string> out;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto* text = std::get_if<std::string>(&items[i].variant());
    if (!text) return error(Code::kCorrupt, "'", name, "' ", i, " is no text");
    out.push_back(*text);
  }
  return out;
}

template <class T>
Result<std::vector<T>> Decoder::list(const Datum::List& items, Result<T> (Decoder::*decode)(const Record&)) {
  std::vector<T> out;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto* item = std::get_if<Record>(&items[i].variant());
    if (!item) return error(Code::kCorrupt, "[", i, "] is no record");
    out.push_back(TRY(in_context((this->*decode)(*item), [&] { return str("[", i, "]"); })));
  }
  return out;
}

template <class T>
Result<std::vector<T>> Decoder::list(const Record& record, std::string_view name,
                                     Result<T> (Decoder::*decode)(const Record&)) {
  const Datum::List& items = TRY(record.get_list(name));
  return in_context(list(items, decode), [&] { return name; });
}

Result<Symbol> Decoder::symbol(const Record& record) {
  Symbol symbol;
  symbol.name = TRY(record.get_text("name"));
  symbol.input = TRY(integer(record, "input"));
  symbol.axis = TRY(integer(record, "axis"));
  symbol.element = TRY(integer(record, "element"));
  return symbol;
}

Result<sym::Guard> Decoder::guard(const Record& record) {
  sym::Guard guard;
  const std::string relation = TRY(record.get_text("relation"));
  bool known = false;
  for (const sym::Relation r : sym::kRelations)
    if (name_of(r) == relation) guard.relation = r, known = true;
  if (!known) return error(Code::kCorrupt, "'", relation, "' is no relation");
  guard.lhs = TRY(program(record, "lhs"));
  guard.rhs = TRY(program(record, "rhs"));
  guard.text = TRY(record.get_text("text"));
  return guard;
}

Result<IoTensor> Decoder::io(const Record& record) {
  IoTensor io;
  io.name = TRY(record.get_text("name"));
  io.dtype = TRY(dtype(record));
  io.format = TRY(format(record));
  io.extents = TRY(programs(record, "extents"));
  io.axis_names = TRY(texts(record, "axis_names"));
  io.is_shape = TRY(record.get_bool("is_shape"));
  if (record.find("values")) io.values = TRY(programs(record, "values"));
  return io;
}

Result<Weight> Decoder::weight(const Record& record) {
  Weight weight;
  weight.name = TRY(record.get_text("name"));
  weight.value = HostTensor(TRY(dtype(record)), TRY(record.get_ints("extents")), {}, nullptr);
  return weight;
}

Result<InputRange> Decoder::range(const Record& record) {
  InputRange range;
  range.min = TRY(record.get_ints("min"));
  range.opt = TRY(record.get_ints("opt"));
  range.max = TRY(record.get_ints("max"));
  return range;
}

Result<Tensor> Decoder::tensor(const Record& record) {
  Tensor tensor;
  tensor.name = TRY(record.get_text("name"));
  tensor.dtype = TRY(dtype(record));
  tensor.format = TRY(format(record));
  tensor.extents = TRY(programs(record, "extents"));
  const std::string place = TRY(record.get_text("place"));
  bool known = false;
  for (const Place p : {Place::kInput, Place::kOutput, Place::kWeight, Place::kArena, Place::kView, Place::kAbsent})
    if (name_of(p) == place) tensor.place = p, known = true;
  if (!known) return error(Code::kCorrupt, "'", place, "' is no place of a tensor");
  tensor.index = TRY(integer(record, "index"));
  tensor.offset_bytes = TRY(record.get_int("offset_bytes"));
  tensor.size_bytes_max = TRY(record.get_int("size_bytes_max"));
  tensor.offset = TRY(program(record, "offset"));
  return tensor;
}

Result<Alternative> Decoder::alternative(const Record& record) {
  Alternative alternative;
  alternative.tunings = TRY(indices(record, "tunings"));
  alternative.kernel = TRY(record.get_text("kernel"));
  alternative.payload = TRY(record.get_record("payload")).get();
  alternative.tuning = TRY(record.get_record("tuning")).get();
  alternative.binary = TRY(integer(record, "binary"));
  alternative.params = TRY(programs(record, "params"));
  alternative.info = TRY(record.get_record("info")).get();
  return alternative;
}

Result<Step> Decoder::step(const Record& record) {
  Step step;
  step.name = TRY(record.get_text("name"));
  step.executor = TRY(record.get_text("executor"));
  step.kernel = TRY(record.get_text("kernel"));
  step.payload = TRY(record.get_record("payload")).get();
  step.tuning = TRY(record.get_record("tuning")).get();
  step.inputs = TRY(indices(record, "inputs"));
  step.outputs = TRY(indices(record, "outputs"));
  step.binary = TRY(integer(record, "binary"));
  step.params = TRY(programs(record, "params"));
  step.workspace_bytes = TRY(record.get_int("workspace_bytes"));
  if (record.find("stream")) step.stream = TRY(integer(record, "stream"));
  step.provenance = TRY(texts(record, "provenance"));
  step.info = TRY(record.get_record("info")).get();
  if (record.find("alternatives")) step.alternatives = TRY(list(record, "alternatives", &Decoder::alternative));
  const Datum::List& bodies = TRY(record.get_list("bodies"));
  for (size_t i = 0; i < bodies.size(); ++i) {  // CBOR's limit on depth bounds the recursion
    const auto where = [&] { return str("bodies[", i, "]"); };
    const auto* steps = std::get_if<Datum::List>(&bodies[i].variant());
    if (!steps) return error(Code::kCorrupt, where(), " is no list");
    step.bodies.push_back(TRY(in_context(list(*steps, &Decoder::step), where)));
  }
  return step;
}

Result<std::vector<Extents>> Decoder::tunings(const Record& record) const {
  std::vector<Extents> out;
  for (const Datum& item : TRY(record.get_list("tunings")).get()) {
    const auto* values = std::get_if<std::vector<int64_t>>(&item.variant());
    if (!values) return error(Code::kCorrupt, "tuning ", out.size(), " is no list of integers");
    out.push_back(*values);
  }
  return out;
}

Result<Profile> Decoder::profile(const Record& record) {
  Profile profile;
  profile.ranges = TRY(list(record, "ranges", &Decoder::range));
  profile.value_ranges = TRY(list(record, "value_ranges", &Decoder::range));
  profile.tensors = TRY(list(record, "tensors", &Decoder::tensor));
  profile.steps = TRY(list(record, "steps", &Decoder::step));
  if (record.find("guards")) profile.guards = TRY(list(record, "guards", &Decoder::guard));
  if (record.find("tunings")) profile.tunings = TRY(tunings(record));
  profile.arena_bytes = TRY(record.get_int("arena_bytes"));
  profile.workspace_bytes = TRY(record.get_int("workspace_bytes"));
  return profile;
}

Result<Plan> Decoder::plan(const Record& record) {
  Plan plan;
  plan.network_name = TRY(record.get_text("network_name"));
  plan.device_kind = TRY(record.get_text("device_kind"));
  plan.device_identity = TRY(record.get_text("device_identity"));
  plan.requirements = TRY(record.get_record("requirements")).get();
  plan.build = TRY(record.get_record("build")).get();
  plan.symbols = TRY(list(record, "symbols", &Decoder::symbol));
  if (plan.symbols.size() > INT_MAX) return error(Code::kCorrupt, plan.symbols.size(), " symbols are too many");
  num_symbols_ = static_cast<int>(plan.symbols.size());
  plan.guards = TRY(list(record, "guards", &Decoder::guard));
  plan.inputs = TRY(list(record, "inputs", &Decoder::io));
  plan.outputs = TRY(list(record, "outputs", &Decoder::io));
  plan.weights = TRY(list(record, "weights", &Decoder::weight));
  plan.binaries = TRY(list(record, "binaries", &Decoder::weight));
  plan.profiles = TRY(list(record, "profiles", &Decoder::profile));
  return plan;
}

}  // namespace

Result<Plan> plan_from_record(const Record& record) { return Decoder().plan(record); }

}  // namespace kiln::plan
