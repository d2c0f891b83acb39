"""Labels from pages that nobody has labelled: keys found on the page, and answers on which two judges agree."""
