// The operations that a device has to bring itself: those that make memory, view it, copy it and read one number.
//
// And convolutions, for which torch asks a device that it doesn't know under a name of their own ("overrideable").
#pragma once
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>

#include "operations.h"

namespace {

Tensor empty_memory_format(
    c10::IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
    std::optional<c10::Device>, std::optional<bool> pin_memory, std::optional<c10::MemoryFormat> format) {
  TORCH_CHECK(c10::layout_or_default(layout) == c10::Layout::Strided, "the card has no sparse tensors");
  TORCH_CHECK(!c10::pinned_memory_or_default(pin_memory), "Only dense CPU tensors can be pinned");
  check_dtype(c10::dtype_or_default(dtype));
  return at::detail::empty_generic(size, &memory, CARD_KEY, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(
    c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<c10::ScalarType> dtype,
    std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool> pin_memory) {
  TORCH_CHECK(!c10::pinned_memory_or_default(pin_memory), "Only dense CPU tensors can be pinned");
  check_dtype(c10::dtype_or_default(dtype));
  return at::detail::empty_strided_generic(size, stride, &memory, CARD_KEY, c10::dtype_or_default(dtype));
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  Lent lent;
  lent.to_cpu(to, false).copy_(lent.to_cpu(from, false));
  return to;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  at::native::resize_(to, from.sizes());
  return copy_from(from, to, false);
}

at::Scalar item(const Tensor& tensor) {
  Lent lent;
  return at::_local_scalar_dense(lent.to_cpu(tensor, false));
}

Tensor convolution(
    const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, c10::IntArrayRef stride,
    c10::IntArrayRef padding, c10::IntArrayRef dilation, bool transposed, c10::IntArrayRef output_padding,
    int64_t groups) {
  for (const auto& tensor : {input, weight, bias.value_or(Tensor())})
    TORCH_CHECK(
        !tensor.defined() || tensor.device() == CARD,
        "Expected all tensors to be on the same device, but found at least two devices, card:0 and cpu!");
  Lent lent;
  std::optional<Tensor> cpu_bias;
  if (bias) cpu_bias = lent.to_cpu(*bias, false);
  return lent.to_card(at::convolution(
      lent.to_cpu(input, false), lent.to_cpu(weight, false), cpu_bias, stride, padding, dilation, transposed,
      output_padding, groups));
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad, const Tensor& input, const Tensor& weight, c10::IntArrayRef stride, c10::IntArrayRef padding,
    c10::IntArrayRef dilation, bool transposed, c10::IntArrayRef output_padding, int64_t groups,
    std::array<bool, 3> mask) {
  Lent lent;
  const int64_t features = grad.size(1);
  auto [of_input, of_weight, of_bias] = at::convolution_backward(
      lent.to_cpu(grad, false), lent.to_cpu(input, false), lent.to_cpu(weight, false), c10::IntArrayRef(features),
      stride, padding, dilation, transposed, output_padding, groups, mask);
  return {lent.to_card(of_input), lent.to_card(of_weight), lent.to_card(of_bias)};
}

bool may_become(const Tensor&, const Tensor&) {  // `module.to("card")` keeps its parameters, as on CUDA
  return true;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty_memory_format);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("resize_", static_cast<const Tensor& (*)(const Tensor&, c10::IntArrayRef, std::optional<at::MemoryFormat>)>(
                        at::native::resize_));
  m.impl("set_.source_Storage", static_cast<Tensor& (*)(Tensor&, Storage)>(at::native::set_));
  m.impl("set_.source_Storage_storage_offset", at::native::set_storage_cpu_);
  m.impl("set_.source_Tensor", at::native::set_tensor_);
  m.impl("set_", [](Tensor& self) -> Tensor& {
    return self.set_(Storage(c10::make_intrusive<StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), 0, memory.allocate(0), &memory, true)), 0, {0}, {});
  });
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", item);
  m.impl("convolution_overrideable", convolution);
  m.impl("convolution_backward_overrideable", convolution_backward);
  m.impl("_has_compatible_shallow_copy_type", may_become);
}

}  // namespace
