/* A kernel for AMD GPUs. */
__attribute__((amdgpu_kernel)) void scale(__attribute__((address_space(1))) int *x) { *x *= 3; }
