#include "bindings.h"

#include <algorithm>

#include "cli/files.h"
#include "dims.h"
#include "log.h"
#include "values.h"

namespace kiln::cli::trtexec {

using nvinfer1::DataType;

/// Device memory for an output that grows when the context asks for more.
class GrowingOutput final : public nvinfer1::IOutputAllocator {
 public:
  void* reallocateOutputAsync(char const*, void*, uint64_t size_bytes, uint64_t, cudaStream_t) noexcept override {
    if (static_cast<int64_t>(size_bytes) <= memory_.size_bytes()) return memory_.data();
    try {
      memory_ = Memory(Place::kDevice, static_cast<int64_t>(size_bytes));
    } catch (const Failure&) {
      return nullptr;  // the context says which output, and how much it needs
    }
    return memory_.data();
  }
  void notifyShape(char const*, nvinfer1::Dims const& dims) noexcept override { shape_ = extents(dims); }

  const Memory& memory() const { return memory_; }
  const Extents& shape() const { return shape_; }

 private:
  Memory memory_{Place::kDevice, 0};
  Extents shape_;
};

namespace {

std::vector<std::string> input_names(const nvinfer1::ICudaEngine& engine) {
  std::vector<std::string> names;
  for (int i = 0, count = engine.getNbIOTensors(); i < count; ++i)
    if (const char* name = engine.getIOTensorName(i); engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT)
      names.emplace_back(name);
  return names;
}

/// The context's shape of an input, after setting it where it is dynamic.
Extents settle_shape(nvinfer1::IExecutionContext& context, const char* name, const Extents* given, Log& log) {
  const Extents declared = extents(context.getTensorShape(name));
  if (!is_dynamic(declared)) {
    if (given) {
      require(as_declared(*given, declared) == declared, "input '", name, "': the plan is built for ",
              declared_text(declared), " only; ", declared_text(*given), " was given");
    }
    return declared;
  }
  Extents shape = given ? *given : with_ones(declared);
  if (!given) {
    log.warn("Shape missing for input with dynamic shape: ", name,
             ". Automatically setting shape to: ", shape_text(shape));
  }
  require(context.setInputShape(name, to_dims(shape, name)), "input '", name, "': a shape of ", shape_text(shape),
          " was refused: the message above says why");
  log.info("Set shape of input tensor ", name, " to: ", shape_text(shape));
  return shape;
}

void store_values(Tensor& tensor, const Extents& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (tensor.type == DataType::kINT64)
      static_cast<int64_t*>(tensor.host.data())[i] = values[i];
    else if (tensor.type == DataType::kFLOAT)
      static_cast<float*>(tensor.host.data())[i] = static_cast<float>(values[i]);
    else
      static_cast<int32_t*>(tensor.host.data())[i] = static_cast<int32_t>(values[i]);
  }
}

/// The values of a shape tensor: from its file, as given by --shapes, or ones.
void fill_shape_tensor(Tensor& tensor, const std::string* file, const Extents* given, Log& log) {
  const int64_t count = volume(tensor.shape);
  const bool fillable =
      tensor.type == DataType::kINT64 || tensor.type == DataType::kINT32 || tensor.type == DataType::kFLOAT;
  require(fillable, "shape tensor '", tensor.name, "' is of type ", type_name(tensor.type),
          "; int32, int64 and float can be filled");
  if (file) return read_exactly(*file, tensor.host.data(), tensor.host.size_bytes(), str("input '", tensor.name, "'"));
  const Extents values = given ? *given : Extents(static_cast<size_t>(count), 1);
  require(static_cast<int64_t>(values.size()) == count, "shape tensor '", tensor.name, "' has ", count, " values; ",
          values.size(), " were given");
  if (!given) {
    log.warn("Values missing for input shape tensor: ", tensor.name,
             ". Automatically setting values to: ", shape_text(values));
  }
  store_values(tensor, values);
  log.info("Set input shape tensor ", tensor.name, " to: ", shape_text(values));
}

void fill_input(Tensor& tensor, const std::string* file, uint64_t seed, Log& log) {
  if (file) {
    log.info("Using values loaded from ", *file, " for input ", tensor.name);
    return read_exactly(*file, tensor.host.data(), tensor.host.size_bytes(),
                        str("input '", tensor.name, "' ", type_name(tensor.type), "[", shape_text(tensor.shape), "]"));
  }
  log.info("Using random values for input ", tensor.name);
  fill_random(tensor.host.data(), tensor.type, stored_count(tensor), seed);
}

Tensor tensor_of(const nvinfer1::ICudaEngine& engine, int index, Log& log) {
  Tensor tensor;
  tensor.name = engine.getIOTensorName(index);
  const char* name = tensor.name.c_str();
  tensor.type = engine.getTensorDataType(name);
  tensor.is_input = engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
  tensor.on_host = engine.getTensorLocation(name) == nvinfer1::TensorLocation::kHOST;
  tensor.vector_axis = engine.getTensorVectorizedDim(name);
  if (tensor.vector_axis >= 0) tensor.components = engine.getTensorComponentsPerElement(name);
  if (engine.getTensorFormat(name) != nvinfer1::TensorFormat::kLINEAR)
    log.info("Values of ", name, " are read and written as memory has them: ", engine.getTensorFormatDesc(name));
  return tensor;
}

void make_memory(Tensor& tensor, nvinfer1::IExecutionContext& context, bool managed) {
  const char* name = tensor.name.c_str();
  if (!tensor.is_input && is_dynamic(tensor.shape)) {
    tensor.growing = std::make_unique<GrowingOutput>();
    require(context.setOutputAllocator(name, tensor.growing.get()), "output '", name, "': the allocator was refused");
    return;
  }
  const int64_t bytes = size_bytes(tensor.type, stored_count(tensor));
  tensor.is_shared = managed && !tensor.on_host;
  tensor.host = Memory(tensor.is_shared ? Place::kManaged : Place::kHost, bytes);
  if (tensor.is_copied()) tensor.device = Memory(Place::kDevice, bytes);
}

void* address_of(const std::vector<Tensor>& tensors, const Tensor& tensor, const nvinfer1::ICudaEngine& engine) {
  if (const char* alias = engine.getAliasedInputTensor(tensor.name.c_str())) {
    const auto input = std::ranges::find(tensors, alias, &Tensor::name);
    require(input != tensors.end(), "output '", tensor.name, "' shares memory with '", alias,
            "', which is not an input");
    return input->is_copied() ? input->device.data() : input->host.data();
  }
  return tensor.is_copied() ? tensor.device.data() : tensor.host.data();
}

}  // namespace

