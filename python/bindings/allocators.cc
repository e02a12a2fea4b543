// Allocators that programs derive: of device memory, and of outputs whose sizes only a run knows.

#include <NvInfer.h>

#include "bindings.h"
#include "callback.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::AllocatorFlags, nvinfer1::APILanguage, nvinfer1::Dims;
using nvinfer1::IGpuAllocator, nvinfer1::IGpuAsyncAllocator, nvinfer1::IOutputAllocator, nvinfer1::IVersionedInterface;

/// The address that an allocator's method answered; None stands for null.
void* address_from(const nb::object& answer) {
  return answer.is_none() ? nullptr : to_pointer(nb::cast<size_t>(answer));
}

/// Whether a method's third parameter is the stream. The class has (size, alignment, flags, stream), but TensorRT's
/// module calls an IGpuAsyncAllocator with (size, alignment, stream, flags), and programs are written for either.
bool takes_stream_third(const nb::object& method) {
  const nb::object code = nb::getattr(method, "__code__", nb::none());
  if (code.is_none()) return false;
  const nb::object names = code.attr("co_varnames");
  constexpr int kThird = 3;  // behind self
  return nb::len(names) > kThird && nb::cast<std::string>(names[kThird]).find("stream") != std::string::npos;
}

/// The methods that both classes of allocators share.
template <class Base>
class PythonAllocator : public Base {
 public:
  nb::detail::trampoline nb_trampoline{this};

  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  void* reallocate(void* memory, uint64_t alignment, uint64_t size) noexcept override {
    return call<void*>(
        nb_trampoline, {kName, "reallocate"},
        [&](const nb::object& method) { return address_from(method(to_address(memory), alignment, size)); }, nullptr,
        [] { return static_cast<void*>(nullptr); });
  }

 protected:
  static constexpr const char* kName = std::is_same_v<Base, IGpuAllocator> ? "IGpuAllocator" : "IGpuAsyncAllocator";

  template <class Missing>
  void* call_allocate_async(uint64_t size, uint64_t alignment, AllocatorFlags flags, cudaStream_t stream,
                            Missing&& missing) noexcept {
    return call<void*>(
        nb_trampoline, {kName, "allocate_async"},
        [&](const nb::object& method) {
          if (takes_stream_third(method)) return address_from(method(size, alignment, to_address(stream), flags));
          return address_from(method(size, alignment, flags, to_address(stream)));
        },
        nullptr, missing);
  }
  template <class Missing>
  bool call_deallocate_async(void* memory, cudaStream_t stream, Missing&& missing) noexcept {
    return call(
        nb_trampoline, {kName, "deallocate_async"},
        [&](const nb::object& method) { return is_true(method(to_address(memory), to_address(stream))); }, false,
        missing);
  }
};

/// allocate and deallocate are enough; a class that has the asynchronous ones gets those calls.
class PythonGpuAllocator final : public PythonAllocator<IGpuAllocator> {
 public:
  void* allocate(uint64_t size, uint64_t alignment, AllocatorFlags flags) noexcept override {
    return call<void*>(
        nb_trampoline, {kName, "allocate"},
        [&](const nb::object& method) { return address_from(method(size, alignment, flags)); }, nullptr);
  }
  bool deallocate(void* memory) noexcept override {
    return call(
        nb_trampoline, {kName, "deallocate"},
        [&](const nb::object& method) { return is_true(method(to_address(memory))); }, false);
  }
  void* allocateAsync(uint64_t size, uint64_t alignment, AllocatorFlags flags, cudaStream_t stream) noexcept override {
    return call_allocate_async(size, alignment, flags, stream, [&] { return allocate(size, alignment, flags); });
  }
  bool deallocateAsync(void* memory, cudaStream_t stream) noexcept override {
    return call_deallocate_async(memory, stream, [&] { return deallocate(memory); });
  }
};

class PythonGpuAsyncAllocator final : public PythonAllocator<IGpuAsyncAllocator> {
 public:
  void* allocateAsync(uint64_t size, uint64_t alignment, AllocatorFlags flags, cudaStream_t stream) noexcept override {
    return call_allocate_async(size, alignment, flags, stream, [] {
      report_missing({kName, "allocate_async"});
      return static_cast<void*>(nullptr);
    });
  }
  bool deallocateAsync(void* memory, cudaStream_t stream) noexcept override {
    return call_deallocate_async(memory, stream, [] {
      report_missing({kName, "deallocate_async"});
      return false;
    });
  }
};

class PythonOutputAllocator final : public IOutputAllocator {
 public:
  NB_TRAMPOLINE(IOutputAllocator);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  void* reallocateOutput(const char* tensor, void* memory, uint64_t size, uint64_t alignment) noexcept override {
    return call<void*>(
        nb_trampoline, {"IOutputAllocator", "reallocate_output"},
        [&](const nb::object& method) {
          return address_from(method(to_str(tensor), to_address(memory), size, alignment));
        },
        nullptr);
  }
  void* reallocateOutputAsync(const char* tensor, void* memory, uint64_t size, uint64_t alignment,
                              cudaStream_t stream) override {
    return call<void*>(
        nb_trampoline, {"IOutputAllocator", "reallocate_output_async"},
        [&](const nb::object& method) {
          return address_from(method(to_str(tensor), to_address(memory), size, alignment, to_address(stream)));
        },
        nullptr, [&] { return reallocateOutput(tensor, memory, size, alignment); });
  }
  void notifyShape(const char* tensor, const Dims& dims) noexcept override {
    call<void>(nb_trampoline, {"IOutputAllocator", "notify_shape"},
               [&](const nb::object& method) { method(to_str(tensor), Dims(dims)); });
  }
};

