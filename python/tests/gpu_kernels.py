"""Triton kernels that tests of plugins launch, or compile ahead of time."""

import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, factor, count, BLOCK: tl.constexpr):
    """y = x * factor"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < count)
    tl.store(y + i, (value * factor).to(value.dtype), mask=i < count)


@triton.jit
def shift_kernel(x, count, delta, y, BLOCK: tl.constexpr):
    """y = x + delta, with numbers between the tensors, as kernels ahead of time have them."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < count)
    tl.store(y + i, (value + delta).to(value.dtype), mask=i < count)


@triton.jit
def softmax_kernel(x, columns, y, BLOCK: tl.constexpr):
    """Each program is a row; a reduction among warps takes shared memory."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, axis=0))
    made = power / tl.sum(power, axis=0)
    tl.store(y + row * columns + i, made.to(y.dtype.element_ty), mask=i < columns)
