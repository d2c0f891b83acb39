"""Form layer of a PDF: its fillable fields (AcroForm) with their places on the page, their values and their names."""
