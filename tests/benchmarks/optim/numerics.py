"""F^{-1} g against a dense float64 solve: the dual form that is used, beside Woodbury as published. `python tests/benchmarks/optim_numerics.py`"""

from __future__ import annotations

import torch

from model.optim import fisher

SIZE, WINDOW = 400, 10


def main() -> None:
    torch.manual_seed(0)
    exact = (0.3 * torch.randn(SIZE, WINDOW).double() + torch.randn(SIZE, 1).double()) * 1e-2
    print("Relative error of F^{-1} g; k = 400, s = 10, columns that share a direction")
    print(f"{'dtype':>8} {'lambda / mean |g|^2':>20} {'dual':>9} {'Woodbury':>9}")
    for dtype in (torch.float64, torch.float32):
        for relative in (1.0, 1e-2, 1e-4, 1e-6):
            columns = exact.to(dtype)
            damping = relative * float(exact.square().sum()) / WINDOW
            truth = fisher.dense_solve(columns.double(), columns[:, -1].double(), damping)
            found = (
                fisher.dual_solve(columns, WINDOW - 1, damping),
                fisher.woodbury_solve(columns, columns[:, -1], damping),
            )
            dual, woodbury = (float((each.double() - truth).norm() / truth.norm()) for each in found)
            print(f"{str(dtype)[6:]:>8} {relative:20.0e} {dual:9.1e} {woodbury:9.1e}")

    print("\nStreaming Gram matrix against recomputed, relative, after 1,000 columns (window 10, k = 4096)")
    for dtype in (torch.float32, torch.bfloat16):
        history, gram = torch.zeros(1, WINDOW, 4096, dtype=dtype), torch.zeros(1, WINDOW, WINDOW, dtype=torch.float64)
        for step in range(1000):
            fisher.push_column(history, gram, fisher.stored_column(torch.randn(1, 4096), history), step % WINDOW)
        truth = history.double() @ history.double().mT
        print(f"{str(dtype)[6:]:>8} {float((gram - truth).norm() / truth.norm()):.1e}")


if __name__ == "__main__":
    main()
