// Every operation that has no kernel of the card's own: the CPU computes it, under a GPU's conditions.
//
// torch generates the devices' checks of CUDA's operations from `native_functions.yaml`; the same rules are applied here
// (`device_check`; zero-dimensional tensors and indices of the CPU may take part where CUDA lets them). A fault that CUDA
// finds only while a kernel runs becomes its device-side assert, after which a real card's process is lost.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "device.h"

namespace {

using at::IValue;
using torch::jit::Stack;

// Names of operations whose CUDA kernels check devices themselves: zero-dimensional CPU tensors may take part.
std::unordered_set<std::string>& lenient() {
  static std::unordered_set<std::string> names;
  return names;
}

struct Plan {  // what an operation's schema says about its arguments, read once
  std::string name;
  bool scalars_from_cpu = false, indices_from_cpu = false, draws_without_generator = false;
  std::vector<bool> written, is_generator;
};

const Plan& plan_of(const c10::OperatorHandle& op) {
  static std::mutex mutex;
  static std::unordered_map<const c10::FunctionSchema*, Plan> plans;
  std::lock_guard<std::mutex> lock(mutex);
  const auto& schema = op.schema();
  auto [place, fresh] = plans.try_emplace(&schema);
  Plan& plan = place->second;
  if (!fresh) return plan;
  plan.name = schema.name().substr(schema.name().find("::") + 2);
  const auto full = schema.overload_name().empty() ? plan.name : plan.name + "." + schema.overload_name();
  plan.scalars_from_cpu = lenient().count(full) > 0;
  plan.indices_from_cpu = plan.name.find("index_put") != std::string::npos || plan.name == "index";
  bool has_generator = false;
  for (const auto& argument : schema.arguments()) {
    const auto* alias = argument.alias_info();
    plan.written.push_back(alias && alias->isWrite());
    auto type = argument.type();
    if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    plan.is_generator.push_back(type->kind() == c10::TypeKind::GeneratorType);
    has_generator = has_generator || plan.is_generator.back();
  }
  plan.draws_without_generator = !has_generator && op.hasTag(at::Tag::nondeterministic_seeded);
  return plan;
}

void check_device(const Plan& plan, const c10::Argument& argument, const Tensor& tensor, bool written) {
  if (tensor.device() == CARD) return;
  // The mask of `masked_fill` is no number to be computed with: CUDA refuses it on the CPU whatever its shape.
  const bool scalar = tensor.is_cpu() && tensor.dim() == 0 && !written && argument.name() != "mask";
  if (scalar && plan.scalars_from_cpu) return;
  if (tensor.is_cpu() && plan.indices_from_cpu && argument.name() == "indices") return;
  TORCH_CHECK(  // the words of torch's `check_device_common_type`
      false, "Expected all tensors to be on the same device, but got ", argument.name(), " is on ", tensor.device(),
      ", different from other tensors on ", CARD, " (when checking argument in method wrapper_card_", plan.name, ")");
}

// The tensors of one call, lent to the CPU; what shares memory on the card shares it there too.
class Lent {
  std::vector<std::pair<Storage, Storage>> pairs_;  // (on the card, on the CPU)
  std::vector<std::pair<Tensor, Tensor>> written_;

 public:
  Tensor to_cpu(const Tensor& tensor, bool written) {
    if (!tensor.defined() || tensor.device() != CARD) return tensor;
    const auto& storage = tensor.storage();
    const Storage* lent = nullptr;
    for (const auto& [card, cpu] : pairs_)
      if (card.is_alias_of(storage)) lent = &cpu;
    if (!lent) {
      pairs_.emplace_back(storage, same_storage(storage, at::kCPU, c10::GetCPUAllocator()));
      lent = &pairs_.back().second;
    }
    auto made = tensor_on(*lent, c10::DispatchKeySet(c10::DispatchKey::CPU), tensor);
    if (written) written_.emplace_back(tensor, made);
    return made;
  }

  Tensor to_card(const Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cpu()) return tensor;
    for (const auto& [card, cpu] : written_)
      if (cpu.is_same(tensor)) return card;
    check_dtype(tensor.scalar_type());
    const auto& storage = tensor.storage();
    for (const auto& [card, cpu] : pairs_)
      if (cpu.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) return tensor_on(card, CARD_KEY, tensor);
    pairs_.emplace_back(same_storage(storage, CARD, &memory), storage);
    return tensor_on(pairs_.back().first, CARD_KEY, tensor);
  }

