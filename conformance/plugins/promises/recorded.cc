#include "recorded.h"

#include <algorithm>
#include <cstring>

namespace kiln::promises {

void Journal::add(const std::string& call) {
  if (heard) heard(call);
  const std::lock_guard lock(mutex_);
  calls_.push_back(call);
}
int Journal::count(const std::string& start) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::ranges::count_if(calls_, [&](const std::string& c) { return c.starts_with(start); }));
}
size_t Journal::first(const std::string& start) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(calls_, [&](const std::string& c) { return c.starts_with(start); });
  return static_cast<size_t>(found - calls_.begin());
}
std::vector<std::string> Journal::story() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> result;
  for (const std::string& call : calls_)
    if (!call.starts_with("supportsFormatCombination") && (result.empty() || result.back() != call))
      result.push_back(call);
  return result;
}
std::vector<std::string> Journal::all() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}
void Journal::clear() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

int64_t volume(const nv::Dims& dims) {
  int64_t result = 1;
  for (int32_t i = 0; i < dims.nbDims; ++i) result *= dims.d[i];
  return result;
}
bool is_linear_float(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t) {
  const nv::PluginTensorDesc& desc = tensors[position].desc;
  return desc.format == nv::TensorFormat::kLINEAR && desc.type == nv::DataType::kFLOAT;
}
std::string text(const nv::Dims& dims) {
  std::string result;
  for (int32_t i = 0; i < dims.nbDims; ++i) result += (i ? "x" : "") + std::to_string(dims.d[i]);
  return result;
}

namespace {

std::string texts(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out, int32_t num_out) {
  std::string result;
  for (int32_t i = 0; i < num_in; ++i) result += (i ? ", " : " ") + text(in[i].dims);
  result += " ->";
  for (int32_t i = 0; i < num_out; ++i) result += (i ? ", " : " ") + text(out[i].dims);
  return result;
}

}  // namespace

Recorded::Recorded(const Recorded& other)
    : nv::IPluginV3(other),
      nv::IPluginV3OneCore(other),
      nv::IPluginV3OneBuild(other),
      nv::IPluginV3OneRuntime(other),
      behaviour_(other.behaviour_),
      journal_(other.journal_),
      tactic_(other.tactic_) {
  journal_.born();
}

bool Recorded::fails(const char* call, const std::string& more) const {
  journal_.add(call + more);
  return behaviour_.fails_in == call;
}

nv::IPluginCapability* Recorded::getCapabilityInterface(nv::PluginCapabilityType type) noexcept {
  using Type = nv::PluginCapabilityType;
  if (type == Type::kBUILD) return behaviour_.has_build_part ? static_cast<nv::IPluginV3OneBuild*>(this) : nullptr;
  if (type == Type::kRUNTIME) return static_cast<nv::IPluginV3OneRuntime*>(this);
  return static_cast<nv::IPluginV3OneCore*>(this);
}
nv::IPluginV3* Recorded::clone() noexcept { return fails("clone") ? nullptr : new Recorded(*this); }

int32_t Recorded::configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t,
                                  const nv::DynamicPluginTensorDesc* out, int32_t) noexcept {
  if (behaviour_.configure) behaviour_.configure(in, out);
  return fails("configurePlugin") ? 21 : 0;
}
int32_t Recorded::getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in,
                                     int32_t) const noexcept {
  for (int32_t i = 0; i < num_out; ++i) out[i] = behaviour_.type ? behaviour_.type(i, in) : in[0];
  return fails("getOutputDataTypes") ? 22 : 0;
}
int32_t Recorded::getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs* shapes, int32_t,
                                  nv::DimsExprs* out, int32_t num_out, nv::IExprBuilder& builder) noexcept {
  for (int32_t i = 0; i < num_out && !behaviour_.shapes; ++i) out[i] = in[0];
  if (behaviour_.shapes) behaviour_.shapes(in, shapes, out, builder);
  return fails("getOutputShapes") ? 23 : 0;
}
bool Recorded::supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                         int32_t) noexcept {
  if (fails("supportsFormatCombination", " " + std::to_string(position))) return false;
  return behaviour_.takes ? behaviour_.takes(position, tensors, num_in) : is_linear_float(position, tensors, num_in);
}
size_t Recorded::getWorkspaceSize(const nv::DynamicPluginTensorDesc* in, int32_t,
                                  const nv::DynamicPluginTensorDesc* out, int32_t) const noexcept {
  if (behaviour_.workspace) behaviour_.workspace(in, out);
  journal_.add("getWorkspaceSize");
  return behaviour_.workspace_bytes;
}
int32_t Recorded::getValidTactics(int32_t* tactics, int32_t count) noexcept {
  std::copy_n(behaviour_.tactics.begin(), count, tactics);
  return fails("getValidTactics") ? 24 : 0;
}
int32_t Recorded::getNbTactics() noexcept {
  journal_.add("getNbTactics");
  return static_cast<int32_t>(behaviour_.tactics.size());
}
const char* Recorded::getTimingCacheID() noexcept {
  journal_.add("getTimingCacheID");
  return behaviour_.timing_id;
}
int32_t Recorded::getFormatCombinationLimit() noexcept {
  journal_.add("getFormatCombinationLimit");
  return behaviour_.limit;
}

