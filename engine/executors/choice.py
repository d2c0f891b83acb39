"""Choice of the executor by the settings of the deployment."""

from engine.errors import Refused
from engine.executors.executor import Executor
from engine.executors.local import LocalExecutor
from engine.jobs.cancellation import ShouldStop
from engine.workspace import Workspace


def executor_of(workspace: Workspace, should_stop: ShouldStop) -> Executor:
    """Return the executor of the deployment (GLOSSATOR_ENGINE), for the parts of one job.

    Raises:
        Refused: It is "ray", and Ray is not installed.
    """
    if workspace.settings.engine == "local":
        return LocalExecutor(workspace, should_stop)
    try:
        from engine.executors.on_ray import RayExecutor
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise Refused("GLOSSATOR_ENGINE is ray, and Ray is not installed: pip install glossator[ray].") from None
    return RayExecutor(workspace)
