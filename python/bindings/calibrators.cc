// Calibrators of INT8 that programs derive: they give batches and keep what was measured.

#include <NvInfer.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::APILanguage, nvinfer1::CalibrationAlgoType, nvinfer1::InterfaceInfo;
using nvinfer1::IInt8Calibrator, nvinfer1::IInt8EntropyCalibrator, nvinfer1::IInt8EntropyCalibrator2,
    nvinfer1::IInt8LegacyCalibrator, nvinfer1::IInt8MinMaxCalibrator;

/// The methods that all calibrators share.
template <class Base>
class PythonCalibrator : public Base {
 public:
  nb::detail::trampoline nb_trampoline{this};

  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  int32_t getBatchSize() const noexcept override {
    return call(
        nb_trampoline, {"IInt8Calibrator", "get_batch_size"},
        [](const nb::object& method) { return nb::cast<int32_t>(method()); }, -1);
  }
  bool getBatch(void* bindings[], const char* names[], int32_t num_bindings) noexcept override {
    return call(
        nb_trampoline, {"IInt8Calibrator", "get_batch"},
        [&](const nb::object& method) {
          nb::list list;
          for (int32_t i = 0; i < num_bindings; ++i) list.append(to_str(names[i]));
          return take_batch(method(list), bindings, num_bindings);
        },
        false);
  }
  const void* readCalibrationCache(size_t& length) noexcept override {
    length = 0;
    return call<const void*>(
        nb_trampoline, {"IInt8Calibrator", "read_calibration_cache"},
        [&](const nb::object& method) -> const void* {
          const nb::object answer = method();
          if (answer.is_none()) return nullptr;
          const Buffer bytes(answer);
          cache_.assign(static_cast<const char*>(bytes.data()), bytes.size_bytes());
          length = cache_.size();
          return cache_.data();
        },
        nullptr);
  }
  void writeCalibrationCache(const void* data, size_t length) noexcept override {
    call<void>(nb_trampoline, {"IInt8Calibrator", "write_calibration_cache"}, [&](const nb::object& method) {
      // Programs call tobytes(), write to files or keep it: a memoryview, of bytes of its own.
      method(nb::steal(PyMemoryView_FromObject(nb::bytes(data, length).ptr())));
    });
  }

 private:
  /// Addresses of a batch, one for each binding; none of them, or None, where there are no more batches.
  static bool take_batch(const nb::object& answer, void* bindings[], int32_t num_bindings) {
    if (answer.is_none()) return false;
    const auto addresses = nb::cast<std::vector<size_t>>(answer);
    if (addresses.empty()) return false;
    if (addresses.size() != static_cast<size_t>(num_bindings))
      throw nb::value_error(str("answered ", addresses.size(), " addresses for ", num_bindings, " inputs").c_str());
    std::transform(addresses.begin(), addresses.end(), bindings, &to_pointer);
    return true;
  }

  std::string cache_;
};

class PythonAnyCalibrator final : public PythonCalibrator<IInt8Calibrator> {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"PYTHON CALIBRATOR", 1, 0}; }
  CalibrationAlgoType getAlgorithm() noexcept override {
    constexpr auto kOtherwise = CalibrationAlgoType::kENTROPY_CALIBRATION_2;
    if (has_failed_) return kOtherwise;
    const auto answer = call<std::optional<CalibrationAlgoType>>(
        nb_trampoline, {"IInt8Calibrator", "get_algorithm"},
        [](const nb::object& method) { return nb::cast<CalibrationAlgoType>(method()); }, std::nullopt);
    has_failed_ = !answer;
    return answer.value_or(kOtherwise);
  }

 private:
  bool has_failed_ = false;  ///< and was reported: a build asks often
};

class PythonLegacyCalibrator final : public PythonCalibrator<IInt8LegacyCalibrator> {
 public:
  double getQuantile() const noexcept override {
    return call(
        nb_trampoline, {"IInt8LegacyCalibrator", "get_quantile"},
        [](const nb::object& method) { return nb::cast<double>(method()); }, 0.0);
  }
  // No build asks for the others: a range is the quantile's, and what is kept of a calibration is its ranges.
  double getRegressionCutoff() const noexcept override { return 0; }
  const void* readHistogramCache(size_t& length) noexcept override { return length = 0, nullptr; }
  void writeHistogramCache(const void*, size_t) noexcept override {}
};

