"""Everything that exists to host the page in Gradio, or to correct Gradio: docs/gradio.md says why, piece by piece.

The tabs in `annotator.ui` build on it; nothing here knows a tab.
"""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when Gradio is imported, which only this room starts
