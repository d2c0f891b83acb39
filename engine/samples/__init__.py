"""Three made-up documents for the first look: an invoice, a registration form, a letter of two pages."""
