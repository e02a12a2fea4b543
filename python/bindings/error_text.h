// Python's texts and exceptions as UTF-8 of C++, whatever they hold.

#pragma once

#include <string>

#include "bindings.h"

namespace kiln::python {

/// UTF-8 of a Python string. A surrogate without its pair, which UTF-8 does not have, becomes an escape: "\udc80".
std::string to_utf8(nb::handle text);
/// The text that Python prints of an exception that nobody catches. Not the exception's own what(), which reads a null
/// pointer where a text is not valid Unicode.
std::string traceback_of(const nb::python_error& error);

}  // namespace kiln::python
