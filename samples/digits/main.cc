// Reads handwritten digits with a network from an ONNX file: parse, build a plan, save it, load it, run it.
//
//   digits FOLDER [--plan FILE] [--classes-out FILE]
//
// FOLDER holds digits.onnx, heldout.bin and heldout.labels (DATA.md there says what they are). --plan says where the
// plan is saved (digits.plan), --classes-out writes the class of every digit, one a line. Exits with 1 if anything
// fails, or if fewer than 97 % of the digits are read right.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "NvInfer.h"
#include "NvOnnxParser.h"

namespace {

constexpr int kSide = 8;
constexpr int kPixels = kSide * kSide;
constexpr int kClasses = 10;
constexpr int kMaxBatch = 360;
constexpr double kLeastAccuracy = 0.97;

struct Options {
  std::string folder;
  std::string plan = "digits.plan";
  std::string classes_out;  // empty: not wanted
};

/// Prints warnings and errors; the rest of what the builder says is not for a demonstration.
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

template <class T>
std::unique_ptr<T> own(T* object, const char* what) {
  require(object != nullptr, std::string(what) + " failed");
  return std::unique_ptr<T>(object);
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), "cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const void* data, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  require(file.flush().good(), "cannot write " + path);
}

// Build.

/// A plan of the ONNX file that takes 1 to kMaxBatch images at once.
std::unique_ptr<nvinfer1::IHostMemory> build_plan(const std::string& onnx, Logger& logger) {
  const auto builder = own(nvinfer1::createInferBuilder(logger), "createInferBuilder");
  const auto network = own(builder->createNetworkV2(0), "createNetworkV2");
  const auto parser = own(nvonnxparser::createParser(*network, logger), "createParser");
  require(parser->parseFromFile(onnx.c_str(), static_cast<int>(nvinfer1::ILogger::Severity::kWARNING)),
          onnx + " was not understood");

  const auto config = own(builder->createBuilderConfig(), "createBuilderConfig");
  nvinfer1::IOptimizationProfile* profile = builder->createOptimizationProfile();  // the builder owns it
  using nvinfer1::OptProfileSelector;
  profile->setDimensions("image", OptProfileSelector::kMIN, nvinfer1::Dims4{1, 1, kSide, kSide});
  profile->setDimensions("image", OptProfileSelector::kOPT, nvinfer1::Dims4{32, 1, kSide, kSide});
  profile->setDimensions("image", OptProfileSelector::kMAX, nvinfer1::Dims4{kMaxBatch, 1, kSide, kSide});
  require(config->addOptimizationProfile(profile) == 0, "the optimization profile was refused");
  return own(builder->buildSerializedNetwork(*network, *config), "buildSerializedNetwork");
}

// Run.

