/// Numbers made of extents, which only the parser makes: to a program they are the shape of something.
#include "ops/dim_values.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

using DimValuesLayer = LayerOf<ops::DimValues, nv::LayerType::kSHAPE, nv::IShapeLayer, nv::apiv::VShapeLayer>;

}  // namespace

MakeLayer maker_of(Tag<ops::DimValues>) { return make<DimValuesLayer>; }

}  // namespace kiln::api
