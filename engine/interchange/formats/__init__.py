"""One module a format: `write` exports it, `open_set` imports it. CSV, XLSX and YOLO are export only."""
