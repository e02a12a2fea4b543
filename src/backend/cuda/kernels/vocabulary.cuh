// The scalar expressions of ops/*-inl.h, so that a kernel may call activation<ScalarFn::kGeluErf>(x, alpha, beta) of
// namespace kiln::device.
#pragma once

#include "ops/activation-inl.h"
#include "ops/element_wise-inl.h"
#include "ops/unary-inl.h"