/// Memory where the network runs.
class DeviceArray {
 public:
  explicit DeviceArray(size_t num_floats) { require(cudaMalloc(&data_, num_floats * sizeof(float)), "cudaMalloc"); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

class Stream {
 public:
  Stream() { require(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// The loaded plan with everything that one run needs.
class Classifier {
 public:
  Classifier(const std::vector<char>& plan, Logger& logger)
      : runtime_(own(nvinfer1::createInferRuntime(logger), "createInferRuntime")),
        engine_(own(runtime_->deserializeCudaEngine(plan.data(), plan.size()), "deserializeCudaEngine")),
        context_(own(engine_->createExecutionContext(), "createExecutionContext")),
        images_(size_t{kMaxBatch} * kPixels),
        probabilities_(size_t{kMaxBatch} * kClasses) {
    require(context_->setTensorAddress("image", images_.get()) &&
                context_->setTensorAddress("probabilities", probabilities_.get()),
            "a tensor's address was refused");
  }

  /// From `count` images to kClasses probabilities each.
  void run(const float* images, int count, float* probabilities) {
    if (count != count_) {
      require(context_->setInputShape("image", nvinfer1::Dims4{count, 1, kSide, kSide}), "setInputShape failed");
      count_ = count;
    }
    const size_t in_bytes = sizeof(float) * count * kPixels, out_bytes = sizeof(float) * count * kClasses;
    require(cudaMemcpyAsync(images_.get(), images, in_bytes, cudaMemcpyHostToDevice, stream_.get()), "copy in");
    require(context_->enqueueV3(stream_.get()), "enqueueV3 failed");
    require(cudaMemcpyAsync(probabilities, probabilities_.get(), out_bytes, cudaMemcpyDeviceToHost, stream_.get()),
            "copy out");
    require(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }

 private:
  // In this order, so that each goes before what it came from.
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  DeviceArray images_, probabilities_;
  Stream stream_;
  int count_ = 0;
};

// Show.

struct Digits {
  std::vector<float> images;  // kPixels each, 0 paper to 1 ink
  std::vector<uint8_t> labels;
  int count() const { return static_cast<int>(labels.size()); }
};

Digits read_digits(const std::string& folder) {
  const std::vector<char> images = read_file(folder + "/heldout.bin"), labels = read_file(folder + "/heldout.labels");
  Digits digits{std::vector<float>(images.size() / sizeof(float)), {labels.begin(), labels.end()}};
  require(!labels.empty() && labels.size() <= kMaxBatch && digits.images.size() == labels.size() * kPixels,
          "heldout.bin and heldout.labels do not fit together");
  std::copy_n(images.data(), images.size(), reinterpret_cast<char*>(digits.images.data()));
  return digits;
}

/// A row of pictures of digits `shown`, with class and probability under each.
void print_pictures(const Digits& digits, const std::vector<int>& shown, const std::vector<int>& classes,
                    const std::vector<float>& probabilities) {
  static constexpr char kShades[] = " .:-=+*#%@";
  for (int row = 0; row < kSide; ++row) {
    for (int i : shown) {
      for (int column = 0; column < kSide; ++column) {
        const float ink = digits.images[static_cast<size_t>(i) * kPixels + row * kSide + column];
        const char shade = kShades[static_cast<int>(ink * 9.0F + 0.5F)];
        std::printf("%c%c", shade, shade);
      }
      std::printf("   ");
    }
    std::printf("\n");
  }
  for (int i : shown) {
    const float probability = probabilities[static_cast<size_t>(i) * kClasses + classes[i]];
    const char* verdict = classes[i] == digits.labels[i] ? "" : " wrong";
    std::printf(
        "%-19s",
        (std::to_string(classes[i]) + ", " + std::to_string(probability * 100).substr(0, 4) + " %" + verdict).c_str());
  }
  std::printf("\n\n");
}

std::vector<int> classes_of(const std::vector<float>& probabilities) {
  std::vector<int> classes;
  for (auto row = probabilities.begin(); row != probabilities.end(); row += kClasses)
    classes.push_back(static_cast<int>(std::max_element(row, row + kClasses) - row));
  return classes;
}

/// Median time of `run` in microseconds, copies included.
template <class F>
double median_us(int repeats, F run) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < repeats / 10; ++i) run();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

void print_latency(Classifier& classifier, const Digits& digits, std::vector<float> scratch) {
  const float* images = digits.images.data();
  const double one = median_us(500, [&] { classifier.run(images, 1, scratch.data()); });
  const double all = median_us(50, [&] { classifier.run(images, digits.count(), scratch.data()); });
  std::printf(
      "latency %.1f us for one digit; %d at once take %.1f us, %.0f digits a second (medians, copies included)\n", one,
      digits.count(), all, digits.count() / all * 1e6);
}

/// Classifies all digits and shows a few; returns how many are right.
int read_all(Classifier& classifier, const Digits& digits, const Options& options) {
  std::vector<float> probabilities(static_cast<size_t>(digits.count()) * kClasses);
  classifier.run(digits.images.data(), digits.count(), probabilities.data());
  const std::vector<int> classes = classes_of(probabilities);
  print_pictures(digits, {0, 1, 2, 3}, classes, probabilities);

  int num_right = 0;
  for (int i = 0; i < digits.count(); ++i) num_right += classes[i] == digits.labels[i];
  std::printf("accuracy %.1f %% (%d of %d digits)\n", 100.0 * num_right / digits.count(), num_right, digits.count());
  print_latency(classifier, digits, probabilities);
  if (!options.classes_out.empty()) {
    std::string lines;
    for (int c : classes) lines += std::to_string(c) + "\n";
    write_file(options.classes_out, lines.data(), lines.size());
  }
  return num_right;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool takes_value = word == "--plan" || word == "--classes-out";
    require(!takes_value || i + 1 < argc, word + " needs a file");
    if (word == "--plan")
      options.plan = argv[++i];
    else if (word == "--classes-out")
      options.classes_out = argv[++i];
    else
      options.folder = word;
  }
  require(!options.folder.empty() && options.folder[0] != '-',
          "usage: digits FOLDER [--plan FILE] [--classes-out FILE]");
  return options;
}

int run(const Options& options) {
  Logger logger;
  const auto plan = build_plan(options.folder + "/digits.onnx", logger);
  write_file(options.plan, plan->data(), plan->size());
  std::printf("built %s (%zu bytes)\n\n", options.plan.c_str(), plan->size());

  Classifier classifier(read_file(options.plan), logger);
  const Digits digits = read_digits(options.folder);
  const int num_right = read_all(classifier, digits, options);
  return num_right >= kLeastAccuracy * digits.count() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse_options(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "digits: %s\n", e.what());
    return 1;
  }
}
