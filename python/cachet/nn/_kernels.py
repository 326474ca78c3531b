"""Attention with trained feature maps instead of the softmax, as a module."""
from __future__ import annotations

from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from cachet import ops
from cachet.ops._choices import number_of

KernelForm = Literal["elu", "linear", "orthogonal_linear", "glu", "oglu", "aoglu", "feed_forward"]


class _Form(NamedTuple):
    gated: bool = False
    orthogonal: bool = False
    trained: bool = True
    one_layer: bool = False


_FORMS = {
    "elu": _Form(trained=False, one_layer=True),
    "linear": _Form(one_layer=True),
    "orthogonal_linear": _Form(orthogonal=True, one_layer=True),
    "glu": _Form(gated=True),
    "oglu": _Form(gated=True, orthogonal=True),
    "aoglu": _Form(gated=True, orthogonal=True),
    "feed_forward": _Form(),
}
_ACTIVATIONS = {"gelu": 2, "sigmoid": 3}


def _orthogonal(weight: Tensor) -> None:
    """Draws matrices (H, n, n) from the uniform distribution over all orthogonal matrices."""
    with torch.no_grad():
        q, r = torch.linalg.qr(torch.randn(weight.shape, dtype=torch.float64))
        weight.copy_(q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2))


class _FeatureLayer(nn.Module):
    """The weights of one layer of a feature map.

    The weights are (H, n, n), or (1, n, n) if all heads use the same weights.
    """

    weight: nn.Parameter

    def __init__(self, form: KernelForm, heads: int, width: int, rank: int) -> None:
        super().__init__()
        shapes = {"weight": (width, width)}
        if form == "aoglu":
            shapes |= {"gate_down": (width, rank), "gate_up": (rank, width)}
        elif _FORMS[form].gated:
            shapes["gate"] = (width, width)
        for name, (rows, columns) in shapes.items():
            edge = (6 / (rows + columns)) ** 0.5
            self.register_parameter(name, nn.Parameter(torch.empty(heads, rows, columns).uniform_(-edge, edge)))
        if _FORMS[form].orthogonal:
            _orthogonal(self.weight)

    def joined(self) -> Tensor:
        """Returns the weight, concatenated with the weight of the gate if the layer has a gate."""
        parts = dict(self.named_parameters(recurse=False))
        if "gate_down" in parts:
            return torch.cat([self.weight, (parts["gate_down"] @ parts["gate_up"]).to(self.weight.dtype)], 2)
        return torch.cat([self.weight, parts["gate"]], 2) if "gate" in parts else self.weight


