// LSTM, GRU and RNN as cuDNN has them: no gradients in evaluation mode, and no state that is not contiguous.
//
// Both refusals are cuDNN's (`aten/src/ATen/native/cudnn/RNN.cpp`), so they end inside
// `torch.backends.cudnn.flags(enabled=False)`, where CUDA falls back on kernels of its own. The single steps (LSTMCell,
// GRUCell) are written out, because torch differentiates CUDA's fused kernels by formulas that need CUDA.
#pragma once
#include <ATen/Context.h>
#include <ATen/ops/gru_native.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/rnn_relu_native.h>
#include <ATen/ops/rnn_tanh_native.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "memory.h"

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// cuDNN keeps what the backward pass needs only while training, and notices when gradients are asked for.
struct OnlyWhileTraining : torch::autograd::Function<OnlyWhileTraining> {
  static variable_list forward(AutogradContext*, at::TensorList tensors) {
    variable_list same;
    for (const auto& tensor : tensors) same.push_back(tensor.view_as(tensor));
    return same;
  }
  static variable_list backward(AutogradContext*, variable_list) {
    TORCH_CHECK(false, "cudnn RNN backward can only be called in training mode");
  }
};

bool as_cudnn() {  // inside `torch.backends.cudnn.flags(enabled=False)` CUDA uses kernels that are less strict
  return at::globalContext().userEnabledCuDNN();
}

void check_state(const Tensor& state, const char* name = "hx") {
  TORCH_CHECK(!as_cudnn() || state.is_contiguous(), "rnn: ", name, " is not contiguous");
}
void check_state(at::TensorList states) {
  check_state(states[0]);
  check_state(states[1], "cx");
}

template <size_t... I, class Results>
Results guarded(Results results, bool train, std::index_sequence<I...>) {
  if (train || !as_cudnn() || !at::GradMode::is_enabled() || !(std::get<I>(results).requires_grad() || ...)) return results;
  auto same = OnlyWhileTraining::apply(at::TensorList(std::vector<Tensor>{std::get<I>(results)...}));
  return {same[I]...};
}

// torch's own layer, made of small steps, between cuDNN's two refusals.
#define RECURRENT(NAME, COUNT, STATE)                                                                                \
  m.impl(#NAME ".input", [](const Tensor& input, STATE state, at::TensorList weights, bool biases, int64_t layers,   \
                            double dropout, bool train, bool both, bool batch_first) {                               \
    check_state(state);                                                                                              \
    return guarded(at::native::NAME(input, state, weights, biases, layers, dropout, train, both, batch_first),       \
                   train, std::make_index_sequence<COUNT>{});                                                        \
  });                                                                                                                \
  m.impl(#NAME ".data", [](const Tensor& data, const Tensor& sizes, STATE state, at::TensorList weights, bool biases,\
                           int64_t layers, double dropout, bool train, bool both) {                                  \
    check_state(state);                                                                                              \
    return guarded(at::native::NAME(data, sizes, state, weights, biases, layers, dropout, train, both),              \
                   train, std::make_index_sequence<COUNT>{});                                                        \
  });

std::tuple<Tensor, Tensor, Tensor> lstm_cell(
    const Tensor& of_input, const Tensor& of_state, const Tensor& c, const std::optional<Tensor>& b_input,
    const std::optional<Tensor>& b_state) {
  auto gates = of_input + of_state;
  if (b_input && b_input->defined()) gates = gates + *b_input + *b_state;
  auto parts = gates.chunk(4, 1);
  auto next = parts[1].sigmoid() * c + parts[0].sigmoid() * parts[2].tanh();
  return {parts[3].sigmoid() * next.tanh(), next, at::empty({0}, c.options())};
}

std::tuple<Tensor, Tensor> gru_cell(
    const Tensor& of_input, const Tensor& of_state, const Tensor& h, const std::optional<Tensor>& b_input,
    const std::optional<Tensor>& b_state) {
  const bool biases = b_input && b_input->defined();
  auto x = (biases ? of_input + *b_input : of_input).chunk(3, 1);
  auto s = (biases ? of_state + *b_state : of_state).chunk(3, 1);
  auto reset = (x[0] + s[0]).sigmoid(), keep = (x[1] + s[1]).sigmoid();
  auto fresh = (x[2] + reset * s[2]).tanh();
  return {(h - fresh) * keep + fresh, at::empty({0}, h.options())};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", lstm_cell);
  m.impl("_thnn_fused_gru_cell", gru_cell);
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", lstm_cell);
  m.impl("_thnn_fused_gru_cell", gru_cell);
  m.impl("_has_compatible_shallow_copy_type", may_become);
  RECURRENT(lstm, 3, at::TensorList)
  RECURRENT(gru, 2, const Tensor&)
  RECURRENT(rnn_tanh, 2, const Tensor&)
  RECURRENT(rnn_relu, 2, const Tensor&)
}

}  // namespace
