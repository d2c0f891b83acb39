"""Workers that start in milliseconds: this process imports everything, and forks a worker for each line of its input.

Each is a real worker in a process of its own, found through the environment as `glossator worker` is. The line says how
long a lease lasts, in seconds; the answer is the worker's process id.
"""

import os
import signal
import sys


def main() -> None:
    import torch

    import engine.training.retraining.run  # noqa: F401  (what a job imports when it runs)
    from engine.commands.servers.background import run_worker
    from engine.settings import Settings
    from engine.workspace import open_workspace

    torch.set_num_threads(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run_worker(open_workspace(Settings(), upgrade=False), lease_seconds=float(line))
            os._exit(0)
        sys.stdout.write(f"{process}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
