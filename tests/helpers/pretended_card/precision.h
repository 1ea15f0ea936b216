// Mixed precision: `torch.autocast("card")` casts by torch's own lists, which are the same ones for CUDA.
#pragma once
#include <ATen/autocast_mode.h>
#include <torch/library.h>

#include "memory.h"

namespace {

using at::autocast::CastPolicy;

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define SINGLE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define SINGLE_BY_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define WIDEST(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(LOWER)
  AT_FORALL_FP32(SINGLE)
  AT_FORALL_FP32_SET_OPT_DTYPE(SINGLE_BY_DTYPE)
  AT_FORALL_PROMOTE(WIDEST)
  m.impl("binary_cross_entropy", [](const Tensor&, const Tensor&, const std::optional<Tensor>&, int64_t) -> Tensor {
    TORCH_CHECK(false, "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.");
  });
}

}  // namespace
