#include "backend/cuda/testing/variants.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/executor.h"
#include "tactics/region.h"
#include "tactics/spec.h"
#include "tensor/memory_order.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

/// The elements of a row-major tensor in the order of `format`, or back.
Bytes reordered(const HostTensor& tensor, const Format& format, bool back) {
  const auto size = static_cast<size_t>(bits_of(tensor.dtype()) / 8);
  const Extents strides = format.strides(tensor.extents());
  Bytes result(tensor.bytes().size());
  if (strides == Format::linear().strides(tensor.extents())) {
    std::ranges::copy(tensor.bytes(), result.begin());
    return result;
  }
  Extents at(tensor.extents().size(), 0);
  for (int64_t i = 0; i < tensor.volume(); ++i) {
    int64_t place = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) place += at[axis] * strides[axis];
    const auto linear = static_cast<size_t>(i) * size, formatted = static_cast<size_t>(place) * size;
    std::memcpy(result.data() + (back ? linear : formatted), tensor.bytes().data() + (back ? formatted : linear), size);
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < tensor.extents()[axis]) break;
      at[axis] = 0;
    }
  }
  return result;
}

HostTensor owned(DType dtype, const Extents& extents, Bytes bytes) {
  const auto held = std::make_shared<const Bytes>(std::move(bytes));
  return {dtype, extents, *held, held};
}

/// Memory on the device with these bytes.
Result<Buffer> filled(CudaDevice& device, Stream& stream, const Bytes& bytes) {
  Buffer buffer = TRY(device.allocate(std::max<int64_t>(1, static_cast<int64_t>(bytes.size()))));
  if (!bytes.empty())
    TRY(device.copy_from_host(buffer.data(), bytes.data(), static_cast<int64_t>(bytes.size()), stream));
  return buffer;
}

/// Memory on the device with random numbers, the same over and over.
Result<Buffer> made_up(CudaDevice& device, Stream& stream, const TensorType& type, const Extents& extents) {
  const int64_t size = size_bytes(type.dtype, volume(extents)), most = int64_t{4} << 20;
  const double scale = is_integer(type.dtype) ? 25 : 1;
  const HostTensor pattern = random_tensor(type.dtype, {std::min(size, most) * 8 / bits_of(type.dtype)}, 1, scale);
  Buffer buffer = TRY(device.allocate(std::max<int64_t>(1, size)));
  const auto piece = static_cast<int64_t>(pattern.bytes().size());
  for (int64_t at = 0; at < size; at += piece)
    TRY(device.copy_from_host(static_cast<std::byte*>(buffer.data()) + at, pattern.bytes().data(),
                              std::min(piece, size - at), stream));
  return buffer;
}

/// The median of some turns.
Result<double> median_us(CudaDevice& device, TimedWork work, void* argument) {
  const auto measurement = TRY(device.measure(work, argument, 5e6));
  std::vector<double> turns;
  for (int i = 0; i < 9; ++i) turns.push_back(TRY(measurement->turn_us()));
  std::ranges::nth_element(turns, turns.begin() + 4);
  return turns[4];
}

class Runner {
 public:
  Runner(CudaDevice& device, const ir::Graph& graph, const Region& region, const VariantRun& options)
      : device_(device), graph_(graph), region_(region), options_(options) {}