class KernelAttention(nn.Module):
    """Attention with the kernel φ(q)·φ(k) for positive features φ (ops.kernel_attention).

    The time of kernel attention is linear in the number of tokens. The layer implements trainable feed-forward kernels,
    arXiv 2211.04076. The form "elu" is from arXiv 2006.16236, Eq. 7.

    Args:
        num_heads: H, the number of heads.
        head_dim: n, the number of channels of a head.
        form: the form of the feature map, with weights W and gate weights G. "elu": elu(x) + 1. "linear":
            softplus(x·W). "orthogonal_linear": as "linear", with orthogonal W. "glu": layers x·W ⊙ σ(x·G), and the last
            layer softplus(x·W) ⊙ σ(x·G). "oglu": as "glu", with orthogonal W (see penalty). "aoglu": as "oglu", but G
            is the product of an n × r and an r × n matrix. "feed_forward": layers activation(x·W), and the last layer
            softplus(x·W).
        layers: the number of layers of the feature map. If `form` is "elu", "linear" or "orthogonal_linear",
            `layers` must be 1.
        gate_rank: the rank r of the gate weights in the form "aoglu". If `gate_rank` is 0, r is a quarter of head_dim.
        head_wise: whether each head has its own weights.
        penalty: the weight of Σ_h ‖WWᵀ − I‖²_F in orthogonality_loss().
        eps: the number that is added to the divisor of each query's output. If `eps` is not given, it is 1e-6 for the
            form "elu", and 0 for the other forms.
        activation: the activation of the form "feed_forward".

    Layer i of the feature map has the parameter features.i.weight. If the layer has a gate, the weights of the gate are
    features.i.gate, or for "aoglu" features.i.gate_down and features.i.gate_up.

    Raises:
        ValueError: If an option is out of its range.
    """

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        form: KernelForm = "glu",
        *,
        layers: int = 1,
        gate_rank: int = 0,
        head_wise: bool = True,
        penalty: float = 0.01,
        eps: float | None = None,
        activation: Literal["gelu", "sigmoid"] = "gelu",
    ) -> None:
        super().__init__()
        number_of("kernel_attention: form", form, {name: number for number, name in enumerate(_FORMS)})
        number_of("kernel_attention: activation", activation, _ACTIVATIONS)
        if num_heads < 1 or head_dim < 1:
            raise ValueError(
                f"kernel_attention: needs at least one head and one channel in each head, got {num_heads} heads of "
                f"{head_dim} channels"
            )
        if layers < 1 or (layers > 1 and _FORMS[form].one_layer):
            raise ValueError(
                'kernel_attention: layers must be at least 1, and must be 1 for "elu", "linear" and '
                f'"orthogonal_linear"; got {layers} for "{form}"'
            )
        if not 0 <= gate_rank <= head_dim:
            raise ValueError(
                f"kernel_attention: gate_rank must be from 0 to the number of channels of a head, {head_dim}, got "
                f"{gate_rank}"
            )
        if penalty < 0:
            raise ValueError(f"kernel_attention: penalty must be at least 0, got {penalty}")
        self.form, self.penalty = form, penalty
        self.eps = eps if eps is not None else (1e-6 if form == "elu" else 0.0)
        self.units = self._units(layers, activation)
        if _FORMS[form].trained:
            rank = gate_rank or max(1, head_dim // 4)
            heads = num_heads if head_wise else 1
            self.features = nn.ModuleList(_FeatureLayer(form, heads, head_dim, rank) for _ in range(layers))

    def _units(self, layers: int, activation: Literal["gelu", "sigmoid"]) -> list[ops.FeatureUnit]:
        if self.form == "elu":
            return ["elu_plus_one"]
        if _FORMS[self.form].gated:
            return [*["glu"] * (layers - 1), "softplus_glu"]  # type: ignore[list-item]
        return [*[activation] * (layers - 1), "softplus"]

    def feature_map(self) -> ops.FeatureMap:
        """Returns the feature map φ as an argument for the operators of cachet.ops."""
        layers = [cast(_FeatureLayer, layer) for layer in self.features] if _FORMS[self.form].trained else []
        return ops.FeatureMap([layer.joined() for layer in layers], self.units)

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, *, padding: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """Computes the attention of each head.

        Args:
            q: the queries, (B, H, Lq, n), floating-point.
            k: the keys, (B or 1, H, Lk, n). If the batch size of k is 1, all samples use the same keys.
            v: the values, (B or 1, H, Lk, e). If the batch size of v is 1, all samples use the same values.
            padding: (B, Lk), bool. True marks padding.
            causal: if true, query i of the Lq queries sees only those of the Lk keys with an index j ≤ i + Lk − Lq.

        Returns:
            The output, (B, H, Lq, e). If a query sees no key, its output is 0.

        Raises:
            RuntimeError: If the shapes or dtypes of the arguments do not agree.
        """
        return ops.kernel_attention(q, k, v, self.feature_map(), padding=padding, causal=causal, eps=self.eps)

    def stream(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        sums: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        causal: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """Computes the attention for one piece of a text. A query also sees the keys of all earlier pieces.

        Args:
            q: the queries, (B, H, Lq, n), floating-point.
            k: the keys, (B, H, Lk, n).
            v: the values, (B, H, Lk, e).
            sums: the sums that the call for the previous piece of the text returned. If `sums` is not given, this piece
                is the first piece of the text.
            padding: (B, Lk), bool. True marks padding.
            causal: if true, query i sees only the keys j ≤ i + Lk − Lq of this piece, and all keys of earlier pieces.

        Returns:
            The output (B, H, Lq, e), and the running sums over all keys so far, (B, H, m, e + 1).

        Raises:
            RuntimeError: If the shapes or dtypes of the arguments do not agree.
        """
        return ops.kernel_attention_stream(
            q, k, v, self.feature_map(), sums, padding=padding, causal=causal, eps=self.eps
        )

    def orthogonality_loss(self) -> Tensor:
        """Returns penalty · Σ ‖WWᵀ − I‖²_F over the weights that should be orthogonal.

        Add the returned penalty to the loss of the model. If the form has no orthogonal weights, the penalty is 0.
        """
        total = torch.zeros((), device=next((x.device for x in self.parameters()), None))
        if not _FORMS[self.form].orthogonal:
            return total
        for layer in self.features:
            weight = cast(_FeatureLayer, layer).weight
            wide = weight.to(torch.promote_types(weight.dtype, torch.float32))
            gram = wide @ wide.mT
            total = total + (gram - torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)).square().sum()
        return total * self.penalty

    def extra_repr(self) -> str:
        """Returns the form, the number of layers and eps, as text."""
        return f'"{self.form}", layers={len(self.units)}, eps={self.eps}'