Bindings::Bindings(const nvinfer1::ICudaEngine& engine, nvinfer1::IExecutionContext& context,
                   const InferenceOptions& options, Log& log, Announce announce) {
  Log silent;
  silent.set_silent();
  Log& to = announce == Announce::kYes ? log : silent;
  const std::vector<std::string> inputs = input_names(engine);
  require_inputs(options.shapes, inputs, "--shapes: the engine");
  require_inputs(options.inputs, inputs, "--loadInputs: the engine");
  const EntryIndex<Extents> shapes(options.shapes);
  const EntryIndex<std::string> files(options.inputs);
  for (int i = 0; i < engine.getNbIOTensors(); ++i) tensors_.push_back(tensor_of(engine, i, to));
  for (Tensor& tensor : tensors_) {
    if (!tensor.is_input) continue;
    const Extents* given = shapes.find(tensor.name);
    const std::string* file = files.find(tensor.name);
    tensor.shape = settle_shape(context, tensor.name.c_str(), tensor.on_host ? nullptr : given, to);
    make_memory(tensor, context, options.managed_memory);
    if (tensor.on_host)
      fill_shape_tensor(tensor, file, given, to);
    else
      fill_input(tensor, file, static_cast<uint64_t>(&tensor - tensors_.data()), to);
    require(context.setTensorAddress(tensor.name.c_str(), address_of(tensors_, tensor, engine)), "input '", tensor.name,
            "': its address was refused: the message above says why");
  }
  for (Tensor& tensor : tensors_) {
    if (!tensor.is_input) {
      tensor.shape = extents(context.getTensorShape(tensor.name.c_str()));
      make_memory(tensor, context, options.managed_memory);
      if (tensor.growing) {
        to.info("Output binding for ", tensor.name,
                " is dynamic and will be created during execution using OutputAllocator.");
        continue;
      }
      require(context.setTensorAddress(tensor.name.c_str(), address_of(tensors_, tensor, engine)), "output '",
              tensor.name, "': its address was refused: the message above says why");
    }
    to.info(tensor.is_input ? "Input" : "Output", " binding for ", tensor.name, " with dimensions ",
            shape_text(tensor.shape), " and type ", type_name(tensor.type), " is created.");
  }
}

Bindings::~Bindings() = default;

void Bindings::copy_inputs(cudaStream_t stream) {
  for (const Tensor& tensor : tensors_)
    if (tensor.is_input && tensor.is_copied())
      check(cudaMemcpyAsync(tensor.device.data(), tensor.host.data(), static_cast<size_t>(tensor.host.size_bytes()),
                            cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
}

void Bindings::copy_outputs(cudaStream_t stream) {
  for (const Tensor& tensor : tensors_)
    if (!tensor.is_input && tensor.is_copied() && !tensor.growing)
      check(cudaMemcpyAsync(tensor.host.data(), tensor.device.data(), static_cast<size_t>(tensor.host.size_bytes()),
                            cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
}

void Bindings::settle_outputs(cudaStream_t stream) {
  for (Tensor& tensor : tensors_) {
    if (!tensor.growing) continue;
    tensor.shape = tensor.growing->shape();
    tensor.host = Memory(Place::kHost, size_bytes(tensor.type, stored_count(tensor)));
    check(cudaMemcpyAsync(tensor.host.data(), tensor.growing->memory().data(),
                          static_cast<size_t>(tensor.host.size_bytes()), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace kiln::cli::trtexec
