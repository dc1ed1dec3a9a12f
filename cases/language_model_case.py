"""A training step of a small causal language model whose head is fused linear cross entropy."""

import torch

from flce_case import needs
from flce_worker.case import Case, Skipped
from flce_worker.names import dtype_of


class TinyModel(torch.nn.Module):
    """Embedding, one attention and MLP block, a head weight; the loss is FLCE over shifted tokens."""

    def __init__(self, vocabulary, hidden, dtype, arguments):
        from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as flce

        super().__init__()
        needs(flce, arguments)
        self.embedding = torch.nn.Embedding(vocabulary, hidden, dtype=dtype)
        self.mix = torch.nn.Linear(hidden, 3 * hidden, bias=False, dtype=dtype)
        self.up = torch.nn.Linear(hidden, 2 * hidden, bias=False, dtype=dtype)
        self.down = torch.nn.Linear(2 * hidden, hidden, bias=False, dtype=dtype)
        self.head = torch.nn.Linear(hidden, vocabulary, bias=False, dtype=dtype)
        self._flce, self._arguments = flce, arguments

    def forward(self, tokens):
        states = self.embedding(tokens)
        query, key, value = self.mix(states).chunk(3, dim=-1)
        states = states + torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.down(torch.nn.functional.silu(self.up(states)))
        states = states[:, :-1].reshape(-1, states.shape[-1])
        return self._flce(states, self.head.weight, tokens[:, 1:].reshape(-1), **self._arguments)


def build(parameters, shape, make):
    """tokens (2, bt / 2)."""
    arguments = {"accum_dtype": dtype_of(parameters.get("accum_dtype"))}
    torch.manual_seed(0)
    model = TinyModel(shape["v"], shape["h"], dtype_of(parameters.get("dtype", "bfloat16")), arguments)
    tensors = {"tokens": make.integers(shape["v"], 2, max(2, shape["bt"] // 2))}
    return Case(tensors=tensors, step=lambda tokens: model(tokens), modules={"model": model})


def build_llama(parameters, shape, make):
    """The Llama of Transformers with Liger applied, random weights. tokens (2, bt / 2). parameters["apply"]: what
    apply_liger_kernel_to_llama is told beyond its defaults."""
    try:
        import transformers
    except ModuleNotFoundError as error:
        missing = "" if error.name == "transformers" else f" that imports: {error}"
        raise Skipped("the environment has no transformers" + missing) from None
    from liger_kernel.transformers import apply_liger_kernel_to_llama

    torch.manual_seed(0)
    config = transformers.LlamaConfig(vocab_size=shape["v"], hidden_size=shape["h"], intermediate_size=2 * shape["h"],
                                      num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
                                      max_position_embeddings=64, tie_word_embeddings=False, use_cache=False)
    apply_liger_kernel_to_llama(**parameters.get("apply", {}))
    model = transformers.LlamaForCausalLM(config).to(dtype_of(parameters.get("dtype", "bfloat16"))).train()
    accum_dtype = dtype_of(parameters.get("accum_dtype"))
    tensors = {"tokens": make.integers(shape["v"], 2, max(2, shape["bt"] // 2))}

    def step(tokens):
        return model(input_ids=tokens, labels=tokens, accum_dtype=accum_dtype).loss

    return Case(tensors=tensors, step=step, modules={"model": model})
