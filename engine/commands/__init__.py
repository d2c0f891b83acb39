"""The commands, one file a group. Each file has `register(app)`; what is heavy is imported when a command runs."""

from engine.commands import (
    ask,
    documents,
    evaluate,
    export,
    jobs,
    models,
    people,
    pretrain,
    retrain,
    runs,
    serve,
    synth,
    worker,
)

GROUPS = (serve, worker, documents, ask, retrain, models, runs, jobs, evaluate, synth, pretrain, export, people)
