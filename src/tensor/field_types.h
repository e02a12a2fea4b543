/// Types, formats and tensors as fields of structs.
#pragma once

#include "base/field.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/host_tensor.h"

namespace kiln {

const FieldType& field_type(Tag<DType>);       ///< its name
const FieldType& field_type(Tag<Format>);      ///< its text
const FieldType& field_type(Tag<HostTensor>);  ///< {dtype, extents, data}

}  // namespace kiln
