// A call of an engine with numpy's arrays, when types and shapes are those of the call before: what is left to do for
// it is read the arrays, make those of the results, and run.

#include <NvInfer.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "kiln.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::IExecutionContext;

/// What the capsule of an array's `__array_struct__` points to, as numpy documents it (PyArrayInterface).
struct ArrayInterface {
  static constexpr int kTwo = 2, kContiguous = 0x1, kAligned = 0x100, kWriteable = 0x400;
  int two;
  int rank;
  char kind;
  int item_bytes;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* description;
};

/// The bytes of an array. The caller keeps the array.
struct Memory {
  char* data = nullptr;
  int64_t size = 0;
  bool overlaps(const Memory& other) const {
    return size > 0 && other.size > 0 && data < other.data + other.size && other.data < data + size;
  }
};

/// What calls need of the module numpy.
struct Numpy {
  nb::module_ module = nb::module_::import_("numpy");
  nb::object array_type = module.attr("ndarray"), empty = module.attr("empty");
  nb::str dtype{"dtype"}, array_struct{"__array_struct__"};  ///< names that are not made anew in each call
};

/// The type and shape of the arrays that a call takes for an input, or makes for an output.
struct ArrayKind {
  enum class Use { kRead, kWritten };

  nb::object dtype, shape;  ///< a numpy.dtype and a tuple
  std::vector<Py_ssize_t> extents;

  ArrayKind(nb::object dtype_of_all, const nb::tuple& shape_of_all)
      : dtype(std::move(dtype_of_all)), shape(shape_of_all), extents(nb::cast<std::vector<Py_ssize_t>>(shape_of_all)) {}

  /// The array's memory; nothing for an array of another kind, or what is none.
  std::optional<Memory> read(nb::handle array, const Numpy& numpy, Use use) const {
    // An array of a derived class may answer something of its own.
    if (!array.type().is(numpy.array_type) || !nb::getattr(array, numpy.dtype).is(dtype)) return {};
    const nb::object capsule = nb::getattr(array, numpy.array_struct);
    const auto* const told = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
    if (told == nullptr) throw nb::python_error();
    int needed = ArrayInterface::kContiguous | ArrayInterface::kAligned;
    if (use == Use::kWritten) needed |= ArrayInterface::kWriteable;
    if (told->two != ArrayInterface::kTwo || (told->flags & needed) != needed || told->data == nullptr) return {};
    if (!std::equal(extents.begin(), extents.end(), told->shape, told->shape + told->rank)) return {};
    Memory memory{static_cast<char*>(told->data), told->item_bytes};
    for (const Py_ssize_t extent : extents) memory.size *= extent;
    return memory;
  }
};

/// Runs of a context whose input shapes are set, with arrays of one type and one shape in each place.
class NumpyCall {
 public:
  /// A place is a pair of a dtype and a shape.
  NumpyCall(nb::handle_t<IExecutionContext> context, nb::tuple names, const nb::list& inputs, const nb::list& outputs)
      : holder_(nb::borrow(context)), context_(&as(context)), names_(std::move(names)), process_(getpid()) {
    for (const auto& [places, given] : {std::pair(&inputs_, &inputs), std::pair(&outputs_, &outputs)})
      for (const nb::handle pair : *given)
        places->emplace_back(nb::object(pair[0]), nb::cast<nb::tuple>(nb::object(pair[1])));
    if (const auto needed = static_cast<size_t>(context_->getEngine().getNbIOTensors());
        nb::len(names_) != inputs_.size() || inputs_.size() + outputs_.size() != needed)
      throw nb::value_error("names, inputs and outputs are not as many as the engine's tensors");
  }

