"""Short names of dtypes, as the launch log has them."""

_SHORT = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
          "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}


def dtype_name(dtype):
    """torch.bfloat16 -> "bf16"; None -> None; an unlisted one keeps torch's name."""
    if dtype is None:
        return None
    text = str(dtype).rsplit(".", 1)[-1]
    return _SHORT.get(text, text)


def dtype_of(text):
    """A case parameter ("bfloat16", null) as a torch dtype."""
    import torch

    if text is None:
        return None
    dtype = getattr(torch, text, None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"'{text}' is not a dtype of torch")
    return dtype