  // Operations give results other sizes (`out=`), for which they may have taken other memory.
  void take_back() {
    for (const auto& [card, cpu] : written_) {
      const auto& mine = card.storage();
      if (mine.data() != cpu.storage().data()) {
        mine.unsafeGetStorageImpl()->set_data_ptr_noswap(same_bytes(cpu.storage(), CARD));
        mine.unsafeGetStorageImpl()->set_nbytes(cpu.storage().nbytes());
      }
      if (card.sizes() != cpu.sizes() || card.strides() != cpu.strides())
        card.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
    }
  }
};

bool stops_a_card(const std::string& fault) {  // what a kernel finds out while it runs, and not the code before it
  if (fault.find("Dimension out of range") != std::string::npos) return false;
  for (const char* known :
       {"index out of range in self", "is out of bounds for dimension", "is out of bounds.", "out of range: ",
        "probability tensor contains", "invalid multinomial distribution", "all elements of input should be between",
        "Expected p_in >= 0"})
    if (fault.find(known) != std::string::npos) return true;
  return false;
}

// How many operations the card has computed, so that a test can see that something ran on it at all.
std::atomic<int64_t> calls{0};

// A tensor of the CPU with a generator of the card: torch sends the call here because of the generator alone.
void refuse_card_generator(const Plan& plan, const IValue* arguments) {
  for (size_t i = 0; i < plan.is_generator.size(); ++i) {
    const bool of_card = plan.is_generator[i] && !arguments[i].isNone() && arguments[i].toGenerator().device() == CARD;
    TORCH_CHECK(
        !of_card || !arguments[0].isTensor() || !arguments[0].toTensor().is_cpu(),
        "Expected a 'cpu' device type for generator but found 'card'");
  }
}

// Applies `change` to the tensor, or to each tensor of a list; says whether there was one.
template <class Change>
bool change_tensors(IValue& value, Change change) {
  if (value.isTensor()) {
    value = change(value.toTensor());
  } else if (value.isTensorList()) {
    auto tensors = value.toTensorVector();
    for (auto& tensor : tensors) tensor = change(tensor);
    value = c10::List<Tensor>(tensors);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<Tensor>> tensors;
    for (const std::optional<Tensor>& tensor : value.toOptionalTensorVector())
      tensors.push_back(tensor ? std::optional<Tensor>(change(*tensor)) : std::nullopt);
    value = tensors;
  } else {
    return false;
  }
  return true;
}

void lend_arguments(const Plan& plan, const c10::FunctionSchema& schema, IValue* values, Lent& lent) {
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    auto lend = [&](const Tensor& tensor) {
      if (tensor.defined()) check_device(plan, schema.arguments()[i], tensor, plan.written[i]);
      return lent.to_cpu(tensor, plan.written[i]);
    };
    if (change_tensors(values[i], lend)) continue;
    if (values[i].isDevice() && values[i].toDevice().type() == CARD.type()) {
      values[i] = c10::Device(at::kCPU);
    } else if (plan.is_generator[i]) {
      values[i] = inner(values[i].isNone() ? default_chance() : values[i].toGenerator());
    }
  }
}

void compute(const c10::OperatorHandle& op, Stack* stack) {
  ++calls;
  const auto& plan = plan_of(op);
  const auto& schema = op.schema();
  IValue* arguments = stack->data() + stack->size() - schema.arguments().size();
  refuse_card_generator(plan, arguments);
  Lent lent;
  lend_arguments(plan, schema, arguments, lent);
  try {
    DefaultsExchanged exchanged(plan.draws_without_generator);
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  } catch (const c10::Error& error) {
    if (!stops_a_card(error.what_without_backtrace())) throw;
    TORCH_CHECK(false, "card error: device-side assert triggered (in ", plan.name, "; a real card's process is lost)");
  }
  lent.take_back();
  for (auto place = stack->size() - schema.returns().size(); place < stack->size(); ++place)
    change_tensors((*stack)[place], [&](const Tensor& tensor) { return lent.to_card(tensor); });
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&compute>());
}

// torch would make these of other operations on a device that it does not know; CUDA has kernels of its own for them.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const char* name : {"addr", "addr.out", "native_layer_norm", "native_group_norm"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&compute>());
}

}  // namespace
