#include "cachet/ops/support/registration.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/ops/support/operator_handle.h"

namespace cachet {
namespace {

using at::Tensor;
using ops::fused_on;
using ops::FusedOn;

// A tensor whose device is a GPU. It has no memory, so that no GPU is needed.
Tensor as_on_gpu(at::ScalarType type = at::kFloat) {
  const c10::Device device(c10::kCUDA, 0);
  Tensor x = at::detail::make_tensor<c10::TensorImpl>(c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                                      c10::scalarTypeToTypeMeta(type), device);
  x.unsafeGetTensorImpl()->set_sizes_contiguous({3});
  return x;
}

// Forms that show which of them ran.
Tensor composition(const Tensor&) { return at::scalar_tensor(0.0); }
Tensor cpu_form(const Tensor&) { return at::scalar_tensor(1.0); }
Tensor cuda_form(const Tensor&) { return at::scalar_tensor(2.0); }

using Probe = Tensor(const Tensor&);

Tensor both_autograd(const Tensor& x) {
  if (fused_on(x, "probe_both") == FusedOn::none) return composition(x);
  static const auto op = ops::operator_handle<Probe>("cachet_test::probe_both");
  at::AutoDispatchBelowADInplaceOrView below;
  return op.call(x);
}

TORCH_LIBRARY(cachet_test, m) {
  ops::Operator(m, "probe_cpu(Tensor x) -> Tensor").composite(composition).cpu(cpu_form);
  ops::Operator(m, "probe_both(Tensor x) -> Tensor")
      .composite(composition)
      .cpu(cpu_form)
      .cuda(cuda_form)
      .autograd(both_autograd);
}

double ran(const char* name, const Tensor& x) { return ops::operator_handle<Probe>(name).call(x).item<double>(); }

bool registered(const char* name, c10::DispatchKey key) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").hasKernelForDispatchKey(key);
}

TEST(Operator, RegistersAFormForEachDevice) {
  EXPECT_TRUE(registered("cachet_test::probe_cpu", c10::DispatchKey::CPU));
  EXPECT_FALSE(registered("cachet_test::probe_cpu", c10::DispatchKey::CUDA));
  EXPECT_TRUE(registered("cachet_test::probe_both", c10::DispatchKey::CPU));
  EXPECT_TRUE(registered("cachet_test::probe_both", c10::DispatchKey::CUDA));
}

TEST(Operator, RunsTheFormOfTheTensorsDevice) {
  EXPECT_EQ(ran("cachet_test::probe_cpu", at::ones({3})), 1);
  EXPECT_EQ(ran("cachet_test::probe_cpu", as_on_gpu()), 0) << "without a form for CUDA, the composition runs there";
  EXPECT_EQ(ran("cachet_test::probe_both", at::ones({3})), 1);
  EXPECT_EQ(ran("cachet_test::probe_both", as_on_gpu()), 2);
  EXPECT_EQ(ran("cachet_test::probe_both", as_on_gpu(at::kDouble)), 0) << "no kernel reads float64";
  const ops::CompositeOnly composite_only;
  EXPECT_EQ(ran("cachet_test::probe_both", as_on_gpu()), 0);
  EXPECT_EQ(ran("cachet_test::probe_both", at::ones({3})), 0);
}

TEST(FusedOn, IsTheDeviceOfATensorIfTheOperatorHasAFormForIt) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    EXPECT_EQ(fused_on(at::ones({3}, type)), FusedOn::cpu);
    EXPECT_EQ(fused_on(at::ones({3}, type), "probe_cpu"), FusedOn::cpu);
    EXPECT_EQ(fused_on(at::ones({3}, type), "probe_both"), FusedOn::cpu);
    EXPECT_EQ(fused_on(as_on_gpu(type)), FusedOn::none) << "no operator is named";
    EXPECT_EQ(fused_on(as_on_gpu(type), "probe_cpu"), FusedOn::none);
    EXPECT_EQ(fused_on(as_on_gpu(type), "probe_both"), FusedOn::cuda);
  }
}

TEST(FusedOn, IsNoneForTypesDevicesAndSettingsWithoutKernels) {
  for (const auto type : {at::kDouble, at::kHalf, at::kLong}) {
    EXPECT_EQ(fused_on(at::ones({3}, type), "probe_both"), FusedOn::none) << type;
    EXPECT_EQ(fused_on(as_on_gpu(type), "probe_both"), FusedOn::none) << type;
  }
  EXPECT_EQ(fused_on(at::empty({3}, at::device(at::kMeta)), "probe_both"), FusedOn::none);
  const ops::CompositeOnly composite_only;
  EXPECT_EQ(fused_on(at::ones({3}), "probe_both"), FusedOn::none);
  EXPECT_EQ(fused_on(as_on_gpu(), "probe_both"), FusedOn::none);
}

TEST(TunedForCpu, HoldsForFloatTensorsOnTheCpu) {
  EXPECT_TRUE(ops::tuned_for_cpu(at::ones({3})));
  EXPECT_TRUE(ops::tuned_for_cpu(at::ones({3}, at::kBFloat16)));
  EXPECT_FALSE(ops::tuned_for_cpu(at::ones({3}, at::kDouble)));
  EXPECT_FALSE(ops::tuned_for_cpu(as_on_gpu()));
  const ops::CompositeOnly composite_only;
  EXPECT_FALSE(ops::tuned_for_cpu(at::ones({3})));
}

}  // namespace
}  // namespace cachet