template <class Base>
class PythonNamedCalibrator final : public PythonCalibrator<Base> {};

/// The methods of each class. Those that only programs define are there to be read about.
template <class T, class Class>
void bind_calibration(Class& cls) {
  cls.def(nb::init<>(), "Makes a calibrator, for classes that derive it.")
      .def(
          "get_batch_size",
          [](T&) -> int32_t {
            deprecated("get_batch_size is deprecated: networks have no implicit batch");
            throw_not_defined("get_batch_size of a calibrator");
          },
          "The batch size; it has no meaning for networks of TensorRT 10. Deprecated.")
      .def(
          "get_batch",
          [](T&, const std::vector<std::string>&) -> std::optional<std::vector<size_t>> {
            throw_not_defined("get_batch of a calibrator");
          },
          "names"_a, "To be defined: the addresses of the inputs' next batch, on the device; None where there is none.")
      .def(
          "read_calibration_cache", [](T&) -> nb::object { return nb::none(); },
          "What write_calibration_cache got in an earlier build, as bytes; None where there is nothing.")
      .def(
          "write_calibration_cache", [](T&, const BufferObject&) {}, "cache"_a, "Keeps what was measured.");
}

template <class T>
void bind_calibrator(nb::module_& m, const char* name, const char* doc) {
  nb::class_<T, IInt8Calibrator, PythonNamedCalibrator<T>> cls(m, name, nb::is_weak_referenceable(), doc);
  bind_calibration<T>(cls);
}

}  // namespace

void bind_calibrators(nb::module_& m) {
  nb::class_<IInt8Calibrator, PythonAnyCalibrator> base(
      m, "IInt8Calibrator", nb::is_weak_referenceable(),
      "Gives a build batches to measure the ranges of INT8 with. Programs derive one of the classes that derive it.");
  bind_calibration<IInt8Calibrator>(base);
  base.def(
      "get_algorithm",
      [](IInt8Calibrator& self) {
        if (dynamic_cast<PythonAnyCalibrator*>(&self)) throw_not_defined("get_algorithm of an IInt8Calibrator");
        return self.getAlgorithm();
      },
      "The way to find a range.");

  nb::class_<IInt8LegacyCalibrator, IInt8Calibrator, PythonLegacyCalibrator> legacy(
      m, "IInt8LegacyCalibrator", nb::is_weak_referenceable(), "Finds ranges by a quantile and a cut.");
  bind_calibration<IInt8LegacyCalibrator>(legacy);
  legacy.def("get_algorithm", &IInt8LegacyCalibrator::getAlgorithm, "The way to find a range.")
      .def(
          "get_quantile",
          [](IInt8LegacyCalibrator&) -> double { throw_not_defined("IInt8LegacyCalibrator.get_quantile"); },
          "To be defined: the quantile that a range holds.")
      .def(
          "get_regression_cutoff", [](IInt8LegacyCalibrator&) { return 0.0; },
          "No build calls it: a range is the quantile's.")
      .def(
          "read_histogram_cache", [](IInt8LegacyCalibrator&, size_t) -> nb::object { return nb::none(); }, "length"_a,
          "No build calls it: read_calibration_cache gives the ranges of an earlier one.")
      .def(
          "write_histogram_cache", [](IInt8LegacyCalibrator&, const BufferObject&, size_t) {}, "ptr"_a, "length"_a,
          "No build calls it: write_calibration_cache gets the ranges that were found.");

  bind_calibrator<IInt8EntropyCalibrator>(m, "IInt8EntropyCalibrator",
                                          "Finds ranges that lose the least information, of the first kind.");
  bind_calibrator<IInt8EntropyCalibrator2>(m, "IInt8EntropyCalibrator2",
                                           "Finds ranges that lose the least information, of the second kind.");
  bind_calibrator<IInt8MinMaxCalibrator>(m, "IInt8MinMaxCalibrator", "Takes the whole range of each tensor.");
  for (const char* name : {"IInt8EntropyCalibrator", "IInt8EntropyCalibrator2", "IInt8MinMaxCalibrator"})
    m.attr(name).attr("get_algorithm") = base.attr("get_algorithm");
}

}  // namespace kiln::python
