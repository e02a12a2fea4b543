// Builds a network call by call, without ONNX, runs it, and compares it with plain loops over the same weights.
//
//   image f32 [2, 1, 12, 12]
//     convolution 5x5, padding 2, 6 maps    [2, 6, 12, 12]
//     relu
//     max pooling 2x2, stride 2             [2, 6, 6, 6]
//     fully connected: reshape, matrix multiply, add a bias    [2, 10]
//     softmax                               scores f32 [2, 10]
//
// Weights and images come from a small generator with a fixed seed. Prints PASSED and exits with 0 if every score is
// within kTolerance of the loops' score.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "NvInfer.h"

namespace {

using nvinfer1::Dims;
using nvinfer1::Dims2;
using nvinfer1::Dims4;
using nvinfer1::DimsHW;
using nvinfer1::ITensor;
using nvinfer1::Weights;

constexpr int kBatch = 2, kSide = 12, kMaps = 6, kKernel = 5, kPadding = 2, kPooled = kSide / 2, kScores = 10;
constexpr int kFeatures = kMaps * kPooled * kPooled;
constexpr double kTolerance = 1e-5;  // of a probability: 216 floats are summed in another order and precision

/// Prints warnings and errors.
class Logger final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", message);
  }
};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void require(cudaError_t status, const char* what) {
  require(status == cudaSuccess, std::string(what) + ": " + cudaGetErrorString(status));
}

/// What the network's calls return: never null if the call was right.
template <class T>
T& made(T* object, const char* what) {
  require(object != nullptr, std::string(what) + " failed");
  return *object;
}

template <class T>
std::unique_ptr<T> own(T* object, const char* what) {
  return std::unique_ptr<T>(&made(object, what));
}

/// `count` numbers between -scale and scale, the same on every machine.
std::vector<float> random_numbers(uint32_t seed, size_t count, float scale) {
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    seed = seed * 1664525U + 1013904223U;  // a linear congruential generator; its upper bits are random enough here
    number = scale * (static_cast<float>(seed >> 8) / 8388608.0F - 1.0F);
  }
  return numbers;
}

struct Parameters {
  std::vector<float> kernel = random_numbers(1, kMaps* kKernel* kKernel, 0.4F);  // [kMaps, 1, kKernel, kKernel]
  std::vector<float> kernel_bias = random_numbers(2, kMaps, 0.2F);
  std::vector<float> matrix = random_numbers(3, kScores* kFeatures, 0.15F);  // [kScores, kFeatures]
  std::vector<float> matrix_bias = random_numbers(4, kScores, 0.2F);
};

Weights weights_of(const std::vector<float>& values) {
  return Weights{nvinfer1::DataType::kFLOAT, values.data(), static_cast<int64_t>(values.size())};
}

// The network. Weights are read in buildSerializedNetwork, so `p` must live until then.

ITensor& add_features(nvinfer1::INetworkDefinition& network, ITensor& image, const Parameters& p) {
  auto& convolution = made(
      network.addConvolutionNd(image, kMaps, DimsHW{kKernel, kKernel}, weights_of(p.kernel), weights_of(p.kernel_bias)),
      "addConvolutionNd");
  convolution.setPaddingNd(DimsHW{kPadding, kPadding});
  convolution.setName("convolution");
  auto& relu = made(network.addActivation(*convolution.getOutput(0), nvinfer1::ActivationType::kRELU), "addActivation");
  auto& pooling =
      made(network.addPoolingNd(*relu.getOutput(0), nvinfer1::PoolingType::kMAX, DimsHW{2, 2}), "addPoolingNd");
  pooling.setStrideNd(DimsHW{2, 2});
  return *pooling.getOutput(0);
}

ITensor& add_fully_connected(nvinfer1::INetworkDefinition& network, ITensor& features, const Parameters& p) {
  auto& flat = made(network.addShuffle(features), "addShuffle");
  flat.setReshapeDimensions(Dims2{kBatch, kFeatures});
  auto& matrix = made(network.addConstant(Dims2{kScores, kFeatures}, weights_of(p.matrix)), "addConstant");
  auto& bias = made(network.addConstant(Dims2{1, kScores}, weights_of(p.matrix_bias)), "addConstant");
  using nvinfer1::MatrixOperation;
  auto& product = made(network.addMatrixMultiply(*flat.getOutput(0), MatrixOperation::kNONE, *matrix.getOutput(0),
                                                 MatrixOperation::kTRANSPOSE),
                       "addMatrixMultiply");
  auto& sum =
      made(network.addElementWise(*product.getOutput(0), *bias.getOutput(0), nvinfer1::ElementWiseOperation::kSUM),
           "addElementWise");
  return *sum.getOutput(0);
}

