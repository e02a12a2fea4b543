#include "api/build/layers/layers.h"

#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/constant.h"
#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/fill.h"
#include "ops/gather.h"
#include "ops/identity.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/padding.h"
#include "ops/pooling.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/resize.h"
#include "ops/scale.h"
#include "ops/scatter.h"
#include "ops/select.h"
#include "ops/shape.h"
#include "ops/shuffle.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/squeeze.h"
#include "ops/top_k.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"

namespace kiln::api {
namespace {

struct Row {
  const OpInfo* op;
  MakeLayer make;
};
const Row kRows[] = {
    {&op_info<ops::Activation>(), make_activation},
    {&op_info<ops::Cast>(), make_cast},
    {&op_info<ops::Concatenation>(), make_concatenation},
    {&op_info<ops::Constant>(), make_constant},
    {&op_info<ops::Convolution>(), make_convolution},
    {&op_info<ops::Deconvolution>(), make_deconvolution},
    {&op_info<ops::DimValues>(), make_dim_values},
    {&op_info<ops::ElementWise>(), make_element_wise},
    {&op_info<ops::Expand>(), make_expand},
    {&op_info<ops::Fill>(), make_fill},
    {&op_info<ops::Gather>(), make_gather},
    {&op_info<ops::Identity>(), make_identity},
    {&op_info<ops::MatrixMultiply>(), make_matrix_multiply},
    {&op_info<ops::Normalization>(), make_normalization},
    {&op_info<ops::Padding>(), make_padding},
    {&op_info<ops::Pooling>(), make_pooling},
    {&op_info<ops::Reduce>(), make_reduce},
    {&op_info<ops::Reshape>(), make_shuffle},
    {&op_info<ops::Resize>(), make_resize},
    {&op_info<ops::Scale>(), make_scale},
    {&op_info<ops::Scatter>(), make_scatter},
    {&op_info<ops::Select>(), make_select},
    {&op_info<ops::Shape>(), make_shape},
    {&op_info<ops::Shuffle>(), make_shuffle},
    {&op_info<ops::Slice>(), make_slice},
    {&op_info<ops::Softmax>(), make_softmax},
    {&op_info<ops::Squeeze>(), make_squeeze},
    {&op_info<ops::TopK>(), make_top_k},
    {&op_info<ops::Transpose>(), make_shuffle},
    {&op_info<ops::Unary>(), make_unary},
    {&op_info<ops::Unsqueeze>(), make_unsqueeze},
};

}  // namespace

std::unique_ptr<Layer> make_layer(Network& network, ir::NodeId node) {
  const OpInfo* const op = &network.graph().node(node).op.info();
  for (const Row& row : kRows)
    if (row.op == op) return row.make(network, node);
  check_failed("every op has a layer", __FILE__, __LINE__);
}

}  // namespace kiln::api