  Status run(const StepDraft& draft, const Variant& variant, const std::vector<HostTensor>& inputs, RanVariant& ran) {
    const std::unique_ptr<Stream> stream = TRY(device_.create_stream());
    std::vector<HostTensor> held(region_.inputs.size());
    std::vector<const HostTensor*> constants;
    std::vector<Buffer> buffers;
    std::vector<const void*> pointers;
    std::vector<Extents> extents;
    for (size_t i = 0; i < region_.inputs.size(); ++i) {
      const ir::ValueId value = region_.inputs[i];
      constants.push_back(nullptr);
      pointers.push_back(nullptr);
      extents.emplace_back();
      if (value == ir::ValueId::kNone) continue;
      const TensorType& type = graph_.type(value);
      extents.back() = TRY(type.extents());
      if (const HostTensor* constant = graph_.constant(value)) {
        held[i] = TRY(in_memory_order(variant.inputs[i], *constant));
        constants.back() = &held[i];
        continue;
      }
      const auto place = std::ranges::find(graph_.inputs(), value) - graph_.inputs().begin();
      TRY(require(place < std::ssize(graph_.inputs()), "input ", i, " of the region is no input of the network"));
      buffers.push_back(
          options_.made_up
              ? TRY(made_up(device_, *stream, type, extents.back()))
              : TRY(filled(device_, *stream, reordered(inputs[static_cast<size_t>(place)], variant.inputs[i], false))));
      pointers.back() = buffers.back().data();
    }
    std::vector<Extents> out_extents;
    std::vector<Buffer> outputs;
    std::vector<void*> out;
    for (const ir::ValueId value : region_.outputs) {
      const TensorType& type = graph_.type(value);
      out_extents.push_back(type.max_extents());  // which differ from others only where data decides
      const int64_t size = size_bytes(type.dtype, volume(out_extents.back()));
      outputs.push_back(options_.made_up
                            ? TRY(device_.allocate(std::max<int64_t>(1, size)))
                            : TRY(filled(device_, *stream, Bytes(static_cast<size_t>(size), std::byte{0xff}))));
      out.push_back(outputs.back().data());
    }
    Executor& executor = TRY(device_.executor("cuda"));
    const auto loaded = TRY(executor.load(spec_of(graph_, region_, variant, draft), constants));
    std::vector<int64_t> params;
    for (const sym::Expr& param : draft.params) params.push_back(param.opt());
    const auto bound = TRY(loaded->bind({extents, out_extents, params}));
    const Buffer workspace =
        TRY(filled(device_, *stream, Bytes(static_cast<size_t>(bound->workspace_bytes()), std::byte{0xff})));
    ran.sizes.assign(static_cast<size_t>(num_sizes(graph_, region_)), -1);
    const Buffer sizes = TRY(device_.allocate_pinned(std::ssize(ran.sizes) * 8));
    RunArguments arguments{pointers.data(), out.data(), workspace.data(), stream.get(),
                           reinterpret_cast<int64_t*>(sizes.data())};
    TRY(bound->run(arguments));
    TRY(stream->synchronize());
    std::copy_n(arguments.sizes, ran.sizes.size(), ran.sizes.begin());
    if (options_.timed) ran.time_us = TRY(time(*bound, arguments));
    if (options_.made_up) return {};
    for (size_t i = 0; i < out.size(); ++i) {
      HostTensor result =
          TRY(read(*stream, out[i], graph_.type(region_.outputs[i]).dtype, out_extents[i], variant.outputs[i]));
      i == 0 ? void(ran.result = std::move(result)) : ran.others.push_back(std::move(result));
    }
    return {};
  }

 private:
  Result<HostTensor> read(Stream& stream, const void* from, DType type, const Extents& extents, const Format& format) {
    Bytes bytes(static_cast<size_t>(size_bytes(type, volume(extents))));
    if (!bytes.empty()) TRY(device_.copy_to_host(bytes.data(), from, static_cast<int64_t>(bytes.size()), stream));
    return owned(type, extents, reordered(owned(type, extents, bytes), format, true));
  }
  Result<double> time(BoundStep& step, RunArguments arguments) {
    struct Work {
      BoundStep& step;
      RunArguments arguments;
      static Status run(void* self, Stream* stream) {
        auto& work = *static_cast<Work*>(self);
        work.arguments.stream = stream;
        return work.step.run(work.arguments);
      }
    } work{step, arguments};
    return median_us(device_, &Work::run, &work);
  }

  CudaDevice& device_;
  const ir::Graph& graph_;
  const Region& region_;
  const VariantRun& options_;
};

/// A larger tensor repeats its first numbers, as many as this prime.
constexpr int64_t kMostDrawn = 4'194'301;

/// Drafts of all variants, as many at once as there are processors.
std::vector<Result<StepDraft>> compile_all(const TacticContext& cx, const Tactic& tactic, const Region& region,
                                           const std::vector<Variant>& variants) {
  std::vector<Result<StepDraft>> drafts(variants.size(), error(Code::kInternal, "not compiled"));
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < variants.size(); i = next++) drafts[i] = tactic.compile(cx, region, variants[i]);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  threads.clear();
  return drafts;
}

}  // namespace

Result<std::unique_ptr<CudaDevice>> make_gpu() {
  std::unique_ptr<CudaDevice> device = TRY(CudaDevice::create(0));
  device->set_executor(std::make_unique<CudaExecutor>(*device));
  return device;
}

