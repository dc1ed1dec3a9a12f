"""One case on one device: fresh leaves, one call of the step, backward."""

import torch


class Runner:
    def __init__(self, case, seed, device="cuda"):
        self.case = case
        self._seed = seed
        self._device = device
        self.tensors = {}
        self.leaves = {}
        self.result = None

    def place(self):
        """Moves the inputs to the device; placeholders become uninitialised memory there."""
        for name, tensor in self.case.tensors.items():
            if tensor.device.type == "meta":
                self.tensors[name] = torch.empty(tensor.shape, dtype=tensor.dtype, device=self._device)
            else:
                self.tensors[name] = tensor.to(self._device)
        for module in self.case.modules.values():
            module.to(self._device)

    def inputs_bytes(self):
        """What the inputs, parameters included, hold on the device."""
        tensors = list(self.tensors.values())
        for module in self.case.modules.values():
            tensors += [*module.parameters(), *module.buffers()]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def gradients_bytes(self):
        """What the gradients of the last run hold, in the allocator's units of 512 bytes."""
        tensors = [leaf.grad for leaf in self.leaves.values()]
        for module in self.case.modules.values():
            tensors += [parameter.grad for parameter in module.parameters()]
        return sum(-(-tensor.numel() * tensor.element_size() // 512) * 512 for tensor in tensors if tensor is not None)

    def run(self, step, on_backward=lambda: None):
        """One forward and, if the case has one, backward. True if a backward ran."""
        self.release()
        torch.manual_seed(self._seed)
        self.leaves = {name: tensor.detach().requires_grad_(name in self.case.trainable)
                       for name, tensor in self.tensors.items()}
        gradient = self.leaves.pop(self.case.gradient) if self.case.gradient else None
        with self.case.around():
            self.result = step(**self.leaves)
        loss = self.loss()
        if not self.case.backward or loss is None or not loss.requires_grad:
            return False
        on_backward()
        loss.backward(gradient)
        return True

    def run_widened(self):
        """An eager run in fp32 throughout, autocast off: what a 16-bit run would return if it never rounded. The last run of a
        cell, for tensors and modules stay wide. Raises what the step raises of fp32 operands."""
        self.release()
        for module in self.case.modules.values():
            module.float()
        self.tensors = {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in self.tensors.items()}

        def step(**leaves):
            with torch.autocast(self._device, enabled=False):
                return self.case.step(**leaves)

        return self.run(step)

    def loss(self):
        result = self.result
        if isinstance(result, (tuple, list)):
            result = result[0] if result else None
        return result if isinstance(result, torch.Tensor) else None

    def release(self):
        """Drops the last run's result and gradients."""
        self.leaves = {}
        self.result = None
        for module in self.case.modules.values():
            module.zero_grad(set_to_none=True)

    def outputs(self):
        """name -> tensor: the loss and the gradients of the last run. grad_w is the gradient of a tensor named w."""
        found = {}
        loss = self.loss()
        if loss is not None:
            found["loss" if self.case.backward else "result"] = loss.detach()
        for name in self.case.trainable:
            leaf = self.leaves.get(name)
            if leaf is not None and leaf.grad is not None:
                found[f"grad_{name}"] = leaf.grad
        for owner, module in self.case.modules.items():
            for name, parameter in module.named_parameters():
                if parameter.grad is not None:
                    found[f"grad_{owner}.{name}"] = parameter.grad
        return found
