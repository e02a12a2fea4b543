// Extents, counts and positions as large as int64 has them, at every operator that the parser knows: each is answered
// in bounded time and memory, by a network or by an error. Extents are those of inputs, and of constants that are made
// of nothing but a shape; numbers are those of constants and attributes.
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "onnx_nodes.h"
#include "ops/testing/limits.h"
#include "program.h"

namespace robustness {
namespace {

constexpr int64_t kHuge[] = {int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62, INT64_MAX};
constexpr int64_t kHugeNumbers[] = {0,  int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62, INT64_MAX,
                                    -1, -kHuge[2],        INT64_MIN};

/// A node of every operator, all of whose numbers are replaced in turn (onnx_nodes.h says how to read it).
constexpr const char* kPointwise[] = {"Celu",
                                      "Elu",
                                      "Gelu",
                                      "HardSigmoid",
                                      "HardSwish",
                                      "LeakyRelu",
                                      "Mish",
                                      "Relu",
                                      "Selu",
                                      "Shrink",
                                      "Sigmoid",
                                      "Softplus",
                                      "Softsign",
                                      "Tanh",
                                      "ThresholdedRelu",
                                      "Abs",
                                      "Acos",
                                      "Acosh",
                                      "Asin",
                                      "Asinh",
                                      "Atan",
                                      "Atanh",
                                      "Ceil",
                                      "Cos",
                                      "Cosh",
                                      "Erf",
                                      "Exp",
                                      "Floor",
                                      "IsInf",
                                      "IsNaN",
                                      "Log",
                                      "Neg",
                                      "Reciprocal",
                                      "Round",
                                      "Sign",
                                      "Sin",
                                      "Sinh",
                                      "Sqrt",
                                      "Tan",
                                      "Identity",
                                      "Dropout",
                                      "Shape",
                                      "Size",
                                      "GlobalAveragePool",
                                      "GlobalMaxPool",
                                      "Bernoulli"};
constexpr const char* kOfTwo[] = {
    "Add",  "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max",
    "Mean", "Min", "Mul",   "Pow",     "PRelu",          "Sub",  "Sum",         "CastLike"};
constexpr const char* kReductions[] = {"ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                                       "ReduceMean", "ReduceMin", "ReduceProd",   "ReduceSum",       "ReduceSumSquare"};
constexpr const char* kNodes[] = {
    "Swish@24 | x[2,3,4]",
    "Clip | x[2,3], F:0, F:1",
    "Cast | x[2,3] | to=7",
    "Not | b[2,3]",
    "And | b[2,3], b[2,1]",
    "Or | b[2,3], b[1,3]",
    "Xor | b[2,3], b[3]",
    "Mod | i[2,3], I{3}",
    "Mod | x[2,3], x[1,3] | fmod=1",
    "Where | b[2,1], x[2,3], x[1,3]",
    "Concat | x[2,3], x[2,5], x[2,1] | axis=1",
    "Split x2 | x[4,6] | axis=1, num_outputs=2",
    "Split x2 | x[4,6], I{2,4} | axis=1",
    "Pad | x[4,6], I{1,2,1,0}",
    "Pad | x[4,6], I{1,2,1,0} | mode='reflect'",
    "Pad | x[4,6], I{1,0}, F:1, I{1} | mode='wrap'",
    "Slice | x[4,6], I{1}, I{3}, I{0}, I{1}",
    "Slice | x[4,6], I{-1}, I{-3}, I{1}, I{-2}",
    "Tile | x[4,6], I{2,3}",
    "Gather | x[4,6], I{1,2} | axis=1",
    "Gather | x[4,6], i[3,2] | axis=0",
    "GatherElements | x[4,6], i[4,2] | axis=1",
    "GatherND | x[4,6], i[3,2]",
    "GatherND | x[4,6], i[4,1] | batch_dims=1",
    "Scatter@10 | x[4,6], i[4,2], x[4,2] | axis=1",
    "ScatterElements | x[4,6], i[4,2], x[4,2] | axis=1",
    "ScatterND | x[4,6], i[3,1], x[3,6]",
    "TensorScatter@24 | x[2,6,4], x[2,3,4], i[2] | axis=1, mode='circular'",
    "TensorScatter@24 | x[2,3,6,4], x[2,3,1,4]",
    "ReverseSequence | x[4,6], i[6] | batch_axis=1, time_axis=0",
    "NegativeLogLikelihoodLoss | x[2,3,4], i[2,4], x[3] | ignore_index=1",
    "SoftmaxCrossEntropyLoss x2 | x[2,3,4], i[2,4] | reduction='sum'",
    "CenterCropPad | x[4,6], I{3,9}",
    "CenterCropPad | x[4,6], I{3} | axes=[1]",
    "Flatten | x[2,3,4] | axis=2",
    "Reshape | x[4,6], I{2,12}",
    "Reshape | x[4,6], I{-1,3}",
    "Reshape | x[4,6], I{0,-1,2}",
    "Squeeze | x[1,6,1], I{0,2}",
    "Unsqueeze | x[4,6], I{0,3}",
    "DepthToSpace | x[1,8,2,3] | blocksize=2",
    "DepthToSpace | x[1,8,2,3] | blocksize=2, mode='CRD'",
    "SpaceToDepth | x[1,2,4,6] | blocksize=2",
    "Transpose | x[2,3,4] | perm=[2,0,1]",
    "ConstantOfShape | I{4,6}",
    "Expand | x[4,1], I{2,4,6}",
    "Constant | | value_ints=[1,2]",
    "EyeLike | x[4,6] | k=1",
    "OneHot | i[4,6], I:8, F{0,1} | axis=1",
    "OneHot | i[4], i[1], F{0,1}",
    "Range | I:0, I:10, I:2",
    "Range | F:0, F:10, F:0.5",
    "Trilu | x[4,6], I:1 | upper=1",
    "Trilu | x[4,6], i[1] | upper=0",
    "RandomNormal | | shape=[4,6]",
    "RandomUniform | | shape=[4,6]",
    "RandomNormalLike | x[4,6]",
    "RandomUniformLike | x[4,6]",
    "Multinomial | x[4,6] | sample_size=3",
    "CumSum | x[4,6], I:1 | exclusive=1, reverse=0",
    "CumSum | x[4,6], I:0 | reverse=1",
    "CumSum | x[4,6], i[1]",
    "ArgMax | x[4,6] | axis=1, select_last_index=1",
    "ArgMin | x[4,6] | axis=0, keepdims=0",
    "TopK x2 | x[4,6], I{2} | axis=1, largest=0",
    "Compress | x[4,6], b[5] | axis=1",
    "NonMaxSuppression | x[1,6,4], x[1,2,6], I:3, F:0.5, F:0.1",
    "NonZero | x[4,6]",
    "Unique x4 | x[4,6] | axis=1, sorted=0",
    "Hardmax | x[4,6] | axis=1",
    "Hardmax@11 | x[2,3,4] | axis=1",
    "LogSoftmax | x[4,6] | axis=1",
    "Softmax | x[4,6] | axis=0",
    "Softmax@11 | x[2,3,4] | axis=1",
    "Det | x[2,3,3]",
    "Gemm | x[4,6], x[6,3], x[3] | transA=0",
    "MatMul | x[2,4,6], x[6,3]",
    "Einsum | x[2,3,4], x[2,4,5] | equation='bij,bjk->bik'",
    "Attention@23 | x[1,2,4,8], x[1,2,6,8], x[1,2,6,8] | is_causal=1",
    "Attention@23 | x[1,4,16], x[1,6,16], x[1,6,16] | q_num_heads=2, kv_num_heads=2",
    "LSTM x3 | x[3,2,4], W[1,20,4], W[1,20,5], x[1,40] | hidden_size=5",
    "LSTM@14 | x[2,3,4], x[2,20,4], x[2,20,5] | direction='bidirectional', layout=1, input_forget=1",
    "GRU x2 | x[3,2,4], W[1,15,4], W[1,15,5], _, _, x[1,2,5] | linear_before_reset=1",
    "RNN | x[3,2,4], W[2,5,4], W[2,5,5], W[2,10] | direction='bidirectional'",
    "Conv | x[1,4,8,8], W[6,2,3,3] | group=2, strides=[1,2], pads=[1,0,1,0], dilations=[1,1]",
    "Conv | x[1,4,8], x[6,4,3] | auto_pad='SAME_UPPER', strides=[2]",
    "ConvTranspose | x[1,4,8,8], W[4,3,3,3] | strides=[2,1], pads=[1,1,1,1], output_padding=[1,0]",
    "ConvTranspose | x[1,4,8], W[4,3,3] | output_shape=[17], strides=[2]",
    "AveragePool | x[1,2,8,8] | kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,0], ceil_mode=1, count_include_pad=1",
    "AveragePool | x[1,2,8] | kernel_shape=[3], dilations=[2]",
    "GlobalLpPool | x[1,2,8,8] | p=2",
    "LRN | x[1,8,4,4] | size=3",
    "LpPool | x[1,2,8,8] | kernel_shape=[3,2], p=2, strides=[1,2], pads=[1,0,1,0]",
    "LpPool | x[1,2,8] | kernel_shape=[3], p=1, strides=[2], pads=[1,0], ceil_mode=1",
    "ConvTranspose | x[1,4,8], x[4,3,5] | auto_pad='SAME_LOWER', strides=[2], output_padding=[1]",
    "MaxPool | x[1,2,8,8] | kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,0], dilations=[1,2], ceil_mode=1",
    "MaxPool x2 | x[1,2,8,8] | kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,0], storage_order=1",
    "MaxUnpool | x[1,2,4,4], i[1,2,4,4] | kernel_shape=[2,2], strides=[2,2], pads=[0,1,0,1]",
    "MaxUnpool | x[1,2,4], i[1,2,4], I{1,2,9} | kernel_shape=[2], strides=[2]",
    "Col2Im | x[1,8,9], I{4,4}, I{2,2} | strides=[1,1], pads=[0,0,0,0], dilations=[1,1]",
    "Col2Im | x[1,6,2], I{7}, I{3} | strides=[3], dilations=[2], pads=[1,1]",
    "AffineGrid@20 | x[2,2,3], I{2,3,4,5} | align_corners=1",
    "GridSample@20 | x[2,3,4,5], x[2,6,7,2] | mode='cubic', padding_mode='reflection'",
    "GridSample@20 | x[2,3,4,5,6], x[2,6,7,8,3]",
    "MaxRoiPool | x[1,2,8,8], x[3,5] | pooled_shape=[2,3], spatial_scale=~0.5",
    "RoiAlign@16 | x[2,3,8,8], x[5,4], i[5] | output_height=3, output_width=2, sampling_ratio=2",
    "BatchNormalization | x[2,3,4], F{1,1,1}, F{0,0,0}, F{0,0,0}, F{1,1,1}",
    "BatchNormalization x3 | x[2,3,4], x[3], x[3], x[3], x[3] | training_mode=1",
    "GroupNormalization@21 | x[2,6,4], F{1,1,1,1,1,1}, F{0,0,0,0,0,0} | num_groups=3",
    "GroupNormalization@18 | x[2,6,4], x[3], x[3] | num_groups=3",
    "InstanceNormalization | x[2,3,4], F{1,1,1}, F{0,0,0}",
    "LayerNormalization x3 | x[2,3,4], x[4], x[4] | axis=2",
    "LpNormalization | x[4,6] | axis=1, p=1",
    "MeanVarianceNormalization | x[2,3,4,5] | axes=[0,2,3]",
    "RMSNormalization@23 | x[2,3,4], x[4] | axis=-1",
    "Resize | x[1,2,4,6], _, _, I{1,2,8,3} | mode='linear'",
    "Resize | x[1,2,4,6], _, F{1,1,2,0.5} | mode='cubic', antialias=1",
    "Resize | x[1,2,4,6], _, _, I{7,7} | mode='linear', axes=[2,3], keep_aspect_ratio_policy='not_larger'",
    "Resize | x[1,2,4,6], F{0,0,0.5,1}, _, I{7,7} | axes=[2,3], coordinate_transformation_mode='tf_crop_and_resize'",
    "Upsample@9 | x[1,2,4,6], F{1,1,2,3}",
    "QuantizeLinear@21 | x[2,3,4], F{0.5,1,2} | axis=1",
    "QuantizeLinear@21 | x[2,6,4], x[2,2,4], _ | axis=1, block_size=3",
    "DequantizeLinear@21 | u[2,3,4], F{0.5,1,2}, u[3] | axis=1",
    "DequantizeLinear@21 | u[2,6,4], x[2,2,4], u[2,2,4] | axis=1, block_size=3",
    "DynamicQuantizeLinear x3 | x[2,3,4]",
    "MatMulInteger | u[2,3,4], u[4,5], u[1], u[5]",
    "ConvInteger | u[1,3,8,8], u[4,3,3,3], u[1], u[4] | pads=[1,1,1,1], strides=[2,2], dilations=[1,1], group=1",
    "QLinearMatMul | u[2,3,4], F:0.5, u[1], u[4,5], F:0.5, u[1], F:0.5, u[1]",
    "QLinearConv | u[1,3,8,8], F:0.5, u[1], u[4,3,3,3], F:0.5, u[1], F:0.5, u[1] | pads=[1,1,1,1], group=1",
    "BitShift | u[2,3], u[1,3] | direction='LEFT'",
    "BitShift | u[2,3], u[2,3] | direction='RIGHT'",
    "BitwiseAnd | i[2,3], i[1,3]",
    "BitwiseNot | i[2,3]",
    "BitwiseOr | i[2,3], i[2,1]",
    "BitwiseXor | u[2,3], u[2,3]",
    "HannWindow | I:8",
    "HammingWindow | I:8 | periodic=0",
    "BlackmanWindow | i[1] | periodic=1",
    "MelWeightMatrix | I:8, I:16, I:8192, F:0, F:4096",
    "MelWeightMatrix | i[1], i[1], i[1], x[1], x[1]",
    "DFT@20 | x[2,6,2], I:8, I:1 | inverse=1",
    "DFT@17 | x[2,6,1] | axis=1, onesided=1",
    "DFT@20 | x[2,6,1], _, i[1]",
    "STFT@17 | x[2,32,1], I:4, x[8]",
    "STFT@17 | x[2,32,1], i[1], _, i[1] | onesided=0",
    "RotaryEmbedding@23 | x[2,3,4,8], x[16,4], x[16,4], i[2,4] | interleaved=1",
    "RotaryEmbedding@23 | x[2,4,24], x[2,4,2], x[2,4,2] | num_heads=3, rotary_embedding_dim=4",
    "SimplifiedLayerNormalization | x[2,3,4], x[4] | axis=-1",
    "DeformConv@19 | x[1,4,6,6], W[2,2,3,3], x[1,36,4,4], x[2], x[1,18,4,4] | group=2, offset_group=2, strides=[1,1]",
    "DeformConv@19 | x[1,2,6,6], x[2,2,3,3], x[1,18,6,6] | pads=[1,1,1,1], dilations=[1,1]",
    "SwiGLU@28 | x[2,3,4], x[2,3,4]",
    "BitCast@26 | x[2,3] | to=6",
    "BitCast@26 | h[2,3] | to=4",
    "CumProd@26 | x[4,6], I:1 | exclusive=1, reverse=1",
    "CumProd@26 | x[4,6], i[1]",
    "Attention@25 | x[1,2,4,8], x[1,2,6,8], x[1,2,6,8], b[4,6]",
    "LinearAttention@27 x2 | x[2,3,8], x[2,3,8], x[2,3,6], x[2,2,4,3], x[2,3,2], x[2,3,2] | q_num_heads=2, "
    "kv_num_heads=2",
    "LinearAttention@27 x2 | x[2,1,8], x[2,1,4], x[2,1,3], _, x[2,1,4] | q_num_heads=2, kv_num_heads=1, "
    "update_rule='gated', scale=~0.5",
    "Attention@25 | x[1,2,4,8], x[1,2,6,8], x[1,2,6,8], _, _, _, i[1] | is_causal=1, left_window_size=2",
    "ml:ArrayFeatureExtractor | x[4,6], I{1,2}",
    "ml:Binarizer | x[4,6]",
    "microsoft:FusedConv | x[1,4,8,8], W[6,2,3,3], x[6], x[1,6,8,8] | activation='Relu', group=2, pads=[1,1,1,1]",
    "microsoft:FusedGemm | x[4,6], x[3,6], x[3] | activation='LeakyRelu', transB=1",
    "microsoft:FusedMatMul | x[2,4,6], x[2,3,6] | transB=1, alpha=~0.5",
    "microsoft:FusedMatMul | x[4,2,6], x[2,6,3] | transBatchA=1",
    "microsoft:BiasGelu | x[2,3,4], x[4]",
    "microsoft:FastGelu | x[2,3,4], x[4]",
    "microsoft:QuickGelu | x[2,3,4]",
    "microsoft:SkipLayerNormalization | x[2,3,4], x[3,4], x[4], x[4], x[4]",
    "microsoft:SkipSimplifiedLayerNormalization | x[2,3,4], x[2,3,4], x[4], x[4]",
    "microsoft:EmbedLayerNormalization x2 | i[2,6], i[2,6], x[9,4], x[8,4], x[2,4], x[4], x[4], i[2,6]",
    "microsoft:Attention x2 | x[2,4,12], x[12,36], x[36], i[2,7], x[2,2,3,3,4], x[1,3,4,7] | num_heads=3, "
    "unidirectional=1",
    "microsoft:Attention | x[2,4,12], x[12,30], x[30], i[4] | num_heads=3, qkv_hidden_sizes=[12,12,6]",
    "microsoft:MultiHeadAttention x3 | x[2,4,12], x[2,4,12], x[2,4,12], x[36], i[2,7], x[1,3,4,7], x[2,3,3,4], "
    "x[2,3,3,4] | num_heads=3",
    "microsoft:MultiHeadAttention | x[2,4,3,3,4] | num_heads=3, unidirectional=1",
    "microsoft:GroupQueryAttention x3 | x[2,4,32], x[2,4,16], x[2,4,16], x[2,2,3,8], x[2,2,3,8], i[2], I:7, x[16,4], "
    "x[16,4] | num_heads=4, kv_num_heads=2, do_rotary=1, local_window_size=4",
    "microsoft:GroupQueryAttention | x[2,4,64], _, _, _, _, i[2], i[1] | num_heads=4, kv_num_heads=2, smooth_softmax=1",
    "microsoft:RotaryEmbedding | x[2,4,24], i[1], x[16,4], x[16,4] | num_heads=3",
    "microsoft:RelativePositionBias | x[16,3], I:6, I:6 | max_distance=20, is_bidirectional=1",
    "CausalConvWithState@27 x2 | x[2,4,8], W[4,1,3], x[4], x[2,4,2] | activation='silu'",
    "CausalConvWithState@27 x2 | x[2,4,8], x[4,1,3]",
    "TfIdfVectorizer | i[2,6] | mode='TF', min_gram_length=1, max_gram_length=2, max_skip_count=1, ngram_counts=[0,2], "
    "ngram_indexes=[0,1,2], pool_int64s=[2,3,5,4]",
};

std::vector<NodeText> all_nodes() {
  std::vector<NodeText> nodes;
  const auto add = [&](const std::string& line) { nodes.push_back(parse_node(line)); };
  for (const std::string op : kPointwise) add(op + " | x[2,3,4]");
  for (const std::string op : kOfTwo) add(op + " | x[2,3], x[1,3]");
  for (const std::string op : kReductions) add(op + " | x[2,3,4], I{0,2}");
  for (const char* line : kNodes) add(line);
  return nodes;
}

/// Operators of which no model has one node alone: a sequence is no output. What they make is Slice's and Concat's.
constexpr const char* kOfSequences[] = {"ConcatFromSequence", "Optional",      "OptionalGetElement",
                                        "OptionalHasElement", "SequenceAt",    "SequenceConstruct",
                                        "SequenceEmpty",      "SequenceErase", "SequenceInsert",
                                        "SequenceLength",     "SequenceMap",   "SplitToSequence"};

TEST(HugeExtents, EveryOperatorHasANode) {
  std::set<std::string> known(std::begin(kOfSequences), std::end(kOfSequences));
  known.insert({"If", "Loop", "Scan"});  // whose bodies a line cannot say
  for (const NodeText& node : all_nodes())
    if (node.domain.empty()) known.insert(node.op);
#define IMPORT(op, function) EXPECT_TRUE(known.erase(#op)) << #op << " has no line above";
#include "onnx/importers.def"
#undef IMPORT
  EXPECT_TRUE(known.empty()) << *known.begin() << " is no operator of ours";
}

/// Parses, builds what was accepted, and wants a word where something was not.
void expect_an_answer(const NodeText& node, Inputs inputs) {
  const std::string bytes = onnx_model(node, inputs);
  Program p;
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p.network, p.logger));
  if (!parser->parse(bytes.data(), bytes.size(), nullptr)) {
    EXPECT_NE(p.logger.take_errors(), "") << kiln::Limits::current();
    return;
  }
  if (inputs == Inputs::kOfShapeInputs) return;  // a profile would say its extents
  const bool built = p.build() != nullptr;
  EXPECT_EQ(built, p.logger.take_errors() == "") << kiln::Limits::current();
}

/// Calls `test` for the node with each of its numbers replaced, and with all extents replaced.
template <class Test>
void for_each_replacement(const NodeText& node, Test test) {
  const auto replace = [&](auto number_of) {
    for (const int64_t huge : kHugeNumbers) {
      NodeText changed = node;
      number_of(changed) = huge;
      test(changed);
    }
  };
  for (size_t i = 0; i < node.inputs.size(); ++i)
    for (size_t k = 0; k < node.inputs[i].numbers.size(); ++k) {
      if (node.inputs[i].kind == 'W') continue;  // whose elements a file would hold
      replace([&](NodeText& changed) -> int64_t& { return changed.inputs[i].numbers[k]; });
    }
  for (size_t a = 0; a < node.attributes.size(); ++a)
    for (size_t k = 0; k < node.attributes[a].numbers.size(); ++k)
      replace([&](NodeText& changed) -> int64_t& { return changed.attributes[a].numbers[k]; });
  const auto is_extents = [](const NodeInput& input) { return std::string_view("xhiub").contains(input.kind); };
  for (const int64_t huge : kHuge)
    for (const int64_t last : {huge, int64_t{0}, int64_t{1}}) {
      NodeText changed = node;
      for (NodeInput& input : changed.inputs) {
        if (!is_extents(input) || input.numbers.empty()) continue;
        std::ranges::fill(input.numbers, huge);
        input.numbers.back() = last;
      }
      test(changed);
    }
}

class HugeExtentsOf : public ::testing::TestWithParam<Inputs> {};
TEST_P(HugeExtentsOf, AreAnswered) {
  kiln::Limits limits(2);
  const auto look = [&](const NodeText& node) {
    limits.run(describe(node), [&] { expect_an_answer(node, GetParam()); });
  };
  for (const NodeText& node : all_nodes()) {
    look(node);
    for_each_replacement(node, look);
  }
}
INSTANTIATE_TEST_SUITE_P(Inputs, HugeExtentsOf,
                         ::testing::Values(Inputs::kOfNetwork, Inputs::kOfConstants, Inputs::kOfShapeInputs),
                         [](const auto& inputs) -> std::string {
                           switch (inputs.param) {
                             case Inputs::kOfNetwork: return "Inputs";
                             case Inputs::kOfConstants: return "Constants";
                             case Inputs::kOfShapeInputs: break;
                           }
                           return "ShapeInputs";
                         });

/// The nodes are sound before anything is replaced: else the test would look at refusals alone.
TEST(HugeExtents, NodesAreSoundBefore) {
  for (const NodeText& node : all_nodes()) {
    const std::string bytes = onnx_model(node, Inputs::kOfNetwork);
    Program p;
    const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p.network, p.logger));
    EXPECT_TRUE(parser->parse(bytes.data(), bytes.size(), nullptr)) << describe(node) << ": " << p.logger.take_errors();
  }
}

}  // namespace
}  // namespace robustness