Result<std::vector<RanVariant>> run_variants(CudaDevice& device, const ir::Graph& graph, const Tactic& tactic,
                                             const std::vector<HostTensor>& inputs, const VariantRun& options) {
  const TacticContext cx{graph, options.numerics, device, options.optimization_level};
  const Match region = tactic.match(cx, graph.value(graph.outputs()[0].value).producer);
  if (!region) return error(Code::kInvalidArgument, "the tactic ", tactic.name(), " refuses: ", region.error().reason);
  std::vector<Variant> variants = tactic.variants(cx, *region);
  std::erase_if(variants, [&](const Variant& v) { return v.name.find(options.only) == std::string::npos; });
  Runner runner(device, graph, *region, options);
  std::vector<RanVariant> result;
  const std::vector<Result<StepDraft>> drafts = compile_all(cx, tactic, *region, variants);
  for (size_t i = 0; i < variants.size(); ++i) {
    result.push_back({.name = variants[i].name});
    const Status ran =
        drafts[i] ? runner.run(*drafts[i], variants[i], inputs, result.back()) : std::unexpected(drafts[i].error());
    if (!ran) result.back().failure = ran.error().message;
  }
  return result;
}

Result<double> copy_time_us(CudaDevice& device, int64_t size_bytes) {
  struct Copy {
    CudaDevice& device;
    Buffer from, to;
    int64_t size_bytes;
    static Status run(void* self, Stream* stream) {
      const auto& copy = *static_cast<Copy*>(self);
      const CurrentContext current(copy.device);
      const Driver& driver = copy.device.driver();
      const auto address = [](const Buffer& b) { return reinterpret_cast<DevicePointer>(b.data()); };
      return driver.check(
          driver.memcpy_async(address(copy.to), address(copy.from), static_cast<size_t>(copy.size_bytes),
                              static_cast<const CudaStream&>(*stream).handle()),
          "copying on the device");
    }
  } copy{device, TRY(device.allocate(size_bytes)), TRY(device.allocate(size_bytes)), size_bytes};
  const std::unique_ptr<Stream> stream = TRY(device.create_stream());
  TRY(Copy::run(&copy, stream.get()));
  TRY(stream->synchronize());
  return median_us(device, &Copy::run, &copy);
}

HostTensor random_tensor(DType dtype, const Extents& extents, uint64_t seed, double scale) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  Bytes bytes(static_cast<size_t>(size_bytes(dtype, volume(extents))));
  const MutableView view(dtype, extents, bytes.data());
  const int64_t drawn = std::min(view.volume(), kMostDrawn);
  for (int64_t i = 0; i < drawn; ++i) {
    const double uniform = static_cast<double>(random()) / 4294967296.0;
    view.set(i, scale * 3.4641 * (uniform - 0.5));  // of variance 1
  }
  const auto period = static_cast<size_t>(size_bytes(dtype, drawn));
  for (size_t at = period; at < bytes.size(); at += period)
    std::memcpy(bytes.data() + at, bytes.data(), std::min(period, bytes.size() - at));
  return owned(dtype, extents, std::move(bytes));
}

double relative_error(const HostTensor& result, const HostTensor& expected) {
  const View a(result), b(expected);
  double difference = 0, largest = 1e-30;
  for (int64_t i = 0; i < b.volume(); ++i) {
    const double x = a[i], y = b[i];
    if (std::isnan(x) != std::isnan(y)) return NAN;
    if (std::isnan(y) || x == y) continue;
    difference = std::max(difference, std::abs(x - y));
    largest = std::max(largest, std::abs(y));
  }
  for (int64_t i = 0; i < b.volume(); ++i)
    if (std::isfinite(b[i])) largest = std::max(largest, std::abs(b[i]));
  return difference / largest;
}

void print_rates(const std::string& name, double flops, std::vector<RanVariant> ran, size_t most) {
  const std::string first = ran.empty() ? "" : ran.front().name;
  std::erase_if(ran, [](const RanVariant& v) {
    if (!v.failure.empty()) std::printf("  %s FAILED %s\n", v.name.c_str(), v.failure.c_str());
    return !v.failure.empty();
  });
  std::ranges::sort(ran, {}, &RanVariant::time_us);
  std::printf("%s\n", name.c_str());
  for (size_t i = 0; i < ran.size(); ++i)
    if (i < most || ran[i].name == first)
      std::printf("  %8.2f us %7.1f TFLOP/s  %s%s\n", ran[i].time_us, flops / ran[i].time_us * 1e-6,
                  ran[i].name.c_str(), ran[i].name == first ? "  (guessed first)" : "");
  std::fflush(stdout);
}

}  // namespace kiln::cuda