int32_t Recorded::setTactic(int32_t tactic) noexcept {
  tactic_ = tactic;
  return fails("setTactic", " " + std::to_string(tactic)) ? 25 : 0;
}
int32_t Recorded::onShapeChange(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                                int32_t num_out) noexcept {
  if (fails("onShapeChange", texts(in, num_in, out, num_out))) return 26;
  return behaviour_.reshape ? behaviour_.reshape() : 0;
}
int32_t Recorded::enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc* out_desc,
                          const void* const* in, void* const* out, void* workspace, cudaStream_t stream) noexcept {
  if (fails("enqueue")) return 27;
  if (behaviour_.run) return behaviour_.run({in_desc, out_desc, in, out, workspace, tactic_, runs_++, stream});
  std::memcpy(out[0], in[0], static_cast<size_t>(volume(in_desc[0].dims)) * sizeof(float));
  return 0;
}
nv::IPluginV3* Recorded::attachToContext(nv::IPluginResourceContext* context) noexcept {
  if (fails("attachToContext")) return nullptr;
  if (behaviour_.attach) behaviour_.attach(context);
  return new Recorded(*this);
}
const nv::PluginFieldCollection* Recorded::getFieldsToSerialize() noexcept {
  if (fails("getFieldsToSerialize")) return nullptr;
  fields_.clear();
  for (const Field& field : behaviour_.fields)
    fields_.emplace_back(field.name.c_str(), field.data.data(), field.type, field.length);
  collection_ = {static_cast<int32_t>(fields_.size()), fields_.data()};
  return &collection_;
}

RecordedCreator::RecordedCreator(const Behaviour& behaviour, Journal& journal)
    : behaviour_(behaviour), journal_(journal) {
  is_registered_ = !behaviour.name.empty() && getPluginRegistry()->registerCreator(*this, behaviour.space.c_str());
}
RecordedCreator::~RecordedCreator() {
  if (is_registered_) getPluginRegistry()->deregisterCreator(*this);
}

namespace {

size_t size_of(nv::PluginFieldType type, int32_t length) {
  using Type = nv::PluginFieldType;
  const auto count = static_cast<size_t>(length);
  switch (type) {
    case Type::kINT4:
    case Type::kFP4: return (count + 1) / 2;
    case Type::kFLOAT16:
    case Type::kBF16:
    case Type::kINT16: return 2 * count;
    case Type::kFLOAT32:
    case Type::kINT32: return 4 * count;
    case Type::kFLOAT64:
    case Type::kINT64: return 8 * count;
    case Type::kDIMS: return sizeof(nv::Dims) * count;
    default: return count;
  }
}

}  // namespace

nv::IPluginV3* RecordedCreator::createPlugin(const char* layer, const nv::PluginFieldCollection* fields,
                                             nv::TensorRTPhase phase) noexcept {
  journal_.add(std::string("createPlugin ") + (phase == nv::TensorRTPhase::kRUNTIME ? "at run time " : "") + layer);
  if (behaviour_.fails_in == "createPlugin") return nullptr;
  given.clear();
  for (int32_t i = 0; i < fields->nbFields; ++i) {
    const nv::PluginField& field = fields->fields[i];
    const auto* bytes = static_cast<const std::byte*>(field.data);
    given.push_back({field.name, field.type, field.length, {bytes, bytes + size_of(field.type, field.length)}});
  }
  return new Recorded(behaviour_, journal_);
}

}  // namespace kiln::promises