  /// The results' arrays, or False where the run failed, which the context has reported. None, and nothing was done,
  /// for arguments that need another look: these may be wrong, or of other types or shapes.
  nb::object run(const nb::tuple& arrays, const nb::dict& named, nb::handle out) {
    if (is_over_ || process_ != getpid()) return nb::none();
    const nb::object context = holder_;  // what reads arguments may run code of the program, which may close the engine
    const size_t num_inputs = inputs_.size();
    if (num_inputs == 0 && arrays.size() + named.size() > 0) return nb::none();
    std::vector<Memory> memory;
    memory.reserve(num_inputs + outputs_.size());
    std::vector<nb::object> kept;  // a dict of the program's may change during the run
    kept.reserve(num_inputs);
    for (size_t i = 0; i < num_inputs; ++i) {
      const nb::handle array = argument(i, arrays, named);
      if (!array.is_valid()) return nb::none();
      kept.push_back(nb::borrow(array));
      const auto found = inputs_[i].read(array, numpy_, ArrayKind::Use::kRead);
      if (!found) return nb::none();
      memory.push_back(*found);
    }
    nb::list results;
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (!add_result(i, out, results, memory)) return nb::none();

    std::vector<void*> addresses;
    addresses.reserve(memory.size());
    for (const Memory& one : memory) addresses.push_back(one.data);
    // Allocations may have collected garbage, whose finalizers may have called the engine, or closed it.
    if (is_over_) return nb::none();
    if (!without_gil(*context_, [&] { return context_->executeV2(addresses.data()); })) return nb::bool_(false);
    return results;
  }

  /// The context's shapes change, or it goes: nothing runs any more, and the context is let go.
  void end() {
    is_over_ = true;
    const nb::object gone = std::move(holder_);
  }

 private:
  /// The array for an input; invalid where it is missing, or there are other arguments, too.
  nb::handle argument(size_t i, const nb::tuple& arrays, const nb::dict& named) const {
    const auto at = static_cast<Py_ssize_t>(i);
    const size_t count = arrays.size();
    const nb::handle first = count == 1 ? PyTuple_GetItem(arrays.ptr(), 0) : nullptr;
    nb::handle by_name;
    if (named.size() > 0) {
      if (count > 0) return {};
      by_name = named;
    } else if (first.is_valid() && PyDict_CheckExact(first.ptr())) {
      by_name = first;
    } else {
      return count == inputs_.size() ? PyTuple_GetItem(arrays.ptr(), at) : nullptr;
    }
    if (static_cast<size_t>(PyDict_Size(by_name.ptr())) != inputs_.size()) return {};
    PyObject* const found = PyDict_GetItemWithError(by_name.ptr(), PyTuple_GetItem(names_.ptr(), at));
    if (found == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
    return found;
  }

  /// Adds what `out` has for an output, or a new array. False for an array that cannot take the result.
  bool add_result(size_t i, nb::handle out, nb::list& results, std::vector<Memory>& memory) const {
    const ArrayKind& kind = outputs_[i];
    nb::handle given = out;
    if (PyTuple_CheckExact(out.ptr()) || PyList_CheckExact(out.ptr())) {
      if (nb::len(out) != outputs_.size()) return false;
      given = nb::object(out[i]);  // which `out` holds
    } else if (!out.is_none() && outputs_.size() != 1) {
      return false;
    }
    nb::object array = given.is_none() ? numpy_.empty(kind.shape, kind.dtype) : nb::borrow(given);
    const auto found = kind.read(array, numpy_, ArrayKind::Use::kWritten);
    if (!found) return false;
    if (!given.is_none() && std::ranges::any_of(memory, [&](const Memory& one) { return one.overlaps(*found); }))
      return false;
    memory.push_back(*found);
    results.append(std::move(array));
    return true;
  }

  nb::object holder_;
  IExecutionContext* const context_;
  const nb::tuple names_;  ///< of the inputs
  const pid_t process_;
  const Numpy numpy_;
  std::vector<ArrayKind> inputs_, outputs_;
  bool is_over_ = false;
};

}  // namespace

void bind_kiln_numpy_call(nb::module_& m) {
  nb::class_<NumpyCall>(m, "_KilnNumpyCall", "Runs with arrays of numpy, of the same types and shapes again and again.")
      .def(nb::init<nb::handle_t<IExecutionContext>, nb::tuple, const nb::list&, const nb::list&>(), "context"_a,
           "names"_a, "inputs"_a, "outputs"_a,
           "Takes a context of the CPU with its shapes set, the inputs' names, and a pair of dtype and shape for each "
           "input and output.")
      .def("run", &NumpyCall::run, "arrays"_a, "named"_a, "out"_a.none(),
           "Runs, and returns a list of the results; False where the run failed. Returns None, and does nothing, for "
           "arguments of other types or shapes, or wrong ones.")
      .def("end", &NumpyCall::end, "Says that the context has other shapes from now on, or goes.");
}

}  // namespace kiln::python
