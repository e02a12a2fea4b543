// Readers and writers of plans that programs derive.

#include <NvInfer.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "bindings.h"
#include "callback.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::APILanguage, nvinfer1::IStreamReader, nvinfer1::IStreamReaderV2, nvinfer1::IStreamWriter;
using nvinfer1::SeekPosition;

/// Copies what a reader's method answered, a bytes-like object of at most `most` bytes; answers how many there were.
int64_t copy_bytes(const nb::object& answer, void* destination, int64_t most) {
  if (answer.is_none()) return 0;
  const Buffer bytes(answer);
  if (static_cast<int64_t>(bytes.size_bytes()) > most)
    throw nb::value_error(str("answered ", bytes.size_bytes(), " bytes where ", most, " were asked for").c_str());
  std::memcpy(destination, bytes.data(), bytes.size_bytes());
  return static_cast<int64_t>(bytes.size_bytes());
}

class PythonStreamReader final : public IStreamReader {
 public:
  NB_TRAMPOLINE(IStreamReader);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  int64_t read(void* destination, int64_t size) override {
    return call(
        nb_trampoline, {"IStreamReader", "read"},
        [&](const nb::object& method) { return copy_bytes(method(size), destination, size); }, int64_t{-1});
  }
};

class PythonStreamReaderV2 final : public IStreamReaderV2 {
 public:
  NB_TRAMPOLINE(IStreamReaderV2);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  /// A method may answer fewer bytes than it was asked for; it is asked again until there are enough, or none.
  int64_t read(void* destination, int64_t size, cudaStream_t stream) noexcept override {
    return call(
        nb_trampoline, {"IStreamReaderV2", "read"},
        [&](const nb::object& method) {
          int64_t done = 0;
          while (done < size) {
            const nb::object answer = method(size - done, to_address(stream));
            const int64_t more = copy_bytes(answer, static_cast<char*>(destination) + done, size - done);
            if (more == 0) break;
            done += more;
          }
          return done;
        },
        int64_t{-1});
  }
  bool seek(int64_t offset, SeekPosition where) noexcept override {
    return call(
        nb_trampoline, {"IStreamReaderV2", "seek"},
        [&](const nb::object& method) { return is_true(method(offset, where)); }, false);
  }
};

class PythonStreamWriter final : public IStreamWriter {
 public:
  NB_TRAMPOLINE(IStreamWriter);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  int64_t write(const void* data, int64_t size) override {
    return call(
        nb_trampoline, {"IStreamWriter", "write"},
        [&](const nb::object& method) { return nb::cast<int64_t>(method(nb::bytes(data, static_cast<size_t>(size)))); },
        int64_t{-1});
  }
};

}  // namespace

void bind_streams(nb::module_& m) {
  nb::class_<IStreamReader, PythonStreamReader>(m, "IStreamReader", nb::is_weak_referenceable(),
                                                "Reads a plan from its beginning to its end. Derive it and define "
                                                "read(size), which answers at most `size` bytes, "
                                                "none at the end.")
      .def(nb::init<>(), "Makes a reader, for classes that derive it.")
      .def(
          "read", [](IStreamReader&, nb::handle, size_t) -> int64_t { throw_not_defined("IStreamReader.read"); },
          "destination"_a, "size"_a, "To be defined as read(size): a bytes-like object of at most `size` bytes.");
  nb::class_<IStreamReaderV2, PythonStreamReaderV2>(m, "IStreamReaderV2", nb::is_weak_referenceable(),
                                                    "Reads a plan. Derive it and define read(num_bytes, stream), which "
                                                    "answers at most so many bytes, and seek(offset, "
                                                    "where).")
      .def(nb::init<>(), "Makes a reader, for classes that derive it.")
      .def(
          "read",
          [](IStreamReaderV2&, nb::handle, int64_t, size_t) -> int64_t { throw_not_defined("IStreamReaderV2.read"); },
          "destination"_a, "num_bytes"_a, "stream"_a,
          "To be defined as read(num_bytes, stream): a bytes-like object of at most `num_bytes` bytes.")
      .def("seek", from_python<&IStreamReaderV2::seek>, "offset"_a, "where"_a,
           "To be defined: reading goes on at an offset; False where that cannot be.");
  nb::class_<IStreamWriter, PythonStreamWriter>(
      m, "IStreamWriter", nb::is_weak_referenceable(),
      "Takes a plan's bytes. Derive it and define write(data), which answers how many bytes it took.")
      .def(nb::init<>(), "Makes a writer, for classes that derive it.")
      .def(
          "write", [](IStreamWriter&, nb::handle, size_t) -> int64_t { throw_not_defined("IStreamWriter.write"); },
          "data"_a, "size"_a, "To be defined as write(data): takes bytes and answers how many it took.");
}

}  // namespace kiln::python