std::unique_ptr<nvinfer1::IHostMemory> build_plan(const Parameters& p, Logger& logger) {
  const auto builder = own(nvinfer1::createInferBuilder(logger), "createInferBuilder");
  const auto network = own(builder->createNetworkV2(0), "createNetworkV2");
  ITensor& image =
      made(network->addInput("image", nvinfer1::DataType::kFLOAT, Dims4{kBatch, 1, kSide, kSide}), "addInput");
  ITensor& logits = add_fully_connected(*network, add_features(*network, image, p), p);
  auto& softmax = made(network->addSoftMax(logits), "addSoftMax");
  softmax.setAxes(1U << 1);  // a bit an axis: the second one, the scores
  ITensor& scores = *softmax.getOutput(0);
  scores.setName("scores");
  network->markOutput(scores);

  const Dims shape = scores.getDimensions();
  require(shape.nbDims == 2 && shape.d[0] == kBatch && shape.d[1] == kScores, "scores have another shape");
  const auto config = own(builder->createBuilderConfig(), "createBuilderConfig");
  config->clearFlag(nvinfer1::BuilderFlag::kTF32);  // so that a GPU rounds as the loops below do
  return own(builder->buildSerializedNetwork(*network, *config), "buildSerializedNetwork");
}

// Run.

std::vector<float> run(const nvinfer1::IHostMemory& plan, const std::vector<float>& images, Logger& logger) {
  const auto runtime = own(nvinfer1::createInferRuntime(logger), "createInferRuntime");
  const auto engine = own(runtime->deserializeCudaEngine(plan.data(), plan.size()), "deserializeCudaEngine");
  const auto context = own(engine->createExecutionContext(), "createExecutionContext");

  std::vector<float> scores(kBatch * kScores);
  const size_t in_bytes = images.size() * sizeof(float), out_bytes = scores.size() * sizeof(float);
  void *in = nullptr, *out = nullptr;
  cudaStream_t stream = nullptr;
  require(cudaMalloc(&in, in_bytes), "cudaMalloc");
  require(cudaMalloc(&out, out_bytes), "cudaMalloc");
  require(cudaStreamCreate(&stream), "cudaStreamCreate");
  require(context->setTensorAddress("image", in) && context->setTensorAddress("scores", out),
          "setTensorAddress failed");
  require(cudaMemcpyAsync(in, images.data(), in_bytes, cudaMemcpyHostToDevice, stream), "copy in");
  require(context->enqueueV3(stream), "enqueueV3 failed");
  require(cudaMemcpyAsync(scores.data(), out, out_bytes, cudaMemcpyDeviceToHost, stream), "copy out");
  require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  cudaStreamDestroy(stream);
  cudaFree(out);
  cudaFree(in);
  return scores;
}

// The same in plain loops.

double convolve_at(const float* image, const Parameters& p, int map, int y, int x) {
  double sum = p.kernel_bias[map];
  for (int i = 0; i < kKernel; ++i) {
    for (int j = 0; j < kKernel; ++j) {
      const int row = y + i - kPadding, column = x + j - kPadding;
      if (row < 0 || row >= kSide || column < 0 || column >= kSide) continue;
      sum += double{image[row * kSide + column]} * p.kernel[(map * kKernel + i) * kKernel + j];
    }
  }
  return sum;
}

std::vector<double> features_by_hand(const float* image, const Parameters& p) {
  std::vector<double> features;
  for (int map = 0; map < kMaps; ++map) {
    for (int y = 0; y < kSide; y += 2) {
      for (int x = 0; x < kSide; x += 2) {
        double largest = 0;  // relu before max pooling is a maximum with zero
        for (int i = 0; i < 4; ++i) largest = std::max(largest, convolve_at(image, p, map, y + i / 2, x + i % 2));
        features.push_back(largest);
      }
    }
  }
  return features;
}

std::vector<double> scores_by_hand(const float* image, const Parameters& p) {
  const std::vector<double> features = features_by_hand(image, p);
  std::vector<double> scores(p.matrix_bias.begin(), p.matrix_bias.end());
  double total = 0;
  for (int s = 0; s < kScores; ++s) {
    for (int f = 0; f < kFeatures; ++f) scores[s] += p.matrix[s * kFeatures + f] * features[f];
    total += scores[s] = std::exp(scores[s]);
  }
  for (double& score : scores) score /= total;
  return scores;
}

/// The largest difference between the network's scores and the loops'; NaN counts as infinitely far.
double largest_difference(const std::vector<float>& scores, const std::vector<float>& images, const Parameters& p) {
  double largest = 0;
  for (int n = 0; n < kBatch; ++n) {
    const std::vector<double> expected = scores_by_hand(images.data() + n * kSide * kSide, p);
    for (int s = 0; s < kScores; ++s) {
      const double difference = std::abs(scores[n * kScores + s] - expected[s]);
      largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
      std::printf("%8.5f", scores[n * kScores + s]);
    }
    std::printf("\n");
  }
  return largest;
}

int build_run_compare() {
  Logger logger;
  const Parameters parameters;
  const std::vector<float> images = random_numbers(5, kBatch * kSide * kSide, 1.0F);
  const auto plan = build_plan(parameters, logger);
  const double difference = largest_difference(run(*plan, images, logger), images, parameters);
  const bool passed = difference <= kTolerance;
  std::printf("largest difference from plain loops %.2g, at most %.2g allowed: %s\n", difference, kTolerance,
              passed ? "PASSED" : "FAILED");
  return passed ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return build_run_compare();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "layer_by_layer: %s\n", e.what());
    return 1;
  }
}
