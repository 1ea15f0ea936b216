// The card's memory, which is the CPU's, and the disguise in which a tensor passes from one device to the other.
//
// A tensor of the card and its loan to the CPU are two tensors with two storages over the same bytes: a storage knows its
// device, so one storage could not serve both. Each keeps the other's bytes alive.
#pragma once
#include <ATen/ATen.h>
#include <c10/core/impl/alloc_cpu.h>

namespace {

using at::Tensor;
using c10::Storage;
using c10::StorageImpl;

const c10::Device CARD(c10::DeviceType::PrivateUse1, 0);
constexpr c10::DispatchKeySet CARD_KEY(c10::DispatchKey::PrivateUse1);

bool float64_allowed = true;  // Apple's graphics chips have none

void check_dtype(c10::ScalarType dtype) {  // the words of torch's mps
  TORCH_CHECK_TYPE(
      float64_allowed || (dtype != at::kDouble && dtype != at::kComplexDouble),
      "Cannot convert a card Tensor to float64 dtype as the card doesn't support float64. Please use float32 instead.");
}

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = c10::alloc_cpu(bytes);
    return {data, data, &c10::free_cpu, CARD};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &c10::free_cpu;
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};
Memory memory;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &memory)

// The same bytes as another device's storage, which they keep alive.
c10::DataPtr same_bytes(const Storage& owner, c10::Device device) {
  return {owner.mutable_data(), new Storage(owner), [](void* held) { delete static_cast<Storage*>(held); }, device};
}

Storage same_storage(const Storage& owner, c10::Device device, c10::Allocator* allocator) {
  return c10::make_intrusive<StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), owner.nbytes(), same_bytes(owner, device), allocator, /*resizable=*/true);
}

Tensor tensor_on(const Storage& storage, c10::DispatchKeySet keys, const Tensor& like) {
  auto made = at::detail::make_tensor<c10::TensorImpl>(Storage(storage), keys, like.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) made.unsafeGetTensorImpl()->set_wrapped_number(true);
  return made;
}

}  // namespace
