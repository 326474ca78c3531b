#include "cachet/train/profile/kernel_family.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cachet::train {
namespace {

using Family = KernelFamily;
using Names = std::vector<std::pair<const char*, Family>>;

TEST(KernelFamily, NamesCanBeReadBack) {
  std::set<std::string_view> names;
  for (const Family family : kKernelFamilies) {
    EXPECT_EQ(kernel_family_named(to_string(family)), family);
    names.insert(to_string(family));
  }
  EXPECT_EQ(names.size(), kKernelFamilies.size());
  EXPECT_EQ(kernel_family_named("gemm"), std::nullopt);
}

TEST(KernelFamily, OfOperators) {
  const Names names{
      {"aten::addmm", Family::products},
      {"aten::mm", Family::products},
      {"aten::_addmm_activation", Family::products},
      {"cachet::linear_gelu_backward", Family::products},
      {"cachet::linear_cross_entropy", Family::products},
      {"aten::_softmax", Family::attention},
      {"aten::_softmax_backward_data", Family::attention},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", Family::attention},
      {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", Family::attention},
      {"cachet::softmax_attention", Family::attention},
      {"cachet::kernel_attention_fused_backward", Family::attention},
      {"cachet::grc_update", Family::cache},
      {"cachet::grc_update_backward", Family::cache},
      {"cachet::mix_heads", Family::cache},
      {"aten::native_layer_norm", Family::norm},
      {"aten::native_layer_norm_backward", Family::norm},
      {"aten::native_batch_norm", Family::norm},
      {"cachet::unified_norm_backward", Family::norm},
      {"aten::mkldnn_convolution", Family::convolution},
      {"aten::convolution_overrideable", Family::convolution},
      {"aten::convolution_backward", Family::convolution},
      {"aten::max_pool2d_with_indices_backward", Family::convolution},
      {"aten::add_", Family::elementwise},
      {"aten::gelu_backward", Family::elementwise},
      {"aten::_foreach_mul_", Family::elementwise},
      {"aten::where", Family::elementwise},
      {"aten::sum", Family::reductions},
      {"aten::_foreach_norm", Family::reductions},
      {"aten::_log_softmax_backward_data", Family::reductions},
      {"aten::nll_loss_forward", Family::reductions},
      {"aten::_fused_adamw_", Family::optimizer},
      {"aten::_fused_sgd_", Family::optimizer},
      {"aten::copy_", Family::copies},
      {"aten::_to_copy", Family::copies},
      {"aten::cat", Family::copies},
      {"aten::index_select", Family::copies},
      {"aten::embedding_dense_backward", Family::copies},
      {"aten::select_backward", Family::copies},
      {"aten::zeros_like", Family::copies},
      {"aten::bernoulli_", Family::random},
      {"aten::native_dropout", Family::random},
      {"cachet::dropout", Family::random},
      {"aten::view", Family::other},
      {"aten::select", Family::other},
      {"aten::empty", Family::other},
      {"AddmmBackward0", Family::other},
      {"autograd::engine::evaluate_function: AddmmBackward0", Family::other},
      {"mine::addmm", Family::other},
  };
  for (const auto& [name, family] : names) EXPECT_EQ(to_string(family_of_operator(name)), to_string(family)) << name;
}

/// Operators of Cachet without a family would be missing from the families of their papers.
TEST(KernelFamily, EveryOperatorOfCachetHasOne) {
  size_t count = 0;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("cachet::")) continue;
    ++count;
    EXPECT_NE(family_of_operator(name.name), Family::other) << name.name;
  }
  EXPECT_GT(count, 30U);
}

/// Names from published profiles of PyTorch on Volta, Ampere and Hopper GPUs.
TEST(KernelFamily, OfCudaKernels) {
  const Names names{
      {"ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_32x3_nn", Family::products},
      {"volta_sgemm_32x128_tn", Family::products},
      {"nvjet_tst_128x24_64x11_2x1_v_bz_TNT", Family::products},
      {"cutlass_70_tensorop_f16_s884gemm_relu_f16_128x128_tn_align8", Family::products},
      {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>"
       "(cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4::Params)",
       Family::products},
      {"void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false>", Family::products},
      {"void reduce_1Block_kernel<float, 128, 7, cublasGemvTensorStridedBatched<float>>", Family::products},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, cutlass::arch::Sm80, "
       "true, 64, 64, 64, true, true>::Params)",
       Family::attention},
      {"fmha_cutlassB_f16_aligned_64x64_k64_dropout_sm75", Family::attention},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)", Family::attention},
      {"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", Family::attention},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16", Family::attention},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::Half, float, c10::Half, "
       "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(c10::Half*, c10::Half const*, int)",
       Family::attention},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
       "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)",
       Family::reductions},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half, float>(int, float, "
       "c10::Half const*, c10::Half const*, c10::Half const*, float*, float*, c10::Half*)",
       Family::norm},
      {"void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float, float, false>(long, float, "
       "float const*, float*, float*)",
       Family::norm},
      {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, 32u, 1u, 32u, true, "
       "true, false>(long, long, float const*, float const*, float const*, float const*, float*, float*)",
       Family::norm},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<__half, float, 512, true, 1, true>", Family::norm},
      {"sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize32x256x32_stage3",
       Family::convolution},
      {"sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc", Family::convolution},
      {"maxwell_scudnn_winograd_128x128_ldg1_ldg4_relu_tile418n_nt", Family::convolution},
      {"void cudnn::detail::implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, true, false, true>",
       Family::convolution},
      {"void conv2d_grouped_direct_kernel<float>", Family::convolution},
      {"void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::BFloat16, "
       "&at::native::nearest_neighbor_exact_compute_source_index>",
       Family::convolution},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
       "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
       Family::elementwise},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::silu_kernel"
       "(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}>",
       Family::elementwise},
      {"void op_tensor_kernel<int=2, float, float, float, int=32, int=1, int=4, int=2>", Family::elementwise},
      {"triton_poi_fused_6", Family::elementwise},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
       "at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
       "unsigned int, float, 4, 4> >",
       Family::reductions},
      {"void at_cuda_detail::cub::DeviceReduceSingleTileKernel<float>", Family::reductions},
      {"void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>",
       Family::reductions},
      {"void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800, false>",
       Family::reductions},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
       "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
       "(at::native::ADAM_MODE)1, false>>",
       Family::optimizer},
      {"Memcpy HtoD (Pinned -> Device)", Family::copies},
      {"Memset (Device)", Family::copies},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 128, 1>", Family::copies},
      {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
       "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>",
       Family::copies},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1>>",
       Family::copies},
      {"void at::native::sum_and_scatter<float, float, 4, 32>", Family::copies},
      {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, void "
       "at::native::templates::cuda::normal_and_transform<c10::BFloat16, float>",
       Family::random},
      {"void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, bool>",
       Family::random},
      {"void nchwToNhwcKernel<__half, __half, float, true, false, (cudnnKernelDataType_t)0>", Family::convolution},
      {"_rope_kernel", Family::other},
  };
  for (const auto& [name, family] : names) EXPECT_EQ(to_string(family_of_cuda_kernel(name)), to_string(family)) << name;
}

}  // namespace
}  // namespace cachet::train
