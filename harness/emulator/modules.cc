#include "harness/emulator/modules.h"

#include <utility>

namespace flce::emulator {
namespace {

// What a kernel of a compressed fat binary is taken to use: its code is not unpacked to look.
constexpr int kAssumedRegisters = 32;

}  // namespace

const Image& Module::image() {
  if (!read_) {
    read_ = true;
    if (data_ != nullptr && ReadImage(data_, image_) != Status::kSuccess) image_ = Image();
  }
  return image_;
}

Status Module::Find(const std::string& name, bool known, const DeviceProfile& profile, Kernel** kernel) {
  if (const auto it = kernels_.find(name); it != kernels_.end()) {
    *kernel = it->second.get();
    return Status::kSuccess;
  }
  const auto code = image().kernels.find(name);
  if (code == image().kernels.end() && !known && image().lists_kernels) return Status::kNotFound;
  auto made = std::make_unique<Kernel>();
  made->name = name;
  made->module = this;
  made->code = code != image().kernels.end() ? code->second : KernelCode{kAssumedRegisters, 0, 0};
  made->max_dynamic_shared = profile.shared_memory_per_block - made->code.static_shared_bytes;
  *kernel = made.get();
  kernels_.emplace(name, std::move(made));
  return Status::kSuccess;
}

Module* Modules::RegisterFatBinary(const void* wrapper) {
  auto module = std::make_unique<Module>(FatBinaryOf(wrapper));
  Module* handle = module.get();
  modules_.emplace(handle, std::move(module));
  return handle;
}

void Modules::UnregisterFatBinary(Module* module) {
  if (modules_.count(module) == 0) return;
  for (const void* stub : module->stubs) {
    const auto it = stubs_.find(stub);
    if (it == stubs_.end() || it->second.module != module) continue;
    if (it->second.kernel != nullptr) kernels_.erase(it->second.kernel);
    stubs_.erase(it);
  }
  for (const void* variable : module->variables) symbols_.erase(variable);
  modules_.erase(module);
}

void Modules::RegisterFunction(Module* module, const void* stub, const char* name) {
  stubs_[stub] = Stub{module, name, nullptr};
  module->stubs.push_back(stub);
}

void Modules::RegisterVariable(Module* module, const void* host, const char* name, std::size_t size) {
  symbols_[host] = Symbol{name, size, nullptr};
  module->variables.push_back(host);
}

Status Modules::Load(const void* data, const DeviceProfile& profile, Module** module) {
  Image image;
  if (const Status status = ReadImage(data, image); status != Status::kSuccess) return status;
  if (!image.RunsOn(profile.capability())) return Status::kNoKernelImage;
  auto made = std::make_unique<Module>(data);
  made->image();  // now: the caller may free the data when this returns
  *module = made.get();
  modules_.emplace(made.get(), std::move(made));
  return Status::kSuccess;
}

Status Modules::Unload(const void* module) {
  const auto it = modules_.find(module);
  if (it == modules_.end()) return Status::kInvalidHandle;
  std::erase_if(kernels_, [module](const void* kernel) {
    return static_cast<const Kernel*>(kernel)->module == module;
  });
  modules_.erase(it);
  return Status::kSuccess;
}

Status Modules::FindKernel(const void* module, const char* name, const DeviceProfile& profile, Kernel** kernel) {
  const auto it = modules_.find(module);
  if (it == modules_.end()) return Status::kInvalidHandle;
  if (name == nullptr) return Status::kInvalidValue;
  const Status status = it->second->Find(name, false, profile, kernel);
  if (status == Status::kSuccess) kernels_.insert(*kernel);
  return status;
}

Status Modules::Resolve(const void* function, const DeviceProfile& profile, Kernel** kernel) {
  if (const auto it = stubs_.find(function); it != stubs_.end()) {
    Stub& stub = it->second;
    if (!stub.module->image().RunsOn(profile.capability())) return Status::kNoKernelImage;
    if (stub.kernel == nullptr) {
      const Status status = stub.module->Find(stub.name, true, profile, &stub.kernel);
      if (status != Status::kSuccess) return status;
      kernels_.insert(stub.kernel);
    }
    *kernel = stub.kernel;
    return Status::kSuccess;
  }
  if (kernels_.count(function) == 0) return Status::kInvalidDeviceFunction;
  *kernel = static_cast<Kernel*>(const_cast<void*>(function));
  // A profile set after the kernel was found (in a forked child) may be of another card.
  return (*kernel)->module->image().RunsOn(profile.capability()) ? Status::kSuccess : Status::kNoKernelImage;
}

Symbol* Modules::FindSymbol(const void* host) {
  const auto it = symbols_.find(host);
  return it == symbols_.end() ? nullptr : &it->second;
}

}  // namespace flce::emulator
