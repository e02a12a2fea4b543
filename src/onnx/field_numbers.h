/// Field numbers of ONNX's messages, from onnx.proto (https://github.com/onnx/onnx). Fields that Kiln never reads
/// (documentation, training, quantization annotations, multi-device hints) are left out: they are skipped by length.
#pragma once

#include <cstdint>

namespace kiln::onnx::field {

namespace model {
enum : uint32_t {
  kIrVersion = 1,
  kProducerName = 2,
  kProducerVersion = 3,
  kDomain = 4,
  kModelVersion = 5,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadata = 14,
  kTrainingInfo = 20,
  kFunctions = 25,
};
}
namespace opset {
enum : uint32_t { kDomain = 1, kVersion = 2 };
}
namespace entry {
enum : uint32_t { kKey = 1, kValue = 2 };
}
namespace graph {
enum : uint32_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kSparseInitializer = 15,
  kMetadata = 16,
};
}
namespace node {
enum : uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDomain = 7,
  kOverload = 8,
  kMetadata = 9,
};
}
namespace attribute {
enum : uint32_t {
  kName = 1,
  kF = 2,
  kI = 3,
  kS = 4,
  kT = 5,
  kG = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kTensors = 10,
  kGraphs = 11,
  kTypeProto = 14,
  kTypes = 15,
  kType = 20,
  kRefName = 21,
  kSparseTensor = 22,
  kSparseTensors = 23,
};
}
namespace tensor {
enum : uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};
}
namespace sparse_tensor {
enum : uint32_t { kValues = 1, kIndices = 2, kDims = 3 };
}
namespace value_info {
enum : uint32_t { kName = 1, kType = 2 };
}
namespace type {
enum : uint32_t { kTensor = 1, kSequence = 4, kMap = 5, kSparseTensor = 8, kOptional = 9 };
}
namespace tensor_type {
enum : uint32_t { kElementType = 1, kShape = 2 };
}
namespace container_type {
enum : uint32_t { kElement = 1 };
}
namespace map_type {
enum : uint32_t { kKey = 1, kValue = 2 };
}
namespace shape {
enum : uint32_t { kDim = 1 };
}
namespace dim {
enum : uint32_t { kValue = 1, kParam = 2 };
}
namespace function {
enum : uint32_t {
  kName = 1,
  kInput = 4,
  kOutput = 5,
  kAttribute = 6,
  kNode = 7,
  kOpsetImport = 9,
  kDomain = 10,
  kDefaultAttribute = 11,
  kOverload = 13,
};
}

}  // namespace kiln::onnx::field
