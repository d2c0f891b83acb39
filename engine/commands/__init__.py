"""The commands, one file a group, in rooms by who gives them.

Each file has `register(app)`. It is imported when one of its commands runs, so `glossator --help` imports none of them.
"""

# In the order of `glossator --help`: the file below `engine.commands`, and the first sentence of the command's help.
COMMANDS = {
    "serve": ("servers.serve", "Serve the application, with a worker for retrainings."),
    "status": ("administration.status", "Show data folder and database, and counts, model and queue of each project."),
    "doctor": (
        "administration.doctor",
        "Check installation and settings, and say how to mend what is wrong. Exits with 1 if anything is broken.",
    ),
    "worker": ("servers.worker", "Run the jobs of all projects: retrainings, surveys and others."),
    "mcp": (
        "servers.mcp",
        "Serve tools to a language model: list_documents, get_page, ask and extract.",
    ),
    "ingest": ("annotation.documents", "Add files to a project. Each becomes a document or is refused with a reason."),
    "documents": (
        "annotation.documents",
        "List, show, rename, move, copy and remove documents, write marked PDFs, read again, compute signatures.",
    ),
    "bin": ("annotation.bin", "List removed documents, restore them, and delete them for good."),
    "ask": ("annotation.ask", "Ask a question about a document. The answer is saved as a draft."),
    "extract": ("annotation.extract", "Print the values of the fields of papers, with their places as JSON."),
    "predictions": ("annotation.predictions", "Take in predictions of other models as proposals."),
    "answers": ("annotation.answers", "List, mark, accept and remove answers."),
    "queue": ("annotation.tasks", "Show the progress of the queue and the tasks in progress."),
    "questions": ("annotation.tasks", "List and set standard questions, remove and restore questions."),
    "fields": ("annotation.fields", "List, import and export the fields of a project."),
    "tasks": ("annotation.tasks", "List tasks and skips, set gold questions, and move documents to the front."),
    "survey": (
        "annotation.selection",
        "Survey a project: the model answers all standard questions, then the queue is ordered.",
    ),
    "label-review": (
        "annotation.selection",
        "List the label review: accepted labels that the model contradicts, with decisions.",
    ),
    "stage": ("annotation.selection", "Show or set the stage of a project, with the measured precision."),
    "agreement": (
        "annotation.review",
        "Show agreement between people, with gold questions, and of the model with accepted answers.",
    ),
    "review": ("annotation.review", "List, show and judge submitted answers."),
    "retrain": (
        "training.retrain",
        "Train a challenger on accepted answers, judge it against the champion, and promote it if better.",
    ),
    "models": ("training.models", "List, promote, roll back, prune and remove model versions."),
    "runs": ("training.runs", "List, show and reproduce training runs."),
    "snapshots": ("datasets.snapshots", "List, show and remove snapshots: answers frozen for training and judging."),
    "jobs": ("administration.jobs", "List, cancel and retry jobs."),
    "evaluate": (
        "training.evaluate",
        "Evaluate a model on a grounded dataset, and print its figures beside the lexical baseline.",
    ),
    "simulate": (
        "training.simulate",
        "Simulate annotators on a grounded dataset: ask, fix, accept, retrain, and measure on unseen pages.",
    ),
    "synth": ("datasets.synth", "Generate documents with questions and exact answers."),
    "pretrain": ("training.pretrain", "Pretrain a network on generated pages, and on documents without labels."),
    "pseudo-label": (
        "datasets.pseudo_label",
        "Label documents without labels: keys with values beside them, as far as two judges agree.",
    ),
    "export": ("datasets.export", "Export accepted answers with their page images."),
    "exports": ("datasets.exports", "List exports whose files are kept, and delete the files."),
    "import": (
        "datasets.importing",
        "Import pages and answers. A dataset with an error is refused as a whole, unless --skip-bad leaves it out.",
    ),
    "figures": (
        "administration.figures",
        "Show throughput, speed, share accepted unchanged, reliability and queue depth.",
    ),
    "projects": ("administration.projects", "Manage projects, settings and members."),
    "webhooks": ("administration.webhooks", "Manage webhooks, and see what was sent to them."),
    "proposers": ("administration.proposers", "Let another model propose answers, and ask it."),
    "db": ("administration.projects", "Manage the database schema."),
    "quotas": ("administration.quotas", "Show and set how many documents a project may hold and a person upload."),
    "users": ("administration.users", "Manage users, sessions, passwords and tokens."),
    "check": (
        "administration.checks",
        "Check database, files, states of tasks, figures and search entries. Exits with 1 if anything is wrong.",
    ),
    "blobs": ("administration.blobs", "Move and clean up the files: uploads, page images, weights."),
    "cleanup": (
        "administration.cleanup",
        "Delete what is older than the settings allow and that nothing names. Without --yes, list it.",
    ),
    "backup": ("administration.backup", "Back up database and files into a folder, while people work."),
    "restore": ("administration.backup", "Restore a backup into an empty data folder. All hashes are checked first."),
    "audit": (
        "administration.audit",
        "List the audit trail: changes of members, roles, settings and models, exports, and failed logins.",
    ),
}
HIDDEN = {"second-look": "annotation.selection"}  # earlier names of commands
