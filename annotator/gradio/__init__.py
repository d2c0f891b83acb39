"""Everything that exists to host the page in Gradio, or to correct Gradio: docs/gradio.md says why, piece by piece.

The tabs in `annotator.ui` build on it; nothing here knows a tab.
"""

import os

from annotator.gradio import stub_files

# Both before Gradio is imported, which only this room starts.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
stub_files.install()
