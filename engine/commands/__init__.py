"""The commands, one file a group, in rooms by who gives them.

Each file has `register(app)`; heavy modules are imported when a command runs.
"""

from engine.commands.administration import audit, checks, figures, jobs, projects, status, users
from engine.commands.annotation import answers, ask, documents, review, selection, tasks
from engine.commands.datasets import export, importing, pseudo_label, snapshots, synth
from engine.commands.servers import serve, worker
from engine.commands.training import evaluate, models, pretrain, retrain, runs, simulate

GROUPS = (
    serve,
    status,
    worker,
    documents,
    ask,
    answers,
    tasks,
    selection,
    review,
    retrain,
    models,
    runs,
    snapshots,
    jobs,
    evaluate,
    simulate,
    synth,
    pretrain,
    pseudo_label,
    export,
    importing,
    figures,
    projects,
    users,
    checks,
    audit,
)
