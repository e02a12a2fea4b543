#include "plan/metadata.h"

namespace kiln::plan {

std::string_view name_of(Place place) {
  constexpr std::string_view kNames[] = {"input", "output", "weight", "arena", "view", "absent"};
  return kNames[static_cast<size_t>(place)];
}

namespace {

Datum datum(const sym::Program& program) {
  return std::vector<int64_t>(program.words().begin(), program.words().end());
}
Datum datum(const std::vector<int>& values) { return std::vector<int64_t>(values.begin(), values.end()); }
Datum datum(const std::string& text) { return text; }
Datum datum(const Format& format) { return format.text(); }
Datum datum(const Extents& values) { return values; }

Datum datum(const Symbol& symbol);
Datum datum(const sym::Guard& guard);
Datum datum(const IoTensor& io);
Datum datum(const Weight& weight);
Datum datum(const InputRange& range);
Datum datum(const Tensor& tensor);
Datum datum(const Alternative& alternative);
Datum datum(const Step& step);
Datum datum(const std::vector<Step>& steps);
Datum datum(const Profile& profile);

template <class T>
Datum list(const std::vector<T>& items) {
  Datum::List out;
  out.reserve(items.size());
  for (const T& item : items) out.push_back(datum(item));
  return out;
}

Datum datum(const Symbol& symbol) {
  return Record()
      .set("name", symbol.name)
      .set("input", symbol.input)
      .set("axis", symbol.axis)
      .set("element", symbol.element);
}

Datum datum(const sym::Guard& guard) {
  return Record()
      .set("relation", name_of(guard.relation))
      .set("lhs", datum(guard.lhs))
      .set("rhs", datum(guard.rhs))
      .set("text", guard.text);
}

Datum datum(const IoTensor& io) {
  Record record;
  record.set("name", io.name)
      .set("dtype", name_of(io.dtype))
      .set("format", datum(io.format))
      .set("extents", list(io.extents))
      .set("axis_names", list(io.axis_names))
      .set("is_shape", io.is_shape);
  if (!io.values.empty()) record.set("values", list(io.values));
  return record;
}

Datum datum(const Weight& weight) {
  return Record()
      .set("name", weight.name)
      .set("dtype", name_of(weight.value.dtype()))
      .set("extents", weight.value.extents());
}

Datum datum(const InputRange& range) {
  return Record().set("min", range.min).set("opt", range.opt).set("max", range.max);
}

Datum datum(const Tensor& tensor) {
  return Record()
      .set("name", tensor.name)
      .set("dtype", name_of(tensor.dtype))
      .set("format", datum(tensor.format))
      .set("extents", list(tensor.extents))
      .set("place", name_of(tensor.place))
      .set("index", tensor.index)
      .set("offset_bytes", tensor.offset_bytes)
      .set("size_bytes_max", tensor.size_bytes_max)
      .set("offset", datum(tensor.offset));
}

Datum datum(const std::vector<Step>& steps) { return list(steps); }

Datum datum(const Alternative& alternative) {
  return Record()
      .set("tunings", datum(alternative.tunings))
      .set("kernel", alternative.kernel)
      .set("payload", alternative.payload)
      .set("tuning", alternative.tuning)
      .set("binary", alternative.binary)
      .set("params", list(alternative.params))
      .set("info", alternative.info);
}

Datum datum(const Step& step) {
  Record record;
  record.set("name", step.name)
      .set("executor", step.executor)
      .set("kernel", step.kernel)
      .set("payload", step.payload)
      .set("tuning", step.tuning)
      .set("inputs", datum(step.inputs))
      .set("outputs", datum(step.outputs))
      .set("binary", step.binary)
      .set("params", list(step.params))
      .set("workspace_bytes", step.workspace_bytes)
      .set("provenance", list(step.provenance))
      .set("info", step.info)
      .set("bodies", list(step.bodies));
  if (step.stream != 0) record.set("stream", step.stream);
  if (!step.alternatives.empty()) record.set("alternatives", list(step.alternatives));
  return record;
}

Datum datum(const Profile& profile) {
  Record record;
  if (!profile.tunings.empty()) record.set("tunings", list(profile.tunings));
  if (!profile.guards.empty()) record.set("guards", list(profile.guards));
  return record.set("ranges", list(profile.ranges))
      .set("value_ranges", list(profile.value_ranges))
      .set("tensors", list(profile.tensors))
      .set("steps", list(profile.steps))
      .set("arena_bytes", profile.arena_bytes)
      .set("workspace_bytes", profile.workspace_bytes);
}

}  // namespace

Record to_record(const Plan& plan) {
  return Record()
      .set("network_name", plan.network_name)
      .set("device_kind", plan.device_kind)
      .set("device_identity", plan.device_identity)
      .set("requirements", plan.requirements)
      .set("build", plan.build)
      .set("symbols", list(plan.symbols))
      .set("guards", list(plan.guards))
      .set("inputs", list(plan.inputs))
      .set("outputs", list(plan.outputs))
      .set("weights", list(plan.weights))
      .set("binaries", list(plan.binaries))
      .set("profiles", list(plan.profiles));
}

}  // namespace kiln::plan
