"""OCR of pages without text: one interface, RapidOCR and Tesseract behind it."""