template <class Allocator>
size_t allocate(Allocator& self, uint64_t size, uint64_t alignment, AllocatorFlags flags) {
  deprecated("allocate is deprecated: use allocate_async");
  const PythonCall mark;
  return to_address(self.allocate(size, alignment, flags));
}

template <class Allocator>
bool deallocate(Allocator& self, size_t memory) {
  deprecated("deallocate is deprecated: use deallocate_async");
  const PythonCall mark;
  return self.deallocate(to_pointer(memory));
}

template <class Allocator>
size_t allocate_async(Allocator& self, uint64_t size, uint64_t alignment, AllocatorFlags flags, size_t stream) {
  const PythonCall mark;
  return to_address(self.allocateAsync(size, alignment, flags, to_stream(stream)));
}

template <class Allocator>
bool deallocate_async(Allocator& self, size_t memory, size_t stream) {
  const PythonCall mark;
  return self.deallocateAsync(to_pointer(memory), to_stream(stream));
}

/// The methods that both classes have.
template <class Allocator, class... Bases>
void bind_methods(nb::class_<Allocator, Bases...>& cls) {
  cls.def("allocate", &allocate<Allocator>, "size"_a, "alignment"_a, "flags"_a,
          "The address of `size` bytes at an alignment, an int; 0 or None where there is no memory. Deprecated.")
      .def("deallocate", &deallocate<Allocator>, "memory"_a,
           "Takes memory back; False if it is not the allocator's. Deprecated.")
      .def("allocate_async", &allocate_async<Allocator>, "size"_a, "alignment"_a, "flags"_a, "stream"_a,
           "The address of `size` bytes at an alignment, for work on the stream from now on; 0 or None without memory.")
      .def("deallocate_async", &deallocate_async<Allocator>, "memory"_a, "stream"_a,
           "Takes memory back when the work that is on the stream is done; False if it is not the allocator's.");
}

}  // namespace

void bind_allocators(nb::module_& m) {
  nb::class_<IGpuAllocator, IVersionedInterface, PythonGpuAllocator> gpu(
      m, "IGpuAllocator", nb::is_weak_referenceable(),
      "Gives the library memory of the device; addresses are ints. Derive it and define allocate_async and "
      "deallocate_async, or allocate and deallocate; several threads may call them.");
  gpu.def(nb::init<>(), "Makes an allocator, for classes that derive it.");
  bind_methods(gpu);
  gpu.def(
      "reallocate",
      [](IGpuAllocator& self, size_t address, uint64_t alignment, uint64_t new_size) {
        const PythonCall mark;
        return to_address(self.reallocate(to_pointer(address), alignment, new_size));
      },
      "address"_a, "alignment"_a, "new_size"_a,
      "Gives memory another size and keeps what it holds; 0 or None, and it stays, where that cannot be.");

  nb::class_<IGpuAsyncAllocator, IGpuAllocator, PythonGpuAsyncAllocator> async(
      m, "IGpuAsyncAllocator", nb::is_weak_referenceable(),
      "An IGpuAllocator whose memory is ordered by streams: derive it and define allocate_async and deallocate_async.");
  async.def(nb::init<>(), "Makes an allocator, for classes that derive it.");
  bind_methods(async);

  nb::class_<IOutputAllocator, PythonOutputAllocator>(
      m, "IOutputAllocator", nb::is_weak_referenceable(),
      "Gives memory for an output whose size only the run knows. Derive it and define "
      "reallocate_output_async(tensor_name, "
      "memory, size, alignment, stream), which answers an address, and notify_shape(tensor_name, shape).")
      .def(nb::init<>(), "Makes an allocator, for classes that derive it.")
      .def(
          "reallocate_output",
          [](IOutputAllocator&, const char*, size_t, uint64_t, uint64_t) -> size_t {
            throw_not_defined("IOutputAllocator.reallocate_output");
          },
          "tensor_name"_a, "memory"_a, "size"_a, "alignment"_a,
          "As reallocate_output_async, without a stream. Deprecated.")
      .def(
          "reallocate_output_async",
          [](IOutputAllocator&, const char*, size_t, uint64_t, uint64_t, size_t) -> size_t {
            throw_not_defined("IOutputAllocator.reallocate_output_async");
          },
          "tensor_name"_a, "memory"_a, "size"_a, "alignment"_a, "stream"_a,
          "To be defined: the address of `size` bytes for an output, which may be what it had; 0 or None without "
          "memory.")
      .def(
          "notify_shape",
          [](IOutputAllocator&, const char*, const Dims&) { throw_not_defined("IOutputAllocator.notify_shape"); },
          "tensor_name"_a, "shape"_a, "To be defined: is told of an output's shape.");
}

}  // namespace kiln::python
