"""What a case module builds: inputs on the CPU and a step that is run eagerly and compiled."""

import contextlib
import dataclasses
from typing import Any, Callable, Dict, Optional, Sequence


@dataclasses.dataclass
class Case:
    """`step(**tensors)` returns the loss (or another result if nothing is trained).

    tensors    name -> CPU tensor (or a placeholder of InputMaker); moved to the device by the harness
    trainable  names of those that get a gradient
    modules    name -> torch.nn.Module; moved to the device, their parameters get gradients too
    around     makes a context manager that surrounds the call of the step, e.g. autocast
    gradient   name of the tensor that is the upstream gradient; None: the loss is a scalar
    backward   False if the step's result is not differentiable
    needs_values  True if sizes depend on computed values: the emulated device, which computes none, cannot run it
    """

    tensors: Dict[str, Any]
    step: Callable[..., Any]
    trainable: Sequence[str] = ()
    modules: Dict[str, Any] = dataclasses.field(default_factory=dict)
    around: Callable[[], Any] = contextlib.nullcontext
    gradient: Optional[str] = None
    backward: bool = True
    needs_values: bool = False


class Skipped(Exception):
    """Raised by a case's build function when the environment lacks what the case needs; the message says what."""


class InputMaker:
    """Input tensors from one seed, made on the CPU so that they are the same on every machine.

    Where no value is ever computed (the emulated device) tensors of more than `largest_bytes` are placeholders on the
    meta device: the harness allocates them uninitialised, and the host needs no memory for them."""

    def __init__(self, seed, largest_bytes=None):
        import torch

        self._torch = torch
        self._generator = torch.Generator().manual_seed(seed)
        self._largest = largest_bytes

    def normal(self, *shape, dtype, scale=1.0):
        placeholder = self._placeholder(shape, dtype)
        if placeholder is not None:
            return placeholder
        values = self._torch.randn(*shape, generator=self._generator)
        return (values * scale if scale != 1.0 else values).to(dtype)

    def uniform(self, *shape, dtype, low=0.0, high=1.0):
        placeholder = self._placeholder(shape, dtype)
        if placeholder is not None:
            return placeholder
        return (self._torch.rand(*shape, generator=self._generator) * (high - low) + low).to(dtype)

    def integers(self, high, *shape):
        return self._torch.randint(high, shape, generator=self._generator)

    def chance(self, probability, *shape):
        """A boolean tensor, True with the given probability."""
        return self._torch.rand(*shape, generator=self._generator) < probability

    def _placeholder(self, shape, dtype):
        if self._largest is None:
            return None
        empty = self._torch.empty(*shape, dtype=dtype, device="meta")
        return empty if empty.numel() * empty.element_size() > self._largest else None
