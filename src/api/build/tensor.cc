#include "api/build/tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/base/convert.h"
#include "api/base/shown_type.h"
#include "api/build/arguments.h"
#include "api/build/network.h"
#include "builder/build.h"
#include "ir/shape_tensors.h"

namespace kiln::api {
namespace {
/// All formats are allowed; a build prefers the linear one.
constexpr nv::TensorFormats kAllFormats = (1U << nv::EnumMax<nv::TensorFormat>()) - 1;

/// The name of an axis that the program has not named.
std::string unnamed_axis(std::string_view tensor, int axis) { return str(tensor, '_', axis); }

/// Whether a layer that was added for a tensor of type `inside` means the same where the tensor is `outside` at the
/// network's edge. INT8 stands for floats there.
bool are_alike(DType outside, DType inside) {
  if (outside == DType::kI8 && is_float(inside)) return true;
  const auto both = [&](std::initializer_list<DType> kinds) {
    return std::ranges::find(kinds, outside) != kinds.end() && std::ranges::find(kinds, inside) != kinds.end();
  };
  return both({DType::kF32, DType::kF16, DType::kBF16}) || both({DType::kI32, DType::kI64});
}
}  // namespace

Tensor::Tensor(Network& network, ir::ValueId value)
    : network_(network), value_(value), name_(network.graph().value(value).name), allowed_formats_(kAllFormats) {
  mImpl = this;
}

bool Tensor::is_input() const { return network_.graph().value(value_).producer == ir::NodeId::kNone; }

void Tensor::setName(const char* name) noexcept {
  guard(network_.reporter(), "ITensor::setName", [&]() -> Status {
    TRY(new_name(name));
    ir::Graph& graph = network_.graph();
    name_ = name;
    graph.set_name(value_, name_);
    if (is_input()) network_.note_input_name(value_, name_);
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      if (graph.outputs()[i].value == value_) graph.set_output_name(static_cast<int>(i), name_);
    return {};
  });
}
const char* Tensor::getName() const noexcept { return name_.c_str(); }

void Tensor::set_type_of_input(TensorType type) {
  type.values = nullptr;
  network_.graph().set_input_type(value_, std::move(type));
  give_symbolic_values(network_.graph(), value_);
}

void Tensor::set_extents(std::span<const int64_t> extents) {
  const TensorType& old = network_.graph().type(value_);
  TensorType type(old.dtype, {});
  for (size_t i = 0; i < extents.size(); ++i) {
    const auto axis = static_cast<int32_t>(i);
    if (extents[i] >= 0)
      type.shape.emplace_back(extents[i]);
    else if (const auto named = dimension_names_.find(axis); named != dimension_names_.end())
      type.shape.push_back(network_.graph().table().dimension(named->second));
    else if (i < old.shape.size() && old.shape[i].is_symbol())
      type.shape.push_back(old.shape[i]);
    else
      type.shape.push_back(network_.graph().table().fresh(unnamed_axis(name_, axis)));
  }
  set_type_of_input(std::move(type));
}

void Tensor::setDimensions(const nv::Dims& dimensions) noexcept {
  guard(network_.reporter(), "ITensor::setDimensions", [&]() -> Status {
    TRY(require(is_input(), "'", name_, "' is no input of the network; its layer decides its dimensions"));
    const nv::Dims* const dims = address_of(dimensions);
    TRY(require(dims != nullptr, "dimensions are null"));
    const Extents extents = TRY(in_context(from_api(*dims), [&] { return str("input '", name_, "'"); }));
    for (const int64_t extent : extents)
      TRY(require(extent >= -1, "input '", name_, "': extent ", extent, " in ", text(*dims), "; -1 is the least"));
    set_extents(extents);
    return {};
  });
}

nv::Dims Tensor::getDimensions() const noexcept {
  return guard(network_.reporter(), "ITensor::getDimensions", no_dims(), [&]() -> Result<nv::Dims> {
    const TensorType& type =
        TRY(in_context(network_.graph().inferred_type(value_), [&] { return str("tensor '", name_, "'"); }));
    Extents extents;
    for (const sym::Expr& extent : type.shape) extents.push_back(extent.constant().value_or(-1));
    return to_api(extents);
  });
}

void Tensor::setType(nv::DataType type) noexcept {
  guard(network_.reporter(), "ITensor::setType", [&]() -> Status {
    const DType dtype = TRY(from_api(type));
    if (!is_input()) {
      TRY(require(!network_.strongly_typed(), "'", name_,
                  "' is made by a layer of a strongly typed network, which decides its type; use addCast"));
      wanted_type_ = dtype;
      return {};
    }
    TensorType changed = network_.graph().type(value_);
    wanted_type_.reset();
    if (!network_.strongly_typed() && network_.graph().num_uses(value_) > 0 && are_alike(dtype, changed.dtype)) {
      if (dtype != changed.dtype) wanted_type_ = dtype;
      return {};
    }
    changed.dtype = dtype;
    set_type_of_input(std::move(changed));
    return {};
  });
}

nv::DataType Tensor::getType() const noexcept {
  if (wanted_type_) return to_api(*wanted_type_);
  if (const auto set = network_.output_type_set(value_)) return to_api(*set);
  return guard(network_.reporter(), "ITensor::getType", nv::DataType::kFLOAT, [&]() -> Result<nv::DataType> {
    const TensorType& type = TRY(network_.graph().inferred_type(value_));
    return to_api(shown_type(type.dtype));
  });
}

bool Tensor::setDynamicRange(float min, float max) noexcept {
  return guard(network_.reporter(), "ITensor::setDynamicRange", [&]() -> Status {
    TRY(require(std::isfinite(min) && std::isfinite(max) && min <= max, "'", name_, "': the range [", min, ", ", max,
                "] is not finite or not in order"));
    dynamic_range_ = {min, max};
    return {};
  });
}
bool Tensor::dynamicRangeIsSet() const noexcept { return dynamic_range_.has_value(); }
void Tensor::resetDynamicRange() noexcept { dynamic_range_.reset(); }
float Tensor::getDynamicRangeMin() const noexcept {
  return dynamic_range_ ? dynamic_range_->first : std::numeric_limits<float>::quiet_NaN();
}
float Tensor::getDynamicRangeMax() const noexcept {
  return dynamic_range_ ? dynamic_range_->second : std::numeric_limits<float>::quiet_NaN();
}

bool Tensor::isNetworkInput() const noexcept {
  const auto& inputs = network_.graph().inputs();
  return std::find(inputs.begin(), inputs.end(), value_) != inputs.end();
}
bool Tensor::isNetworkOutput() const noexcept { return network_.graph().is_output(value_); }
void Tensor::setBroadcastAcrossBatch(bool) noexcept {}
bool Tensor::getBroadcastAcrossBatch() const noexcept { return false; }
nv::TensorLocation Tensor::getLocation() const noexcept { return location_; }
void Tensor::setLocation(nv::TensorLocation location) noexcept {
  guard(network_.reporter(), "ITensor::setLocation", [&]() -> Status {
    location_ = TRY(enum_from_api<nv::TensorLocation>(location, "location"));
    return {};
  });
}

void Tensor::setAllowedFormats(nv::TensorFormats formats) noexcept {
  guard(network_.reporter(), "ITensor::setAllowedFormats", [&]() -> Status {
    TRY(require(formats != 0 && formats < (1U << nv::EnumMax<nv::TensorFormat>()), "'", name_,
                "': the allowed formats are ", names_of_formats(formats),
                "; at least one is needed, and each must be a TensorFormat"));
    allowed_formats_ = formats;
    return {};
  });
}
nv::TensorFormats Tensor::getAllowedFormats() const noexcept { return allowed_formats_; }

bool Tensor::isShapeTensor() const noexcept {
  return guard(network_.reporter(), "ITensor::isShapeTensor", false,
               [&] { return ir::is_shape_tensor(network_.graph(), value_, network_.shape_outputs()); });
}
bool Tensor::isExecutionTensor() const noexcept {
  return guard(network_.reporter(), "ITensor::isExecutionTensor", false,
               [&] { return ir::is_execution_tensor(network_.graph(), value_); });
}

Status Tensor::set_dimension_name(int32_t index, const char* name) {
  TRY(require(is_input(), "'", name_, "' is no input of the network; only extents of inputs have names"));
  TensorType type = network_.graph().type(value_);
  TRY(require(index >= 0 && index < type.rank(), "index ", index, " is outside [0, ", type.rank(), ")"));
  const bool named = name && *name;
  if (named)
    dimension_names_[index] = name;
  else
    dimension_names_.erase(index);
  sym::Expr& extent = type.shape[static_cast<size_t>(index)];
  if (extent.is_const()) return {};
  sym::Table& table = network_.graph().table();
  extent = named ? table.dimension(name) : table.fresh(unnamed_axis(name_, index));
  set_type_of_input(std::move(type));
  return {};
}

void Tensor::setDimensionName(int32_t index, const char* name) noexcept {
  guard(network_.reporter(), "ITensor::setDimensionName", [&] { return set_dimension_name(index, name); });
}

const char* Tensor::getDimensionName(int32_t index) const noexcept {
  return guard(network_.reporter(), "ITensor::getDimensionName", static_cast<const char*>(nullptr),
               [&]() -> Result<const char*> {
                 if (!is_input()) return nullptr;
                 const TensorType& type = network_.graph().type(value_);
                 if (index < 0 || index >= type.rank()) return nullptr;
                 if (const auto known = dimension_names_.find(index); known != dimension_names_.end())
                   return known->second.c_str();
                 const sym::Expr extent = type.shape[static_cast<size_t>(index)];
                 if (!extent.is_symbol() || extent.name().starts_with(unnamed_axis(name_, index))) return nullptr;
                 auto& names = const_cast<Tensor*>(this)->dimension_names_;  // the text must outlive the call
                 return names.emplace(index, std::string(extent.name())).first->second.c_str();
               });
}

}  // namespace kiln::api
