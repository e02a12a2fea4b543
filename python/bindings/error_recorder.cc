// IErrorRecorder, which programs derive.

#include <NvInfer.h>

#include <atomic>
#include <string>

#include "bindings.h"
#include "callback.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::ErrorCode, nvinfer1::IErrorRecorder;

class PythonErrorRecorder final : public IErrorRecorder {
 public:
  NB_TRAMPOLINE(IErrorRecorder);

  nvinfer1::APILanguage getAPILanguage() const noexcept override { return nvinfer1::APILanguage::kPYTHON; }
  int32_t getNbErrors() const noexcept override {
    const auto ask = [](const nb::object& method) { return nb::cast<int32_t>(method()); };
    // Both names are in use: the second one is that of the class.
    return call(nb_trampoline, {"IErrorRecorder", "get_num_errors"}, ask, -1, [&] {
      return call(nb_trampoline, {"IErrorRecorder", "num_errors"}, ask, -1);
    });
  }
  ErrorCode getErrorCode(int32_t index) const noexcept override {
    return call(
        nb_trampoline, {"IErrorRecorder", "get_error_code"},
        [&](const nb::object& method) { return nb::cast<ErrorCode>(method(index)); }, ErrorCode::kUNSPECIFIED_ERROR);
  }
  ErrorDesc getErrorDesc(int32_t index) const noexcept override {
    // The text has to stay valid: until the next one is asked for by this thread.
    static thread_local std::string text;
    return call(
        nb_trampoline, {"IErrorRecorder", "get_error_desc"},
        [&](const nb::object& method) {
          text = nb::cast<std::string>(method(index));
          return text.c_str();
        },
        "");
  }
  bool hasOverflowed() const noexcept override {
    return call(
        nb_trampoline, {"IErrorRecorder", "has_overflowed"}, [](const nb::object& method) { return is_true(method()); },
        false);
  }
  void clear() noexcept override {
    call<void>(nb_trampoline, {"IErrorRecorder", "clear"}, [](const nb::object& method) { method(); });
  }
  bool reportError(ErrorCode code, ErrorDesc text) noexcept override {
    return call(
        nb_trampoline, {"IErrorRecorder", "report_error"},
        [&](const nb::object& method) { return is_true(method(code, to_str(text))); }, false);
  }
  RefCount incRefCount() noexcept override { return ++num_users_; }
  RefCount decRefCount() noexcept override { return --num_users_; }

 private:
  std::atomic<RefCount> num_users_ = 0;
};

}  // namespace

void bind_error_recorder(nb::module_& m) {
  nb::class_<IErrorRecorder, PythonErrorRecorder>(m, "IErrorRecorder", nb::is_weak_referenceable(),
                                                  "Collects the errors of the objects that it is set on. Derive it and "
                                                  "define its methods; several threads may call "
                                                  "them.")
      .def(nb::init<>(), "Makes a recorder, for classes that derive it.")
      .def_prop_ro_static(
          "MAX_DESC_LENGTH", [](nb::handle) { return IErrorRecorder::kMAX_DESC_LENGTH; },
          "The most characters that a description has.")
      .def("num_errors", from_python<&IErrorRecorder::getNbErrors>, "How many errors it holds.")
      .def("get_num_errors", from_python<&IErrorRecorder::getNbErrors>, "Another name of num_errors.")
      .def("get_error_code", from_python<&IErrorRecorder::getErrorCode>, "arg0"_a,
           "The code of an error; 0 is the oldest.")
      .def("get_error_desc", from_python<&IErrorRecorder::getErrorDesc>, "arg0"_a,
           "The text of an error; 0 is the oldest.")
      .def("has_overflowed", from_python<&IErrorRecorder::hasOverflowed>,
           "Whether errors were dropped because it was full.")
      .def("clear", from_python<&IErrorRecorder::clear>, "Forgets all errors.")
      .def("report_error", from_python<&IErrorRecorder::reportError>, "arg0"_a, "arg1"_a,
           "Is told of an error's code and text; answers whether it ends what is going on.");
}

}  // namespace kiln::python
