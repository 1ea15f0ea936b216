// A pretended graphics card: torch's spare device ("PrivateUse1"), whose memory is ordinary memory.
//
// Each operation that has no kernel of the card's own is computed by the CPU's kernel, on the card's memory, without a
// copy. What CUDA refuses and a CPU allows is refused: tensors of two devices, a generator of the other device,
// recurrent layers' gradients in evaluation mode, a state that is not contiguous; and float64, where a test asks for
// a card without, as Apple's are.
//
// All is one translation unit, because torch's headers take most of the time to compile.
#include <torch/csrc/autograd/variable.h>

#include "kernels.h"
#include "precision.h"
#include "recurrent.h"

namespace {

// `tensor.data = other` across the two devices, which torch 2.13 allows CUDA alone.
void set_data(const Tensor& self, const Tensor& other) {
  if (auto* meta = torch::autograd::impl::get_autograd_meta(self)) {
    std::lock_guard<std::mutex> lock(meta->mutex_);
    if (meta->grad_accumulator_.lock()) meta->grad_accumulator_.reset();
  }
  self.unsafeGetTensorImpl()->shallow_copy_from(other.getIntrusivePtr());
}

TORCH_LIBRARY(card, m) {
  m.def("set_data(Tensor self, Tensor other) -> ()", set_data);
  m.def("allow_scalars(str[] names) -> ()", [](const std::vector<std::string>& names) {
    lenient().insert(names.begin(), names.end());
  });
  m.def("manual_seed(int seed) -> ()", [](int64_t seed) {
    const_cast<at::Generator&>(default_chance()).set_current_seed(static_cast<uint64_t>(seed));
  });
  m.def("get_state() -> Tensor", [] { return default_chance().get_state(); });
  m.def("set_state(Tensor state) -> ()", [](const Tensor& state) {
    const_cast<at::Generator&>(default_chance()).set_state(state);
  });
  m.def("allow_float64(bool allowed) -> ()", [](bool allowed) { float64_allowed = allowed; });
  m.def("calls() -> int", [] { return calls.load(); });
  m.def("start() -> ()", [] {
    static Hooks hooks;
    if (!at::isPrivateUse1HooksRegistered()) at::RegisterPrivateUse1HooksInterface(&hooks);
  });
}

}  // namespace
