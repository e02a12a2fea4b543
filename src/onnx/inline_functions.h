/// Replaces calls of a model's local functions by their nodes, so that what follows knows operators only.
#pragma once

#include <memory>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

/// A model without functions: `model` itself if it has none, else a new one that keeps `model`'s bytes alive.
///
/// A call is a node whose domain, op type and overload are a function's; functions come before operators. The nodes of
/// a call 'f1' are named 'f1/NODE', its inner values 'f1/VALUE', with a number after it where that name is taken.
/// Attributes that refer to the function's take the call's value, else the function's default, else are left out.
/// Calls in functions and in bodies of If, Loop and Scan are expanded too. Fails on a function that calls itself, a
/// call that does not fit its function, and models that expand to more than anything real does.
Result<std::shared_ptr<const Model>> inline_functions(std::shared_ptr<const Model> model);

}  // namespace kiln::onnx
