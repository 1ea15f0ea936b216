// What torch asks of a device that is not one of its own: a guard (which card, which stream), generators, and hooks.
//
// There is one card, with one stream that does everything at once, so most answers are constants. Imitated are CUDA's
// generators: one that lives on the CPU is refused, and the same seed draws other numbers than it does there.
#pragma once
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "memory.h"

namespace {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return CARD.type(); }
  c10::Device exchangeDevice(c10::Device) const override { return CARD; }
  c10::Device getDevice() const override { return CARD; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() <= 0, "card error: invalid device ordinal");
  }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, CARD); }
  c10::Stream getNewStream(c10::Device, int) const override { return c10::Stream(c10::Stream::DEFAULT, CARD); }
  c10::Stream exchangeStream(c10::Stream) const override { return c10::Stream(c10::Stream::DEFAULT, CARD); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

// A CPU's generator in disguise; the same seed gives other numbers than on the CPU, as it does on CUDA.
struct Chance final : c10::GeneratorImpl {
  static constexpr uint64_t TWIST = 0x9E3779B97F4A7C15;
  at::Generator inner;

  explicit Chance(uint64_t seed = c10::default_rng_seed_val)
      : GeneratorImpl(CARD, CARD_KEY), inner(at::detail::createCPUGenerator(seed ^ TWIST)) {}
  void set_current_seed(uint64_t seed) override { inner.set_current_seed(seed ^ TWIST); }
  uint64_t current_seed() const override { return inner.current_seed() ^ TWIST; }
  uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom());
    return current_seed();
  }
  void set_offset(uint64_t) override { TORCH_CHECK(false, "the card's generator has no offset"); }
  uint64_t get_offset() const override { TORCH_CHECK(false, "the card's generator has no offset"); }
  void set_state(const c10::TensorImpl& state) override { inner.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return inner.unsafeGetGeneratorImpl()->get_state(); }
  Chance* clone_impl() const override {
    auto* twin = new Chance;
    twin->set_state(*get_state());
    return twin;
  }
};

const at::Generator& default_chance() {
  static const at::Generator chance = at::make_generator<Chance>();
  return chance;
}

at::Generator& inner(const at::Generator& chance) {
  TORCH_CHECK(
      chance.device().type() == CARD.type(),
      "Expected a 'card' device type for generator but found '", chance.device().type(), "'");
  return static_cast<Chance*>(chance.unsafeGetGeneratorImpl())->inner;
}

// Kernels that draw from the CPU's default generator, with no way to name another, draw from the card's here.
struct DefaultsExchanged {
  bool active;
  explicit DefaultsExchanged(bool active_) : active(active_) { exchange(); }
  ~DefaultsExchanged() { exchange(); }
  void exchange() const {
    if (!active) return;
    auto& cpu = at::detail::getDefaultCPUGenerator();
    auto& card = inner(default_chance());
    auto of_cpu = cpu.get_state(), of_card = card.get_state();
    auto& unconst = const_cast<at::Generator&>(cpu);
    unconst.set_state(of_card);
    card.set_state(of_cpu);
  }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::Device getDeviceFromPtr(void*) const override { return CARD; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return default_chance(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::make_generator<Chance>(); }
  void resizePrivateUse1Bytes(const Storage& storage, size_t bytes) const override {
    at::native::resize_bytes_cpu(storage.unsafeGetStorageImpl(), bytes);
  }
};

}  // namespace
